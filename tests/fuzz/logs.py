"""Targets: the parsers of all assistants and formats, the reader of lines, compressed logs, and the whole ingest."""

from __future__ import annotations

import os
import re
import resource
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any, Final

import orjson
import pytest
import zstandard
from pydantic import TypeAdapter

from kato_tui.core.errors import KatoError, SourceUnreadable
from kato_tui.core.glance import glance
from kato_tui.core.ingest import reader
from kato_tui.core.ingest.batch import SessionIngest, Stores
from kato_tui.core.ingest.reader import LineReader
from kato_tui.core.ingest.translate import Translation
from kato_tui.core.model.events import TwinEvent
from kato_tui.core.model.facts import Facts
from kato_tui.core.model.settings import RecordSettings
from kato_tui.core.paths import Home
from kato_tui.core.providers.base import Draft, SourceFile, Translator
from kato_tui.core.providers.books import Tally
from kato_tui.core.providers.registry import PROVIDERS
from kato_tui.core.record.writer import writer_for
from kato_tui.core.store.sessions import SessionStore
from kato_tui.core.store.twin import LineEncoder, decode_line
from tests.conftest import ManualClock
from tests.crashing import CrashingFs
from tests.fuzz.corpus import FORMS, LINE_FORMS, Form
from tests.fuzz.mutation import bent, dumped, mutated
from tests.fuzz.target import Target
from tests.machine import uncaptured

#: What a terminal acts on and no file of ours may hold raw.
ACTIVE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_FACTS: Final = TypeAdapter(Facts)
_SESSION: Final = {"provider": "p", "providerSessionId": "s", "sessionId": "00000000-0000-5000-8000-000000000000"}


def log_of(rng: Random, form: Form) -> bytes:
    """Some lines of a good log, some of them bent, now and then broken as bytes."""
    lines = list(rng.choice(form.logs))
    if form.layout == "lines":
        first = rng.randrange(len(lines))
        lines = lines[first : first + rng.randint(1, 10)] if rng.random() < 0.5 else rng.choices(lines, k=6)
    for number in range(len(lines)):
        if rng.random() < 0.5 or form.layout == "document":
            lines[number] = dumped(bent(rng, orjson.loads(lines[number])))
    data = b"\n".join(lines) + (b"\n" if rng.random() < 0.8 else b"")
    return mutated(rng, data) if rng.random() < 0.3 else data


def _restarted(form: Form, source: SourceFile, made: Translator) -> Translator:
    """As after a restart: state and facts through JSON and the contract."""
    state = orjson.loads(orjson.dumps(made.save()))
    facts = _FACTS.validate_json(_FACTS.dump_json(made.facts, by_alias=True, exclude_none=True))
    return PROVIDERS[form.provider].translator(source, state, facts)


def check_tally(tally: Tally, records: int | None) -> None:
    """Every record that was read came to exactly one end."""
    for row in tally.values():
        assert row.read == row.translated + row.dropped + row.repeated + row.raw + row.invalid
    assert records is None or sum(row.read for row in tally.values()) >= records


def check_events(form: Form, drafts: list[Draft]) -> None:
    """Whole lines, of the contract, without anything a terminal acts on; shown and recorded without a word."""
    encoder = LineEncoder(_SESSION, PROVIDERS[form.provider].cursor_kind)
    events: list[dict[str, Any]] = []
    for seq, draft in enumerate(drafts, 1):
        line = encoder.encode([draft], seq, None)
        assert line.endswith(b"\n") and not ACTIVE.search(line[:-1].decode())
        event = decode_line(line)
        assert event is not None
        TwinEvent.model_validate(event)
        orjson.dumps(glance(event, "00000000"))
        events.append(event)
    settings = RecordSettings(system_events=True, thinking=True, tool_calls=True)
    writer = writer_for("markdown", settings)
    state, restarted = writer.begin(), writer.begin()
    for event in events:
        state, part = writer.render(state, event)
        restarted, again = writer.render(orjson.loads(orjson.dumps(restarted)), event)
        assert part == again
        assert not ACTIVE.search(part.decode().replace("\n", ""))


