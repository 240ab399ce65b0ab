"""A user's machine with logs of all three assistants, on which engines come and go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.ingest import reader
from kato_tui.core.ingest.translate import Translation
from kato_tui.core.paths import Home
from kato_tui.core.providers.registry import PROVIDERS, detect
from kato_tui.core.summary import Summary
from tests.conftest import ManualClock
from tests.unit import claude_log, codex_log, gemini_log

Lines = Callable[..., bytes]


@dataclass(frozen=True)
class Place:
    """Where an assistant keeps a session, and how its records become bytes."""

    provider: str
    path: str
    session: str
    lines: Lines

    @property
    def key(self) -> str:
        return f"{self.provider}:{self.session}"


_ROLLOUT = f"rollout-2026-05-01T10-00-00-{codex_log.THREAD}"
CLAUDE = Place("claude", f".claude/projects/-w/{claude_log.SESSION}.jsonl", claude_log.SESSION, claude_log.lines)
CODEX = Place("codex", f".codex/sessions/2026/05/01/{_ROLLOUT}.jsonl", codex_log.THREAD, codex_log.lines)
GEMINI = Place("gemini", ".gemini/tmp/app/chats/session-x.jsonl", gemini_log.SESSION, gemini_log.lines)
DOCUMENT = Place("gemini", ".gemini/tmp/app/chats/session-x.json", gemini_log.SESSION, gemini_log.lines)


class Machine:
    def __init__(self, base: Path, place: Place = CLAUDE) -> None:
        self.base = base
        self.place = place
        self.home = Home(base / "kato")
        self.path = base / place.path
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.clock = ManualClock()

    def engine(self, *, twins: bool = True) -> Engine:
        engine = Engine(self.home, Config(global_auto_generate_snapshots=twins), PROVIDERS, {}, self.base, self.clock)
        engine.start()
        return engine

    def run(self, *, twins: bool = True) -> Summary:
        """Start, bring up to date, stop: what a restart does."""
        engine = self.engine(twins=twins)
        try:
            return engine.bring_up_to_date()
        finally:
            engine.close()

    def write(self, data: bytes) -> None:
        self.path.write_bytes(data)

    def twin(self) -> bytes:
        path = self.home.twin(self.place.key)
        return path.read_bytes() if path.exists() else b""

    def events(self) -> list[dict[str, Any]]:
        return [orjson.loads(line) for line in self.twin().splitlines()]

    def one_pass(self) -> bytes:
        found = detect(self.path, PROVIDERS[self.place.provider])
        assert found is not None
        return b"".join(Translation(*found).lines())


def uncaptured(twin: bytes) -> list[bytes]:
    """The lines of a twin without their times of capture (and the checksum over them)."""
    lines = []
    for line in twin.splitlines():
        event = orjson.loads(line)
        del event["crc"]
        if "time" in event:
            event["time"].pop("capturedAt", None)
            if not event["time"]:
                del event["time"]
        lines.append(orjson.dumps(event))
    return lines


class Traffic:
    """What was read: log files opened, bytes of logs, bytes of twins."""

    def __init__(self) -> None:
        self.opened = 0
        self.log_bytes = 0
        self.twin_reads = 0


@contextmanager
def counted_reads() -> Iterator[Traffic]:
    """Counts every opening and reading of logs, and every pass over a twin."""
    from kato_tui.core.store.twin import Twin

    traffic = Traffic()
    open_stream, read, raw_lines = reader.open_stream, reader.PlainStream.read, Twin._raw_lines

    def opening(path: Path, *, compressed: bool = False) -> reader.Stream:
        traffic.opened += 1
        return open_stream(path, compressed=compressed)

    def reading(self: reader.PlainStream, position: int, length: int) -> bytes:
        data = read(self, position, length)
        traffic.log_bytes += len(data)
        return data

    def passing(self: Twin, offset: int, end: int | None = None) -> Iterator[bytes]:
        traffic.twin_reads += 1
        return raw_lines(self, offset, end)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "open_stream", opening)
        patch.setattr(reader.PlainStream, "read", reading)
        patch.setattr(Twin, "_raw_lines", passing)
        yield traffic
