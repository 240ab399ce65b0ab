"""The engine while it runs: everything that happens to logs, processes, sockets and signals during a long day."""

from __future__ import annotations

import contextlib
import signal
import socket
import time
import uuid
from pathlib import Path

import orjson
import pytest
import zstandard

from kato_tui.core import identity
from kato_tui.core.client import VERSION, NotRunning
from kato_tui.core.model.status import Status
from tests.e2e.running import Running, append, engine, said, until
from tests.unit import codex_log


def _id() -> str:
    return str(uuid.uuid4())


def test_appended_lines_reach_twin_recording_and_status(tmp_path: Path) -> None:
    with engine(tmp_path) as (running, link):
        session = _id()
        log = running.log(session)
        log.write_bytes(said(session, "first words"))
        until(link, lambda: running.words(session) == ["first words"])
        target = tmp_path / "notes" / "talk.md"
        done = running.command("start", session, str(target), "--json")
        assert done.returncode == 0, done.stderr
        short = orjson.loads(done.stdout)["recordings"][0]["recordingShortId"]
        append(log, said(session, "second words"))
        until(link, lambda: target.exists() and "second words" in target.read_text())
        assert target.read_text().count("first words") == 1, "more than the title"
        assert short in running.command("recordings").stdout.decode()
        append(log, said(session, f"::stop id:{short}"))
        until(link, lambda: link.session(f"claude:{session}")["recordings"][0]["status"] == "stopped")
        append(log, said(session, "off the record"))
        until(link, lambda: running.words(session)[-1] == "off the record")
        assert "off the record" not in target.read_text()
        assert running.command("stop", "id:ffffffff").returncode == 3
        code, seconds = running.end()
        assert code == 0 and seconds < 2


def test_the_status_is_the_same_contract_from_socket_and_command_line(tmp_path: Path) -> None:
    with engine(tmp_path) as (running, link):
        session = _id()
        running.log(session).write_bytes(said(session, "first words"))
        until(link, lambda: running.words(session) == ["first words"])
        assert running.command("capture", session).returncode == 0
        asked, typed = link.status(), running.command("status", "--json").stdout
        assert Status.model_validate_json(typed).engine.active_recordings == 1
        assert orjson.loads(typed) == asked
        # A screen asks for parts of it, which are the same values.
        assert link.session(f"claude:{session}") == asked["sessions"][0]
        assert link.engine().keys() == asked["engine"].keys()


def test_a_killed_engine_goes_on_where_it_was_and_says_nothing_twice(tmp_path: Path) -> None:
    running = Running(tmp_path)
    session, expected = _id(), []
    log = running.log(session)
    target = tmp_path / "talk.jsonl"
    for number in range(4):
        link = running.start()
        expected.append(f"words {number}")
        append(log, said(session, f"words {number}"))
        if number == 0:
            until(link, lambda: running.words(session))
            assert running.command("capture", session, str(target)).returncode == 0
        until(link, lambda: f"words {number}" in target.read_text())  # noqa: B023
        append(log, said(session, f"unseen {number}"))
        expected.append(f"unseen {number}")
        running.end(signal.SIGKILL)
        link.close()
    link = running.start()
    until(link, lambda: running.words(session) == expected)
    until(link, lambda: "unseen 3" in target.read_text())
    texts = [orjson.loads(line)["payload"].get("text") for line in target.read_bytes().splitlines()]
    assert texts == expected
    link.close()
    running.end()


def test_a_second_engine_is_told_who_is_there(tmp_path: Path) -> None:
    with engine(tmp_path) as (running, _):
        done = running.command("--no-ui")
        assert running.process is not None
        assert done.returncode == 1 and str(running.process.pid).encode() in done.stderr
        # The first one is still there for everybody.
        status = orjson.loads(running.command("status", "--json").stdout)
        assert status["engine"]["pid"] == running.process.pid


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_within_two_seconds_in_the_middle_of_a_big_ingest(tmp_path: Path, number: int) -> None:
    running = Running(tmp_path)
    session = _id()
    block = said(session, *("x" * 2000 for _ in range(500)))
    with running.log(session).open("wb") as log:
        for _ in range(300 if number == signal.SIGTERM else 60):
            log.write(block)
    link = running.start()
    until(link, lambda: link.changes(0, 0).progress["bytes"] > 0)
    link.close()
    code, seconds = running.end(number)
    assert code == 0 and seconds < 2
    assert len(running.words(session)) < 150_000


