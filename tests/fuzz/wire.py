"""Target: the control socket. The real server with a real engine behind it; garbage from one client, sense from
another."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path
from random import Random
from typing import Final

import orjson

from kato_tui.core.client import VERSION, Client, NotRunning, RequestFailed, address
from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.host import Host
from kato_tui.core.providers.registry import PROVIDERS
from tests.fuzz.mutation import HOSTILE_TEXT, TOKENS, bent, dumped, mutated
from tests.fuzz.target import Target
from tests.machine import CLAUDE, Machine
from tests.unit import claude_log

_ID: Final = claude_log.SESSION
_REQUESTS: Final = (
    {"op": "ping"},
    {"op": "status"},
    {"op": "engine"},
    {"op": "session", "session": CLAUDE.key},
    {"op": "session", "session": _ID[:8]},
    {"op": "events", "session": _ID, "fromSeq": 1, "limit": 2},
    {"op": "events", "session": _ID, "fromSeq": -1},
    {"op": "submit", "intent": {"action": "start", "argument": "~/notes/a.md", "session": _ID}},
    {"op": "submit", "intent": {"action": "stop", "argument": "id:00000000", "session": _ID}},
    {"op": "submit", "intent": {"action": "export", "argument": "~/notes/b.md", "session": _ID, "fromSeq": 1}},
    {"op": "submit", "intent": {"action": "keep", "session": _ID, "origin": "dashboard"}},
    {"op": "submit", "intent": {"action": "record", "session": _ID, "settings": {"thinking": False}}},
    {"op": "clean", "olderThan": 30},
    {"op": "clean", "session": _ID},
    {"op": "rebuild", "session": "ffffffff"},
    {"op": "changes", "since": 0, "timeout": 0},
)
#: Seconds on the wall that an answer may take on a machine with other work to do.
_PATIENCE: Final = 20.0


class ControlTarget(Target):
    """Any bytes: answered, or the connection is closed; the engine goes on and answers others."""

    name = "control"

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self._machine = Machine(base / "machine")
        self._machine.write(claude_log.lines(*claude_log.conversation("hi", "hello")))
        self._start()

    def _start(self) -> None:
        engine = Engine(self._machine.home, Config(), PROVIDERS, {}, self._machine.base)
        self._host = Host(engine, Config(), workers=0)
        self._host.start()
        self._good = Client(self._machine.home, _PATIENCE)

    def make(self, rng: Random) -> bytes:
        requests = [self._request(rng) for _ in range(rng.randint(1, 3))]
        data = b"\n".join(requests) + (b"\n" if rng.random() < 0.9 else b"")
        return mutated(rng, data) if rng.random() < 0.3 else data

    @staticmethod
    def _request(rng: Random) -> bytes:
        request = {"v": VERSION, "id": rng.choice((1, None, "x", [1])), **rng.choice(_REQUESTS)}
        if rng.random() < 0.4:
            return dumped(bent(rng, orjson.loads(orjson.dumps(request)), most=2))
        if rng.random() < 0.2 and "session" in request:
            request["session"] = rng.choice(HOSTILE_TEXT)
        if rng.random() < 0.05:
            return rng.choice(TOKENS) * rng.choice((1, 100))
        return dumped(request)

    def check(self, data: bytes, rng: Random) -> None:
        with socket.socket(socket.AF_UNIX) as client, address(self._machine.home.socket) as name:
            client.settimeout(_PATIENCE)
            client.connect(name)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)
                self._answers(client)
        if b"stop" in data and not self._goes_on():
            # `stop` is a wish like any other; who came to it by chance is obeyed all the same.
            self.close()
            self._start()
        assert self._good.request("ping")["pid"]
        service = self._host.service
        assert service.failure is None, service.failure

    def _goes_on(self) -> bool:
        assert self._host.service.failure is None, self._host.service.failure
        try:
            return bool(self._good.request("ping"))
        except (RequestFailed, NotRunning):
            return False

    @staticmethod
    def _answers(client: socket.socket) -> None:
        """Every line that comes back is an answer; at the end of the questions the server closes."""
        with client.makefile("rb") as lines:
            for line in lines:
                answer = orjson.loads(line)
                assert answer["v"] == VERSION and (answer["ok"] or {"code", "message"} <= answer["error"].keys())
                assert b"fault of kato-tui" not in line, line

    def close(self) -> None:
        self._good.close()
        self._host.close()


TARGETS: Final = (ControlTarget,)
