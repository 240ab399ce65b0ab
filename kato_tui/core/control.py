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
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, Final

import orjson
from pydantic import ValidationError

from kato_tui.core.client import MAX_LINE, VERSION, address
from kato_tui.core.errors import KatoError, SessionNotFound
from kato_tui.core.model.base import Contract
from kato_tui.core.model.intents import Intent
from kato_tui.core.service import Service
from kato_tui.core.store.fs import FILE_MODE
from kato_tui.core.store.twin import TwinReader

_MAX_CLIENTS: Final = 32
_IDLE: Final = 300.0
_WRITE: Final = 5.0
_WORK: Final = 120.0

Request = dict[str, Any]


class BadRequest(Exception):
    """The request makes no sense; the client is told and may go on."""


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
        self._closed = False
        #: Connections refused or cut because their client was too slow, too many or somebody else's.
        self.dropped = 0
        self._operations: dict[str, Callable[[Request], Any]] = {
            "ping": lambda _: {"pid": os.getpid()},
            "status": lambda _: _plain(self._work(service.engine.status)),
            "sessions": lambda _: _plain(self._work(service.engine.status))["sessions"],
            "submit": self._submit,
            "rebuild": self._rebuild,
            "stop": lambda _: service.stop(),
        }
        self._streams: dict[str, Callable[[Request], Iterator[Any]]] = {
            "events": self._events,
            "subscribe": self._subscribe,
        }

    def start(self) -> None:
        self._path.unlink(missing_ok=True)
        with address(self._path) as name:
            self._listener.bind(name)
        self._path.chmod(FILE_MODE)
        self._listener.listen(_MAX_CLIENTS)
        threading.Thread(target=self._accept, name="kato-control", daemon=True).start()

    def close(self) -> None:
        self._closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._guard:
            clients = list(self._clients)
        for client in clients:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        self._path.unlink(missing_ok=True)

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._guard:
                welcome = len(self._clients) < _MAX_CLIENTS and peer_uid(connection) == os.getuid()
                if welcome:
                    self._clients.add(connection)
                else:
                    self.dropped += 1
            if welcome:
                threading.Thread(target=self._serve, args=(connection,), name="kato-client", daemon=True).start()
            else:
                connection.close()

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
            stream = self._streams.get(str(request.get("op")))
            for item in stream(request) if stream is not None else ():
                self._send(connection, {"v": VERSION, "id": number, "ok": True, "item": item})
            result = self._operate(request) if stream is None else None
            self._send(connection, {"v": VERSION, "id": number, "ok": True, "result": result})
        except (BadRequest, KatoError, TimeoutError, ValidationError) as error:
            if isinstance(error, TimeoutError) and not str(error):
                error = BadRequest("the engine is busy: try again")
            told = {"code": _code(error), "message": str(error)}
            self._send(connection, {"v": VERSION, "id": number, "ok": False, "error": told})
        return True

    def _operate(self, request: Request) -> Any:
        operation = self._operations.get(str(request.get("op")))
        if operation is None:
            raise BadRequest(f"unknown operation {request.get('op')!r}")
        return operation(request)

    def _send(self, connection: socket.socket, message: Request) -> None:
        connection.settimeout(_WRITE)
        try:
            connection.sendall(orjson.dumps(message) + b"\n")
        except TimeoutError as error:
            raise OSError("the client is too slow") from error
        connection.settimeout(_IDLE)

    def _work(self, work: Callable[[], Any]) -> Any:
        return self._service.call(work).result(_WORK)

    def _submit(self, request: Request) -> Any:
        fields = {key: value for key, value in request.items() if key not in ("v", "id", "op")}
        intent = Intent.model_validate(fields)
        return _plain(self._service.submit(intent).result(_WORK))

    def _rebuild(self, request: Request) -> Any:
        report = self._work(lambda: self._service.engine.rebuild(str(request.get("session"))))
        return {"events": report.events, "bytesRead": report.bytes_read}

    def _subscribe(self, request: Request) -> Iterator[Any]:
        version = int(request.get("since") or 0)
        while not self._closed:
            delta = self._service.hub.changes(version, 1.0)
            if delta.version > version:
                yield asdict(delta)
            version = delta.version
            if delta.closed:
                return

    def _events(self, request: Request) -> Iterator[Any]:
        engine = self._service.engine
        key = self._work(lambda: engine.resolve(str(request.get("session"))))
        seq, version = max(1, int(request.get("fromSeq") or 1)), 0
        while not self._closed:
            version = self._service.hub.changes(version).version
            metadata = self._work(lambda: engine.store.load(key))
            if metadata is not None and metadata.next_twin_seq > seq:
                twin = TwinReader(engine.home.twin(key), metadata.next_twin_seq, metadata.twin_length)
                yield from twin.read(seq)
                seq = metadata.next_twin_seq
            if not request.get("follow") or self._service.hub.changes(version, 1.0).closed:
                return


def _plain(value: Contract) -> Any:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


def _code(error: Exception) -> str:
    if isinstance(error, SessionNotFound):
        return "not-found"
    return "bad-request" if isinstance(error, BadRequest | ValidationError) else "failed"