def test_an_engine_killed_in_a_big_ingest_is_followed_by_one_that_ends_it(tmp_path: Path) -> None:
    """The worker of the dead one must not write beside the worker of the new one."""
    running = Running(tmp_path)
    session = _id()
    texts = [f"{number} " + "z" * 1000 for number in range(20_000)]
    running.log(session).write_bytes(said(session, *texts))
    for _ in range(3):
        link = running.start()
        until(link, lambda: link.changes(0, 0).progress["bytes"] > 0)  # noqa: B023
        running.end(signal.SIGKILL)
        link.close()
    link = running.start()
    until(link, lambda: len(running.words(session)) == len(texts))
    assert running.words(session) == texts
    link.close()
    running.end()


def test_what_is_in_a_new_folder_is_never_missed(tmp_path: Path) -> None:
    with engine(tmp_path) as (running, link):
        root = tmp_path / ".claude" / "projects"
        sessions = [_id() for _ in range(200)]
        for number, session in enumerate(sessions):
            folder = root / f"-w-{number}"
            folder.mkdir(parents=True)
            (folder / f"{session}.jsonl").write_bytes(said(session, f"in folder {number}"))
        for number, session in enumerate(sessions):
            until(link, lambda: running.words(session) == [f"in folder {number}"])  # noqa: B023


def test_logs_that_are_rewritten_replaced_and_deleted_lose_nothing(tmp_path: Path) -> None:
    with engine(tmp_path) as (running, link):
        session = _id()
        log = running.log(session)
        first, second, third = (said(session, text) for text in ("one", "two", "three"))
        log.write_bytes(first + second)
        until(link, lambda: running.words(session) == ["one", "two"])
        log.write_bytes(first)
        append(log, third)
        until(link, lambda: running.words(session) == ["one", "two", "three"])
        aside = log.with_suffix(".tmp")
        aside.write_bytes(first + third + said(session, "four"))
        aside.replace(log)
        until(link, lambda: running.words(session) == ["one", "two", "three", "four"])
        log.unlink()
        until(link, lambda: link.session(f"claude:{session}").get("sourceGone"))
        assert running.words(session) == ["one", "two", "three", "four"]


def test_a_codex_log_that_is_archived_and_compressed_stays_one_session(tmp_path: Path) -> None:
    session = _id()
    name = f"rollout-2026-11-18T10-00-00-{session}.jsonl"
    key = f"codex:{session}"
    lines = codex_log.lines(*codex_log.conversation("hello codex", "hello again", session))
    with engine(tmp_path) as (running, link):
        live = tmp_path / ".codex" / "sessions" / "2026" / "11" / "18" / name
        live.parent.mkdir(parents=True)
        live.write_bytes(lines)
        until(link, lambda: running.home.twin(key).exists() and b"hello again" in running.home.twin(key).read_bytes())
        before = running.home.twin(key).read_bytes()
        archived = tmp_path / ".codex" / "archived_sessions" / name
        archived.parent.mkdir()
        live.rename(archived)
        until(link, lambda: "archived" in link.session(key)["source"])
        packed = archived.with_name(f"{name}.zst")
        packed.write_bytes(zstandard.compress(lines))
        archived.unlink()
        until(link, lambda: link.session(key)["source"].endswith(".zst"))
        assert running.home.twin(key).read_bytes() == before