class LogTarget(Target):
    """One format's parser."""

    weight = 4

    def __init__(self, base: Path, form: Form) -> None:
        super().__init__(base)
        self.form = form
        self.name = form.name
        self._source = form.source(base / "log")

    def make(self, rng: Random) -> bytes:
        return log_of(rng, self.form)

    def check(self, data: bytes, rng: Random) -> None:
        drafts = self._document(data) if self.form.layout == "document" else self._lines(data, rng)
        check_events(self.form, drafts)

    def _new(self) -> Translator:
        made = PROVIDERS[self.form.provider].translator(self._source)
        made.tally = {}
        return made

    def _document(self, data: bytes) -> list[Draft]:
        made, again = self._new(), self._new()
        drafts = made.feed_document(data)
        assert drafts == again.feed_document(data)
        check_tally(made.tally or {}, None)
        _restarted(self.form, self._source, made)
        return drafts or []

    def _lines(self, data: bytes, rng: Random) -> list[Draft]:
        made, part = self._new(), self._new()
        by_offset = PROVIDERS[self.form.provider].cursor_kind == "byte-offset"
        drafts: list[Draft] = []
        offset, records = 0, 0
        for number, line in enumerate(data.split(b"\n")[:-1]):
            cursor = offset if by_offset else number
            offset += len(line) + 1
            records += bool(line.strip(b" \t\r\n"))
            found = made.feed(line, cursor)
            if rng.random() < 0.25:
                part = _restarted(self.form, self._source, part)
            assert part.feed(line, cursor) == found
            drafts += found
        check_tally(made.tally or {}, records)
        assert asdict(part.facts) == asdict(made.facts)
        assert orjson.dumps(part.save()) == orjson.dumps(made.save())
        return drafts


class ReaderTarget(Target):
    """The reader of lines on a log that grows in any pieces, read in any pieces, taken up again anywhere."""

    name = "reader"
    weight = 2

    def make(self, rng: Random) -> bytes:
        parts = rng.choices((b"a", b"\n", b"\n\n", b"\r\n", b"\x00", b"\xe2\x80\xa8", b"x" * 30, b"\xff"), k=30)
        return mutated(rng, b"".join(parts))

    def check(self, data: bytes, rng: Random) -> None:
        path = self.base / "reader.jsonl"
        path.write_bytes(b"")
        source = SourceFile("toy", "s", path)
        limit = rng.choice((10, 64, 1000))
        found: list[tuple[int, int]] = []
        offset = 0
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reader, "CHUNK", rng.choice((1, 3, 16, 4096)))
            patch.setattr(reader, "MAX_LINE", limit)
            patch.setattr(reader, "ANCHOR_LENGTH", 16)
            for cut in [*sorted(rng.choices(range(len(data) + 1), k=3)), len(data)]:
                path.write_bytes(data[:cut])
                lines = LineReader(source, offset)
                start = offset
                while batch := lines.batch():
                    for line in batch:
                        found.append((start, self._length(data, start, line)))
                        start += reader.length_of(line)
                    assert start == lines.offset
                    # A cursor is always just after a newline.
                    assert data[lines.offset - 1 : lines.offset] == b"\n" and lines.offset <= cut
                    assert len(lines.torn()) <= max(limit, reader.CHUNK) + reader.CHUNK
                offset = lines.offset
                lines.close()
        ends = [at for at, byte in enumerate(data) if byte == 10]
        starts = [0, *(at + 1 for at in ends)]
        assert found == [(start, end - start) for start, end in zip(starts, ends, strict=False)]
        assert offset == (ends[-1] + 1 if ends else 0)

    @staticmethod
    def _length(data: bytes, start: int, line: reader.Line) -> int:
        if isinstance(line, reader.Oversize):
            return line.length
        assert data[start : start + len(line)] == line
        return len(line)


