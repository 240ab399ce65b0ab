"""What can be asked of an engine, by name and in plain JSON values: one table for socket, screen and command line.

Runs in the engine's thread. Callers that cannot wait for a long catch-up ask `session_of` first and have that done
elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

from pydantic import ValidationError

from kato_tui.core import clean, rebuild, recent
from kato_tui.core.engine import Engine
from kato_tui.core.errors import KatoError
from kato_tui.core.model.base import Contract
from kato_tui.core.model.intents import Intent
from kato_tui.core.model.status import Status
from kato_tui.core.rebuild import Rebuild
from kato_tui.core.store.twin import TwinReader

Json = dict[str, Any]

#: Events in one answer, and the bytes of the log at which it ends sooner.
MAX_PAGE: Final = 5000
_PAGE_BYTES: Final = 4 << 20


class BadRequest(KatoError):
    """The request makes no sense; whoever asked is told and may go on."""


class Operations:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._table: dict[str, Callable[[Json], Json]] = {
            "ping": lambda _: {"pid": os.getpid()},
            "status": self._status,
            "engine": lambda _: _plain(engine.engine_status()),
            "session": lambda fields: _plain(engine.survey.session_status(self._key(fields))),
            "submit": self._submit,
            "events": self._events,
            "rebuild": self._rebuild,
            "clean": self._clean,
        }

    def run(self, op: str, fields: Json) -> Json:
        found = self._table.get(op)
        if found is None:
            raise BadRequest(f"unknown operation {op!r}, known: {', '.join(self._table)}")
        try:
            return found(fields)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            raise BadRequest(f"{op}: {place}: {first['msg']}") from error

    def session_of(self, op: str, fields: Json) -> str | None:
        """The key of the session whose twin has to be up to date before the operation runs, if there is one."""
        named = fields.get("intent") if op == "submit" else fields if op == "events" else None
        if not isinstance(named, dict) or not isinstance(named.get("session"), str):
            return None
        try:
            return self._engine.resolve(named["session"])
        except KatoError:
            return None  # the operation says so itself

    def _key(self, fields: Json) -> str:
        name = fields.get("session")
        if not isinstance(name, str):
            raise BadRequest("`session` has to name one")
        known = name in self._engine.sessions or name in self._engine.index.entries
        return name if known else self._engine.resolve(name)

    def _status(self, fields: Json) -> Json:
        """As `engine.status()`, each session made plain before the next; `recent` leaves out what lists hide anyway."""
        engine = self._engine
        short = fields.get("recent") is True
        keys, hidden = recent.choose(engine, engine.clock.now()) if short else (engine.survey.all_keys(), {})
        sessions = [_plain(one) for one in engine.survey.session_statuses(keys)]
        found = _plain(Status(engine=engine.engine_status(), sessions=[], warnings=list(engine.notices)))
        return found | {"sessions": sessions} | ({"hidden": hidden} if short else {})

    def _submit(self, fields: Json) -> Json:
        return _plain(self._engine.submit(Intent.model_validate(fields.get("intent"))))

    def _events(self, fields: Json) -> Json:
        engine = self._engine
        key = self._key(fields)
        first, limit = fields.get("fromSeq", 1), fields.get("limit", MAX_PAGE)
        if type(first) is not int or type(limit) is not int:
            raise BadRequest("`fromSeq` and `limit` have to be numbers")
        engine.freshen(key, keep_twin=True)
        metadata = engine.store.load(key)
        if metadata is None:
            return {"events": [], "lastSeq": 0}
        twin = TwinReader(engine.home.twin(key), metadata.next_twin_seq, metadata.twin_length)
        begin = max(1, metadata.next_twin_seq + first) if first < 0 else max(1, first)
        return {"events": _page(twin, begin, min(limit, MAX_PAGE)), "lastSeq": metadata.next_twin_seq - 1}

    def _rebuild(self, fields: Json) -> Json:
        begun = rebuild.begin(self._engine, self._key(fields))
        report = rebuild.read(self._engine, begun)
        return self._rebuilt(begun, report.events, report.bytes_read)

    def begin_rebuild(self, fields: Json, least: int) -> Rebuild | None:
        """Only the first step of rebuilding a session of at least so many bytes; None for a shorter one."""
        key = self._key(fields)
        session = self._engine.sessions.get(key)
        return rebuild.begin(self._engine, key) if session is not None and session.stamp.size >= least else None

    def end_rebuild(self, begun: Rebuild, read: Json) -> Json:
        """The last step, with what became of reading it."""
        if "done" not in read:
            raise KatoError(read.get("error", "the session could not be read again"))
        return self._rebuilt(begun, read["done"]["events"], read["done"]["bytesRead"])

    def _rebuilt(self, begun: Rebuild, events: int, size: int) -> Json:
        rebuild.end(self._engine, begun)
        return {"events": events, "bytesRead": size, "ended": list(begun.ended)}

    def _clean(self, fields: Json) -> Json:
        days, name = fields.get("olderThan"), fields.get("session")
        if (days is None) == (name is None):
            raise BadRequest("say what to clean: either `olderThan` days or a `session`")
        if name is not None:
            plan = clean.plan_session(self._engine, str(name))
        elif type(days) is int and days >= 0:
            plan = clean.plan_old(self._engine, days)
        else:
            raise BadRequest("`olderThan` has to be a number of days")
        if fields.get("yes") is True:
            clean.carry_out(self._engine, plan)
        return plan.as_json(done=fields.get("yes") is True)


def _page(twin: TwinReader, begin: int, limit: int) -> list[Json]:
    """At least one event, at most `limit`, and not far more text than fits a message."""
    found: list[Json] = []
    size = 0
    for event in twin.read(begin):
        found.append(event)
        size += sum(len(value) for value in event["payload"].values() if isinstance(value, str))
        if len(found) >= limit or size > _PAGE_BYTES:
            break
    return found


def _plain(value: Contract) -> Json:
    found: Json = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found