def test_roots_that_come_later_go_and_come_again_are_watched(tmp_path: Path) -> None:
    with engine(tmp_path) as (running, link):
        one, two = _id(), _id()
        running.log(one).write_bytes(said(one, "after the start"))
        until(link, lambda: running.words(one))
        (tmp_path / ".claude").rename(tmp_path / "away")
        until(link, lambda: link.session(f"claude:{one}").get("sourceGone"))
        running.log(two).write_bytes(said(two, "in the new root"))
        until(link, lambda: running.words(two))


def test_polling_sees_the_same(tmp_path: Path) -> None:
    config = 'globalAutoGenerateSnapshots = true\n[watch]\nmode = "polling"\n'
    with engine(tmp_path, config=config) as (running, link):
        session = _id()
        running.log(session).write_bytes(said(session, "one"))
        until(link, lambda: running.words(session) == ["one"])
        append(running.log(session), said(session, "two"))
        until(link, lambda: running.words(session) == ["one", "two"])
        assert link.status()["engine"]["watching"] == "polling"


def test_settings_are_taken_while_it_runs_and_wrong_ones_are_refused(tmp_path: Path) -> None:
    with engine(tmp_path, config="") as (running, link):
        session = _id()
        running.log(session).write_bytes(said(session, "one"))
        until(link, lambda: link.status()["engine"]["sessions"])
        running.home.config.write_text("globalAutoGenerateSnapshot = true\n")
        until(link, lambda: "config-refused" in [one["code"] for one in link.status()["warnings"]])
        assert not running.words(session)
        running.home.config.write_text("globalAutoGenerateSnapshots = true\n")
        until(link, lambda: running.words(session) == ["one"])


def test_bad_clients_hurt_only_themselves(tmp_path: Path) -> None:
    with engine(tmp_path) as (running, link):
        path = str(running.home.socket)
        for garbage in (b"\x00\xff\n", b"[]\n", b'{"v":99}\n', b'{"v":1' * 400_000):
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(10)
                client.connect(path)
                try:
                    client.sendall(garbage)
                    assert client.recv(1) == b""
                except (BrokenPipeError, ConnectionResetError):
                    pass
        idle = []
        for _ in range(40):
            client = socket.socket(socket.AF_UNIX)
            client.connect(path)
            idle.append(client)
        # 32 are listened to; ours was there before and goes on.
        assert link.status()["engine"]["pid"]
        for client in idle:
            client.close()
        slow = _heard(path)
        request = orjson.dumps({"v": VERSION, "id": 1, "op": "status"}) + b"\n"
        slow.sendall(request * 200)  # and never reads an answer
        session = _id()
        running.log(session).write_bytes(said(session, "still here"))
        until(link, lambda: running.words(session) == ["still here"])
        slow.close()
        unknown = running.command("events", "ffffffff")
        assert unknown.returncode == 3


def _heard(path: str) -> socket.socket:
    """A connection that is listened to: those that were closed just now may still count."""
    while True:
        client = socket.socket(socket.AF_UNIX)
        # Without a timeout the system waits while the queue is full; with one it refuses.
        client.connect(path)
        client.settimeout(10)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            client.sendall(orjson.dumps({"v": VERSION, "id": 1, "op": "ping"}) + b"\n")
            if client.recv(4096):
                return client
        client.close()


def test_events_are_followed_through_the_socket(tmp_path: Path) -> None:
    with engine(tmp_path) as (running, link):
        session = _id()
        running.log(session).write_bytes(said(session, *(f"line {number}" for number in range(1200))))
        until(link, lambda: len(running.words(session)) == 1200)
        lines = running.command("events", session).stdout.splitlines()
        assert [orjson.loads(line)["seq"] for line in lines] == list(range(1, 1201))
        assert b"\n".join(lines) + b"\n" == running.home.twin(f"claude:{session}").read_bytes()


