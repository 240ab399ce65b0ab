"""Talks to the running engine over its socket. Standard library only: `kato-tui status` has to be quick."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from kato_tui.core.errors import KatoError
from kato_tui.core.paths import Home

VERSION: Final = 1
MAX_LINE: Final = 1 << 20
#: An engine answers between two steps, within milliseconds; one that was stopped (ctrl+z) takes calls and is mute.
_SOON: Final = 3.0
#: Unix socket paths end at about 100 bytes; a longer one is reached through its open folder.
_MAX_PATH: Final = 100
_AGAIN: Final = 0.02
_LEFT: Final = "the engine closed the connection: it is stopping, or has too many callers. Try again"


class NotRunning(KatoError):
    """No engine runs in this home, or none any longer."""


class NotAnswering(KatoError):
    """An engine has the home and says nothing."""


class RequestFailed(Exception):
    """The engine refused; `code` is for programs, the message for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@contextlib.contextmanager
def address(path: Path) -> Iterator[str]:
    """A name of the socket that is short enough for the system."""
    if len(os.fsencode(path)) <= _MAX_PATH:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


class Client:
    """One connection, made at once. `NotRunning` when nobody listens."""

    def __init__(self, home: Home, timeout: float = 10.0) -> None:
        self._home = home
        #: What to do, at most once, when an answer does not come soon.
        self.mute: Callable[[], None] | None = None
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        self._number = 0
        try:
            with address(home.socket) as name:
                self._connect(name, timeout)
        except OSError as error:
            self._socket.close()
            raise NotRunning(f"no engine runs in {home.root}") from error
        self._file = self._socket.makefile("rb")

    def _connect(self, name: str, timeout: float) -> None:
        """An engine with many callers at once has its queue full for a moment, which is no refusal."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                self._socket.connect(name)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_AGAIN)
            else:
                return

    def request(self, op: str, **fields: Any) -> Any:
        """The result of one operation."""
        self._send(op, fields)
        if self.mute is not None and not self._comes():
            mute, self.mute = self.mute, None
            mute()
        return self._answer()["result"]

    def require_answers(self) -> None:
        """For who would show nothing until the first answer comes: `NotAnswering` when it does not come soon."""
        self._send("ping", {})
        if not self._comes():
            raise NotAnswering(f"{self.who()} does not answer. If it was stopped (ctrl+z), let it go on or end it")
        with contextlib.suppress(RequestFailed):
            self._answer()

    def who(self) -> str:
        """The engine's process, as far as its lock tells."""
        try:
            owner = self._home.lock.read_text("ascii", "replace").strip()
        except OSError:
            owner = ""
        return f"the engine (process {owner})" if owner.isdigit() else "the engine"

    def _comes(self) -> bool:
        """Whether an answer begins to come soon. Nothing may be left over in the buffer of an answer before."""
        return bool(select.select([self._socket], (), (), _SOON)[0])

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send(self, op: str, fields: dict[str, Any]) -> None:
        self._number += 1
        message = {"v": VERSION, "id": self._number, "op": op, **fields}
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise NotRunning(_LEFT) from error

    def _answer(self) -> dict[str, Any]:
        try:
            line = self._file.readline()
        except TimeoutError as error:
            raise NotRunning(f"{self.who()} does not answer. End it if it was stopped; try again if not") from error
        except OSError as error:
            raise NotRunning(_LEFT) from error
        if not line:
            raise NotRunning(_LEFT)
        answer: dict[str, Any] = json.loads(line)
        if not answer.get("ok"):
            error_ = answer.get("error", {})
            raise RequestFailed(error_.get("code", "failed"), error_.get("message", "the engine refused"))
        return answer
