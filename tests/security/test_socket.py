"""The control socket is its owner's alone, and no client can stop the engine or fill its memory."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from kato_tui.core import client as clients
from kato_tui.core.client import VERSION, Client
from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.host import Host
from kato_tui.core.providers.registry import PROVIDERS
from tests.machine import CLAUDE, Machine
from tests.unit import claude_log

NOBODY = 65534
#: What clients do may cost this much memory and no more.
MEMORY = 64 << 20
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can try what another user may do")


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Host]:
    machine = Machine(tmp_path)
    machine.write(claude_log.lines(*claude_log.conversation("hi", "hello " * 20_000)))
    host = Host(Engine(machine.home, Config(), PROVIDERS, {}, tmp_path), Config(), workers=0)
    host.start()
    yield host
    host.close()


def _as_another_user(path: Path) -> str:
    """What becomes of a request by user `nobody`, tried for real in a process of that user."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        answer = b"?"
        with contextlib.suppress(BaseException):
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            answer = _asked(path)
        os.write(writing, answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        found = pipe.read().decode()
    os.waitpid(child, 0)
    return found


def _asked(path: Path) -> bytes:
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(20)
        try:
            one.connect(str(path))
        except PermissionError:
            return b"no permission"
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            one.sendall(orjson.dumps({"v": VERSION, "id": 1, "op": "status"}) + b"\n")
            return b"answered" if one.recv(1) else b"closed"
        return b"closed"


@needs_root
def test_another_user_cannot_reach_the_socket(running: Host, tmp_path: Path) -> None:
    path = running.service.engine.home.socket
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    _open_the_way(tmp_path, path.parent.parent)
    assert _as_another_user(path) == "no permission"


@needs_root
def test_another_user_who_got_to_the_socket_is_not_answered(running: Host, tmp_path: Path) -> None:
    path = running.service.engine.home.socket
    _open_the_way(tmp_path, path.parent)
    path.chmod(0o666)
    assert _as_another_user(path) == "closed"
    with Client(running.service.engine.home) as own:
        assert own.request("ping")["pid"] == os.getpid()


def _open_the_way(base: Path, folder: Path) -> None:
    """Let others pass through every folder down to `folder`: the test's own folders are private as well."""
    while folder != folder.parent and folder.owner() == base.owner():
        with contextlib.suppress(PermissionError):
            folder.chmod(folder.stat().st_mode | 0o011)
        folder = folder.parent


def _connected(path: Path) -> socket.socket:
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(20)
    one.connect(str(path))
    return one


def test_clients_that_send_without_end_or_never_read_cost_no_memory_and_stop_nobody(
    running: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = running.service.engine.home
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    request = orjson.dumps({"v": VERSION, "id": 1, "op": "events", "session": CLAUDE.key}) + b"\n"
    slow = [_connected(home.socket) for _ in range(8)]
    for one in slow:
        one.sendall(request * 100)  # and never reads an answer
    endless = _connected(home.socket)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        for _ in range(64):
            endless.sendall(b'{"v":1,"op":"' + b"x" * (1 << 20))
    with Client(home) as own:
        for _ in range(20):
            assert own.request("ping")["pid"] == os.getpid()
    for one in (*slow, endless):
        one.close()
    assert running.service.failure is None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before < MEMORY


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"v":1,"op":"submit","intent":' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}",
        b'{"v":1,"id":' + b"9" * 10_000 + b',"op":"ping"}',
        b'{"v":1,"op":"changes","since":1e308,"timeout":0}',
        b'{"v":1,"op":"changes","since":-1}',
        b'{"v":1,"op":"events","session":"../../etc/passwd"}',
        b'{"v":1,"op":"events","session":"\\u0000"}',
        b'{"v":1,"op":"clean","session":"/","yes":true}',
        b"\x00" * 5000,
    ],
    ids=lambda line: repr(line[:30]),
)
def test_a_question_that_makes_no_sense_is_refused_and_the_next_client_served(running: Host, line: bytes) -> None:
    home = running.service.engine.home
    with _connected(home.socket) as one:
        one.sendall(line + b"\n")
        one.shutdown(socket.SHUT_WR)
        with one.makefile("rb") as answers:
            told = answers.read()
    assert not told or orjson.loads(told)["ok"] is False or b'"version"' in told, told
    with Client(home) as own:
        assert own.request("ping")["pid"] == os.getpid()
    assert running.service.failure is None and clients.VERSION == VERSION
