"""A whole user's machine: logs of all three assistants, an engine that comes and goes, and what must be true of it.

Every message holds a token that stands nowhere else, so that lost, repeated and reordered events show in any file.
"""

from __future__ import annotations

import os
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, Protocol

import orjson

from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.ingest import reader
from kato_tui.core.model.intents import Intent, Notice, Outcome
from kato_tui.core.model.session import Recording, SessionMetadata
from kato_tui.core.paths import Home
from kato_tui.core.providers.registry import PROVIDERS
from kato_tui.core.record import recorder
from kato_tui.core.store.fs import Fs
from kato_tui.core.store.index import IndexStore
from kato_tui.core.store.sessions import read_metadata
from tests.conftest import ManualClock
from tests.crash.disk import Disk, DiskFs
from tests.unit import claude_log, codex_log, gemini_log
from tests.world import fold

Record = dict[str, Any]

CLAUDE, CODEX, GEMINI, DOCUMENT = SESSIONS = ("claude", "codex", "gemini", "document")
_IDS: Final = {
    CLAUDE: claude_log.SESSION,
    CODEX: codex_log.THREAD,
    GEMINI: "5e551017-0000-4000-8000-00000000000a",
    DOCUMENT: "5e551017-0000-4000-8000-00000000000b",
}
_PATHS: Final = {
    CLAUDE: f".claude/projects/-w/{_IDS[CLAUDE]}.jsonl",
    CODEX: f".codex/sessions/2026/05/01/rollout-2026-05-01T10-00-00-{_IDS[CODEX]}.jsonl",
    GEMINI: ".gemini/tmp/app/chats/session-a.jsonl",
    DOCUMENT: ".gemini/tmp/app/chats/session-b.json",
}
TOKEN: Final = re.compile(rb"token-[a-z]+-\d{5}-of-its-own-[0-9a-f]{8}")


_TITLE: Final = re.compile(rb"^title: .*$", re.MULTILINE)


def tokens(data: bytes) -> list[bytes]:
    """The tokens of the messages in a file; a title is made of one too, but it is no message."""
    return TOKEN.findall(_TITLE.sub(b"", data))


class Log:
    """One session's log, written as its assistant does: nothing is ever synced."""

    def __init__(self, name: str, base: Path) -> None:
        self.name = name
        self.path = base / _PATHS[name]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.key = f"{'gemini' if name == DOCUMENT else name}:{_IDS[name]}"
        self.records: list[Record] = []
        #: How many records there were at the end of each turn.
        self.ends: list[int] = []
        self.number = 0

    def token(self) -> str:
        self.number += 1
        mark = zlib.crc32(f"{self.name} {self.number}".encode())
        return f"token-{self.name}-{self.number:05}-of-its-own-{mark:08x}"

    def turn(self, words: str = "", reply: str = "") -> None:
        """The user says something (commands in it work) and gets an answer."""
        asked, answered = f"{self.token()} asks.\n{words}", f"{self.token()} answers. {reply}"
        records = self._records(asked, answered)
        self.records += records
        self.ends.append(len(self.records))
        self.write(self.content() if self.name == DOCUMENT else _lines(records), new=self.name == DOCUMENT)

    def _records(self, asked: str, answered: str) -> list[Record]:
        number = self.number
        if self.name == CLAUDE:
            reply = claude_log.assistant(
                claude_log.text(answered),
                uuid=f"{self.name}-a{number}",
                message=f"{self.name}-m{number}",
                second=number,
                stop="end_turn",
            )
            return [claude_log.typed(asked, f"{self.name}-u{number}", number), reply]
        if self.name == CODEX:
            head = [codex_log.meta(_IDS[CODEX])] if not self.records else []
            said = codex_log.prompt(asked)
            said += [
                codex_log.assistant_item(answered, "final_answer"),
                codex_log.agent_event(answered, "final_answer"),
            ]
            return [*head, codex_log.started(f"t{number}"), *said, codex_log.done(f"t{number}")]
        head = [gemini_log.header(_IDS[GEMINI])] if self.name == GEMINI and not self.records else []
        prompt = gemini_log.user(asked, f"{self.name}-u{number}", number % 60)
        return [*head, prompt, gemini_log.gemini(answered, f"{self.name}-g{number}", number % 60)]

    def content(self) -> bytes:
        return self.content_of(self.records)

    def content_of(self, records: list[Record]) -> bytes:
        if self.name == DOCUMENT:
            return orjson.dumps(gemini_log.document(*records, sessionId=_IDS[DOCUMENT]))
        return _lines(records)

    def write(self, data: bytes, *, new: bool = False) -> None:
        if new:
            copy = self.path.with_name("copy")
            copy.write_bytes(data)
            copy.replace(self.path)
            return
        with self.path.open("ab") as file:
            file.write(data)

    def rewritten(self, records: list[Record]) -> None:
        """The whole log anew, with these records."""
        self.records = records
        self.write(self.content(), new=True)

    def add(self, *records: Record) -> None:
        self.records += records
        self.write(_lines(list(records)))


def _lines(records: list[Record]) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


#: By the paths that a watch names, by the folders' times, by the known logs' own, or by all that can be looked at.
Hint = Literal["look", "stir", "stat", "everywhere"]


class Process(Protocol):
    """What runs in the town: reads the logs, keeps twins and recordings, dies."""

    recorder: recorder.Recorder

    @property
    def notices(self) -> deque[Notice]: ...

    def start(self) -> None: ...

    def poll(self) -> None: ...

    def hint(self, how: Hint, paths: list[Path]) -> None:
        """A watch tells of changes, which may be old, wrong, twice, or not all of them."""

    def submit(self, intent: Intent) -> Outcome: ...

    def tick(self) -> None: ...

    def close(self) -> None: ...

    def killed(self) -> None:
        """What the system does for a process that was killed."""


