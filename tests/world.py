"""A whole small world for engine tests: a user's home, toy logs in it, and an engine that can die and start again."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.model.intents import Intent, Outcome
from kato_tui.core.model.session import Recording, SessionMetadata
from kato_tui.core.paths import Home
from kato_tui.core.record.writer import writer_for
from kato_tui.core.store.fs import Fs
from tests.conftest import ManualClock
from tests.crashing import CrashingFs
from tests.toy import Toy, say


class World:
    def __init__(self, base: Path, config: Config | None = None, ids: Iterable[str] | None = None) -> None:
        self.base = base
        self.home = Home(base / ".kato")
        self.clock = ManualClock()
        self.config = config or Config()
        self.toys = base / "toys"
        self.toys.mkdir(parents=True, exist_ok=True)
        self.notes = base / "notes"
        self.notes.mkdir(exist_ok=True)
        numbered = (f"{number:08x}-0000-4000-8000-000000000000" for number in itertools.count(1))
        self._ids = itertools.chain(ids or (), numbered)
        self.engine = self.new_engine()

    def new_engine(self, fs: Fs | None = None) -> Engine:
        # Without a file system that dies, one that counts: it leaves out the syncs, which only cost time here.
        fs = fs or CrashingFs()
        return Engine(self.home, self.config, {"toy": Toy()}, {}, self.base, self.clock, fs, self._new_id)

    def _new_id(self) -> str:
        return next(self._ids)

    def start(self, fs: Fs | None = None) -> Engine:
        self.engine = self.new_engine(fs)
        self.engine.start()
        return self.engine

    def restart(self, fs: Fs | None = None) -> Engine:
        self.engine.close()
        return self.start(fs)

    def die(self) -> None:
        """What is left of a process that was killed: its lock goes with it, nothing is written any more."""
        self.engine._lock.release()

    def talk(self, *texts: str, session: str = "talk", **fields: Any) -> None:
        with (self.toys / f"{session}.jsonl").open("ab") as log:
            log.write(b"".join(say(text, **fields) for text in texts))

    def poll(self) -> None:
        self.engine.discover()
        self.engine.bring_up_to_date()

    def hear(self, *texts: str, session: str = "talk") -> None:
        """The user says something, and the engine takes it in."""
        self.talk(*texts, session=session)
        self.poll()

    def ask(self, action: Any, argument: str | None = None, session: str | None = "talk", **more: Any) -> Outcome:
        return self.engine.submit(Intent(action=action, argument=argument, session=session, **more))

    def metadata(self, session: str = "talk") -> SessionMetadata:
        found = self.engine.store.load(f"toy:{session}")
        assert found is not None
        return found

    def recordings(self, session: str = "talk") -> list[Recording]:
        return [self.engine.recorder.view(one) for one in self.metadata(session).recordings]

    def events(self, session: str = "talk") -> list[dict[str, Any]]:
        path = self.home.twin(f"toy:{session}")
        return [orjson.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []

    def expected(self, recording: Recording, session: str = "talk") -> bytes:
        return fold(recording, self.events(session))

    def codes(self) -> list[str]:
        return [notice.code for notice in self.engine.notices]


def body(path: Path) -> bytes:
    """A recording without the frontmatter that kato-tui made."""
    data = path.read_bytes()
    return data.partition(b"\n---\n")[2] if data.startswith(b"---\n") else data


def fold(recording: Recording, events: list[dict[str, Any]]) -> bytes:
    """The reference: the events of the periods rendered in one go, with nothing in between."""
    whole = b""
    form = "jsonl" if recording.destination.endswith(".jsonl") else "markdown"
    writer = writer_for(form, recording.settings)  # type: ignore[arg-type]
    state, before = writer.begin(), None
    for period in recording.periods:
        if before != period.started_cursor - 1:
            state = writer.begin()
        before = period.stopped_cursor
        last = len(events) if period.stopped_cursor is None else period.stopped_cursor
        for event in events[period.started_cursor - 1 : last]:
            state, part = writer.render(state, event)
            whole += part
    return whole
