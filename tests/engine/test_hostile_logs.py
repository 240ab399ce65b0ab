"""Logs are hostile input: whatever a line holds, it is kept, the next line is read, and every event validates."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kato_tui.core.model.events import TwinEvent
from kato_tui.core.paths import Home
from kato_tui.core.providers.parsing import parse
from tests.conftest import ManualClock
from tests.toy import Bench, say

LINES = {
    "invalid UTF-8": b'{"say": "\xff\xfe broken"}',
    "a NUL byte": b'{"say": "a\x00b"}',
    "only NULs": b"\x00" * 64,
    "a lone surrogate": b'{"say": "\\ud800 x", "id": "\\udfff"}',
    "a surrogate as a key": b'{"\\ud800": 1}',
    "NaN": b'{"x": NaN, "y": -Infinity}',
    "a number beyond 64 bits": b'{"x": 123456789012345678901234567890, "y": NaN}',
    "a number beyond floats": b'{"x": 1e999}',
    "a BOM": b'\xef\xbb\xbf{"say": "bom"}',
    "100,000 open brackets": b"[" * 100_000,
    "deep but closed": b"[" * 50_000 + b"]" * 50_000,
    "too deep to write": b'{"x":' * 300 + b"1" + b"}" * 300,
    "just not too deep": b'{"x":' * 190 + b"1" + b"}" * 190,
    "no object": b'"text"',
    "line separators": '{"say": "a\u2028b\u2029c\x85d"}'.encode(),
    "a wrong shape": b'{"say": {"not": "text"}}',
    "duplicate keys": b'{"say": "a", "say": "b"}',
    "blanks": b"   \t ",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES.keys())
def test_a_hostile_line_stops_nothing(home: Home, clock: ManualClock, tmp_path: Path, line: bytes) -> None:
    bench = Bench(home, clock, tmp_path / "talk.jsonl")
    bench.path.write_bytes(say("before") + line + b"\n" + say("after"))
    bench.ingest()
    events = [TwinEvent.model_validate(event) for event in bench.events()]
    assert events[0].payload["text"] == "before"
    assert events[-1].payload["text"] == "after"
    assert len(events) == (2 if not line.strip() else 3)
    assert bench.twin() == bench.one_pass()


@settings(max_examples=300)
@given(st.binary(max_size=200).filter(lambda data: b"\n" not in data))
def test_any_bytes_are_a_line(tmp_path_factory: pytest.TempPathFactory, line: bytes) -> None:
    base = tmp_path_factory.mktemp("bytes")
    home = Home(base / "kato")
    for folder in home.folders():
        folder.mkdir(parents=True)
    bench = Bench(home, ManualClock(), base / "talk.jsonl")
    bench.path.write_bytes(line + b"\n" + say("after"))
    bench.ingest()
    for event in bench.events():
        TwinEvent.model_validate(event)
    assert bench.texts_or_raw()[-1] == "after"


def test_numbers_that_no_writer_takes_back_keep_their_digits() -> None:
    assert parse(b'{"x": 123456789012345678901234567890, "y": NaN}') == {
        "x": "123456789012345678901234567890",
        "y": "NaN",
    }


def test_a_line_of_fifty_megabytes_is_read(home: Home, clock: ManualClock, tmp_path: Path) -> None:
    bench = Bench(home, clock, tmp_path / "talk.jsonl")
    bench.path.write_bytes(say("before") + say("z" * (50 << 20)) + say("after"))
    bench.ingest()
    assert [len(text) for text in bench.texts()] == [6, 50 << 20, 5]
