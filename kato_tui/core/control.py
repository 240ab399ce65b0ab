"""The control socket: the same intents and the same status over a wire (JSON lines, version 1).

A thread per client, few clients, every wait bounded. A client that is slow or talks garbage loses its own connection
and nothing else; the engine's thread never waits for any of them.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import sys
import threading
from typing import Any, Final

import orjson

from kato_tui.core.client import MAX_LINE, VERSION, address
from kato_tui.core.errors import Fault, KatoError, SessionNotFound
from kato_tui.core.operations import BadRequest
from kato_tui.core.service import Service
from kato_tui.core.store.fs import FILE_MODE

_MAX_CLIENTS: Final = 32
_IDLE: Final = 300.0
_WRITE: Final = 5.0
_DEAF: Final = 0.1
_WORK: Final = 120.0
#: Longest wait of one `changes` request.
_POLL: Final = 30.0

Request = dict[str, Any]


def peer_uid(connection: socket.socket) -> int:
    """The user at the other end, as the kernel knows it."""
    if sys.platform == "linux":
        data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", data)[1])
    data = connection.getsockopt(0, 1, 76)  # LOCAL_PEERCRED: struct xucred, version then uid
    return int(struct.unpack_from("2I", data)[1])


class Control:
    """Serves one service, whose engine must hold the home's lock: a socket file left by a dead one is replaced."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._path = service.engine.home.socket
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._guard = threading.Lock()
        self._clients: set[socket.socket] = set()
        self._closed = threading.Event()
        #: The socket's file is ours to remove: of an engine that could not start, it is the running one's.
        self._bound = False
        #: Connections refused or cut because their client was too slow, too many or somebody else's.
        self.dropped = 0

    def start(self) -> None:
        self._path.unlink(missing_ok=True)
        with address(self._path) as name:
            self._listener.bind(name)
        self._bound = True
        self._path.chmod(FILE_MODE)
        self._listener.listen(_MAX_CLIENTS)
        threading.Thread(target=self._accept, name="kato-control", daemon=True).start()

    def close(self) -> None:
        self._closed.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._guard:
            clients = list(self._clients)
        for client in clients:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        if self._bound:
            self._path.unlink(missing_ok=True)
            self._bound = False

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                # Closed, or out of file handles for now: no reason to be deaf for ever.
                self._closed.wait(_DEAF)
                continue
            if self._admit(connection):
                threading.Thread(target=self._serve, args=(connection,), name="kato-client", daemon=True).start()
            else:
                self.dropped += 1
                connection.close()

    def _admit(self, connection: socket.socket) -> bool:
        """Only the owner, and only so many at a time."""
        try:
            own = peer_uid(connection) == os.getuid()
        except OSError:
            return False  # gone already
        with self._guard:
            if not own or len(self._clients) >= _MAX_CLIENTS:
                return False
            self._clients.add(connection)
        return True

    def _serve(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(_IDLE)
            with connection.makefile("rb") as lines:
                while line := lines.readline(MAX_LINE + 1):
                    if len(line) > MAX_LINE or not self._handle(connection, line):
                        return
        except OSError:
            self.dropped += 1
        finally:
            with self._guard:
                self._clients.discard(connection)
            connection.close()

    def _handle(self, connection: socket.socket, line: bytes) -> bool:
        """Answer one request. False for garbage: who does not speak the protocol is not listened to any longer."""
        try:
            request = orjson.loads(line)
        except orjson.JSONDecodeError:
            return False
        if not isinstance(request, dict) or request.get("v") != VERSION:
            return False
        number = request.get("id")
        try:
            result = self._operate(request)
            self._send(connection, {"v": VERSION, "id": number, "ok": True, "result": result})
        except OSError as error:
            if not isinstance(error, TimeoutError):
                raise
            self._refuse(connection, number, error, "the engine is busy: try again")
        except KatoError as error:
            self._refuse(connection, number, error, str(error))
        except Exception as error:  # noqa: BLE001 - a question that no code was ready for ends no connection
            self._refuse(connection, number, error, str(Fault(error)))
        return True

    def _refuse(self, connection: socket.socket, number: Any, error: Exception, message: str) -> None:
        told = {"code": _code(error), "message": message}
        self._send(connection, {"v": VERSION, "id": number, "ok": False, "error": told})

    def _operate(self, request: Request) -> Any:
        op = str(request.get("op"))
        if op == "stop":
            return self._service.stop()
        if op == "changes":
            timeout = min(_number(request, "timeout"), _POLL)
            return self._service.hub.changes(int(_number(request, "since")), timeout)
        fields = {key: value for key, value in request.items() if key not in ("v", "id", "op")}
        return self._service.ask(op, fields).result(_WORK)

    def _send(self, connection: socket.socket, message: Request) -> None:
        connection.settimeout(_WRITE)
        try:
            connection.sendall(orjson.dumps(message) + b"\n")
        except TimeoutError as error:
            raise OSError("the client is too slow") from error
        connection.settimeout(_IDLE)


def _number(request: Request, name: str) -> float:
    value = request.get(name, 0)
    if not isinstance(value, int | float) or value < 0:
        raise BadRequest(f"`{name}` has to be a number, not below 0")
    return value


def _code(error: Exception) -> str:
    if isinstance(error, SessionNotFound):
        return "not-found"
    if isinstance(error, TimeoutError):
        return "busy"
    return "bad-request" if isinstance(error, BadRequest) else "failed"