class ZstdTarget(Target):
    """Compressed logs that are damaged, cut, glued together, or grow a thousandfold: an error or lines, in little
    memory."""

    name = "zstd"
    #: Far above what the limits below need, far below what the bombs unpack to.
    most_memory = 48 << 20

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self._bombs = [_bomb(b"\0", 64 << 20), _bomb(b"a" * 999 + b"\n", 64 << 20), _bomb(b"\n", 1 << 18)]

    def make(self, rng: Random) -> bytes:
        if rng.random() < 0.02:
            return rng.choice(self._bombs)
        frames = [zstandard.compress(log_of(rng, rng.choice(LINE_FORMS))) for _ in range(rng.randint(1, 3))]
        data = b"".join(frames)
        return mutated(rng, data, (b"\x28\xb5\x2f\xfd", b"\xff" * 8, b"\x00" * 4)) if rng.random() < 0.8 else data

    def check(self, data: bytes, rng: Random) -> None:
        before = _memory()
        path = self.base / "log.jsonl.zst"
        path.write_bytes(data)
        source = SourceFile("toy", "s", path, compressed=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reader, "CHUNK", 1 << 18)
            patch.setattr(reader, "MAX_LINE", 1 << 20)
            lines = LineReader(source)
            try:
                while batch := lines.batch():
                    assert len(batch) <= reader.MAX_LINES
            except SourceUnreadable:
                pass
            finally:
                lines.close()
        reader.read_head(path)
        assert _memory() - before < self.most_memory


def _bomb(piece: bytes, size: int) -> bytes:
    """`size` bytes of `piece`, compressed, without ever being held."""
    packer = zstandard.ZstdCompressor().compressobj()
    many = piece * ((1 << 18) // len(piece))
    return b"".join(packer.compress(many) for _ in range(size // len(many))) + packer.flush()


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class IngestTarget(Target):
    """A session from its log to its twin: in any pieces and with restarts, what one pass over the log gives; and when
    the log is rewritten on the way, everything the twin held stays."""

    name = "ingest"

    def make(self, rng: Random) -> bytes:
        return bytes([rng.randrange(len(LINE_FORMS))]) + log_of(rng, rng.choice(LINE_FORMS))

    def check(self, data: bytes, rng: Random) -> None:
        form, log = LINE_FORMS[data[0] % len(LINE_FORMS)] if data else FORMS[0], data[1:]
        folder = self.base / "ingest"
        home = _home(folder)
        source = form.source(folder / "log.jsonl")
        rewritten = rng.random() < 0.3
        before = b""
        for cut in [*sorted(rng.choices(range(len(log) + 1), k=rng.randint(0, 3))), len(log)]:
            part = mutated(rng, log[:cut]) if rewritten and rng.random() < 0.5 else log[:cut]
            source.path.write_bytes(part)
            twin = self._read(home, form, source)
            assert twin.startswith(before)
            before = twin
        for seq, line in enumerate(before.splitlines(keepends=True), 1):
            event = decode_line(line)
            assert event is not None and event["seq"] == seq
        if not rewritten:
            whole = log[: log.rfind(b"\n") + 1]
            source.path.write_bytes(whole)
            once = b"".join(Translation(PROVIDERS[form.provider], source).lines())
            assert uncaptured(before) == uncaptured(once)
        _empty(home)

    @staticmethod
    def _read(home: Home, form: Form, source: SourceFile) -> bytes:
        clock, fs = ManualClock(), CrashingFs()
        stores = Stores(home, SessionStore(home, clock, fs), clock, fs)
        try:
            SessionIngest(stores, PROVIDERS[form.provider], [source], keep_twin=True).run()
        except KatoError as error:
            raise AssertionError(f"a log made its own twin unusable: {error}") from error
        path = home.twin(f"{form.provider}:{form.session}")
        return path.read_bytes() if path.exists() else b""


def _home(folder: Path) -> Home:
    home = Home(folder / "kato")
    for one in home.folders():
        one.mkdir(parents=True, exist_ok=True)
    _empty(home)
    return home


def _empty(home: Home) -> None:
    for entry in os.scandir(home.sessions):
        Path(entry.path).unlink()