def test_a_session_that_takes_long_to_read_is_recorded_from_its_right_place(tmp_path: Path) -> None:
    """Without a twin, and too big for the engine's thread: the wish waits for the worker, the engine for nobody."""
    with engine(tmp_path, config="") as (running, link):
        session = _id()
        log = running.log(session)
        log.write_bytes(said(session, *("y" * 2000 for _ in range(3000))))
        until(link, lambda: link.status()["sessions"])
        done = running.command("start", session, str(tmp_path / "talk.md"), "--from", "-1")
        assert done.returncode == 0, done.stderr
        append(log, said(session, "and on"))
        until(link, lambda: "and on" in (tmp_path / "talk.md").read_text())
        assert (tmp_path / "talk.md").read_text().count("y" * 2000) == 1


#: Long enough for the worker processes.
LONG = "y" * (1 << 20)


@pytest.mark.parametrize("first", ["hello", LONG], ids=["short", "long"])
def test_cleaning_a_session_under_a_running_engine_runs_no_command_again(tmp_path: Path, first: str) -> None:
    with engine(tmp_path) as (running, link):
        session = _id()
        log = running.log(session)
        log.write_bytes(said(session, first))
        until(link, lambda: running.words(session))
        append(log, said(session, f"::start {tmp_path}/talk.md"))
        until(link, lambda: link.session(f"claude:{session}")["recordings"])
        short = identity.short_id(identity.session_id(f"claude:{session}"))
        refused = running.command("clean", "--session", short, "--yes")
        assert refused.returncode == 1 and b"it is being recorded" in refused.stderr
        assert running.command("stop", "--session", short).returncode == 0
        assert running.command("clean", "--session", short, "--yes").returncode == 0
        append(log, said(session, "afterwards"))
        until(link, lambda: running.words(session)[-1:] == ["afterwards"])
        assert link.session(f"claude:{session}")["recordings"] == []


@pytest.mark.parametrize("first", ["hello", LONG], ids=["short", "long"])
def test_a_rebuild_under_a_running_engine_gives_the_same_twin_and_runs_no_command_again(
    tmp_path: Path, first: str
) -> None:
    with engine(tmp_path) as (running, link):
        session = _id()
        log = running.log(session)
        log.write_bytes(said(session, first))
        until(link, lambda: running.words(session))
        append(log, said(session, f"::start {tmp_path}/talk.md", "in it", "::stop", "after it"))
        until(link, lambda: running.words(session)[-1:] == ["after it"])
        until(link, lambda: (tmp_path / "talk.md").exists() and "in it" in (tmp_path / "talk.md").read_text())
        twin, before = running.home.twin(f"claude:{session}"), running.words(session)
        done = running.command("rebuild", session)
        assert done.stdout.startswith(b"rebuilt 5 events from "), done.stderr
        assert running.words(session) == before
        assert twin.with_name(f"{twin.name}.before-rebuild-1").exists()
        append(log, said(session, "afterwards"))
        until(link, lambda: running.words(session)[-1:] == ["afterwards"])
        assert link.session(f"claude:{session}")["recordings"] == []
        assert "afterwards" not in (tmp_path / "talk.md").read_text()


def test_a_log_that_cannot_be_read_again_is_named_by_the_rebuild(tmp_path: Path) -> None:
    with engine(tmp_path) as (running, link):
        session = _id()
        log = running.log(session)
        log.write_bytes(said(session, LONG))
        until(link, lambda: running.words(session))
        log.unlink()
        done = running.command("rebuild", session)
        assert done.returncode != 0 and b"is gone" in done.stderr


def test_an_empty_machine_is_told_where_was_looked(tmp_path: Path) -> None:
    running = Running(tmp_path)
    done = running.command("--no-ui", "--once")
    assert done.returncode == 0
    assert done.stdout.startswith(b"nothing found, looked in ") and b".claude" in done.stdout


def test_an_engine_that_ended_leaves_no_socket_and_no_process(tmp_path: Path) -> None:
    with engine(tmp_path) as (running, link):
        assert running.end()[0] == 0
        assert not running.home.socket.exists()
        with pytest.raises(NotRunning):
            for _ in range(2):
                link.status()
        begun = time.monotonic()
        assert running.command("status").returncode == 0
        assert time.monotonic() - begun < 10