class Whole(Engine):
    """The engine as it is."""

    def poll(self) -> None:
        self.discover()
        self.bring_up_to_date()

    def hint(self, how: Hint, paths: list[Path]) -> None:
        known = [key for key, session in self.sessions.items() if session.sources[-1].path in paths]
        looks: dict[Hint, Callable[[], set[str]]] = {
            "look": lambda: self.look(paths),
            "stir": self.stir,
            "stat": lambda: self.stat(known),
            "everywhere": self.look_everywhere,
        }
        for key in sorted(looks[how]()):
            self._ingest(self.sessions[key], {})

    def killed(self) -> None:
        self._lock.release()


def whole(town: Town, fs: Fs) -> Process:
    config = Config(global_auto_generate_snapshots=True)
    return Whole(town.home, config, PROVIDERS, {}, town.base, town.clock, fs, town.new_id)


class Town:
    def __init__(
        self, base: Path, names: Iterable[str] = SESSIONS, process: Callable[[Town, Fs], Process] = whole
    ) -> None:
        self.base = base
        self._process = process
        self.home = Home(base / ".kato")
        self.notes = base / "notes"
        self.notes.mkdir(parents=True, exist_ok=True)
        self.clock = ManualClock()
        self.disk = Disk()
        self.logs = {name: Log(name, base) for name in names}
        self._last_id = 0
        self.engine: Process | None = None
        #: The running process's way to the disk.
        self.fs: Fs | None = None
        #: Codes of all notices, also those of processes that died.
        self.told: set[str] = set()

    def begin(self, fs: Fs | None = None) -> None:
        """Every session is met once, so that from here on all is live."""
        for log in self.logs.values():
            log.turn("old words")
        self.start(fs)
        self.poll()

    def start(self, fs: Fs | None = None) -> None:
        self.fs = fs or self.fs or DiskFs(self.disk)
        self.engine = self._process(self, self.fs)
        self.engine.start()

    def new_id(self) -> str:
        self._last_id += 1
        return f"{self._last_id:08x}-0000-4000-8000-000000000000"

    def saved(self) -> dict[str, Any]:
        """What cannot be seen in the files: how far the writers of logs and of ids are."""
        logs = {name: (list(log.records), list(log.ends), log.number) for name, log in self.logs.items()}
        return {"logs": logs, "id": self._last_id}

    def restore(self, saved: dict[str, Any]) -> None:
        for name, (records, ends, number) in saved["logs"].items():
            log = self.logs[name]
            log.records, log.ends, log.number = list(records), list(ends), number
        self._last_id = saved["id"]

    def poll(self) -> None:
        if self.engine is None:
            self.start()
        assert self.engine is not None
        self.engine.poll()

    def die(self) -> None:
        """The process is killed: nothing is written any more."""
        if self.engine is not None:
            self.told.update(notice.code for notice in self.engine.notices)
            self.engine.killed()
        self.engine = self.fs = None

    def close(self) -> None:
        assert self.engine is not None
        self.engine.close()
        self.told.update(notice.code for notice in self.engine.notices)
        self.engine = None

    def settle_down(self) -> None:
        """All is well again: time passes, and what was to be tried again is done."""
        assert self.engine is not None
        self.poll()
        self.clock.advance(3600)
        self.engine.tick()
        self.poll()

    def metadata(self, name: str) -> SessionMetadata | None:
        path = self.home.meta(self.logs[name].key)
        return read_metadata(path) if path.exists() else None

    def recordings(self, name: str) -> list[Recording]:
        metadata = self.metadata(name)
        return metadata.recordings if metadata is not None else []

    def twin(self, name: str) -> bytes:
        path = self.home.twin(self.logs[name].key)
        return path.read_bytes() if path.exists() else b""

    def events(self, name: str) -> list[Record]:
        return [orjson.loads(line) for line in self.twin(name).splitlines()]

    def expected(self, name: str, recording: Recording) -> bytes:
        return fold(recording, self.events(name))


def check_state(town: Town) -> None:
    """What must be true of kato-tui's own folder whenever no engine runs, whatever happened (reliability §5.3)."""
    check_files(town)
    stored = IndexStore(town.home, town.clock)
    stored.load()
    rebuilt = IndexStore(town.home, town.clock)
    rebuilt._refresh()
    assert stored.entries == rebuilt.entries


def check_files(town: Town) -> None:
    """No half files, no other modes, and no gaps in the twins."""
    assert not list(town.notes.rglob(".*"))
    for folder, _, names in os.walk(town.home.root):
        assert not [name for name in names if name.endswith((".tmp", ".pending"))], names
        assert Path(folder).stat().st_mode & 0o777 == 0o700, folder
        for name in names:
            assert Path(folder, name).stat().st_mode & 0o777 == 0o600, name
    for name in town.logs:
        seqs = [event["seq"] for event in town.events(name)]
        assert seqs == list(range(1, len(seqs) + 1)), name


@contextmanager
def small_pieces(batch: int = 400, chunk: int = 120, inline: int = 300) -> Iterator[None]:
    """Batches, chunks and limits so small that a short day has many of each."""
    kept = reader.CHUNK, recorder._CHUNK, recorder._MAX_INLINE
    reader.CHUNK, recorder._CHUNK, recorder._MAX_INLINE = batch, chunk, inline  # type: ignore[misc]
    try:
        yield
    finally:
        reader.CHUNK, recorder._CHUNK, recorder._MAX_INLINE = kept  # type: ignore[misc]
