"""Reading: complete lines in bounded memory, whatever stands in the file's place."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from kato_tui.core.errors import SourceUnreadable
from kato_tui.core.ingest import reader
from kato_tui.core.ingest.reader import LineReader
from kato_tui.core.providers.base import SourceFile


def _source(path: Path, *, compressed: bool = False) -> SourceFile:
    return SourceFile("toy", "s", path, compressed=compressed)


def _all(lines: LineReader) -> list[tuple[int, reader.Line]]:
    found: list[tuple[int, reader.Line]] = []
    start = lines.offset
    while batch := lines.batch():
        for line in batch:
            found.append((start, line))
            start += reader.length_of(line)
        assert start == lines.offset
    lines.close()
    return found


@given(
    data=st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\xe2\x80\xa8", b"xyz", b"\x00"]), max_size=60).map(b"".join),
    chunk=st.integers(1, 40),
    piece=st.integers(0, 9),
    most=st.integers(1, 5),
    compressed=st.booleans(),
)
def test_any_sizes_of_chunks_and_pieces_give_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, chunk: int, piece: int, most: int, compressed: bool
) -> None:
    path = tmp_path_factory.mktemp("reader") / "log"
    path.write_bytes(zstandard.compress(data) if compressed else data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "CHUNK", chunk)
        patch.setattr(reader, "PIECE", piece)
        patch.setattr(reader, "MAX_LINES", most)
        lines = _all(LineReader(_source(path, compressed=compressed)))
    assert [text for _, text in lines] == data.split(b"\n")[:-1]
    assert all(isinstance(text, bytes) and data[at : at + len(text) + 1] == text + b"\n" for at, text in lines)


@given(
    sizes=st.lists(st.integers(0, 60), min_size=1, max_size=12),
    chunk=st.integers(1, 30),
    piece=st.integers(0, 30),
    limit=st.integers(5, 40),
)
def test_long_lines_are_hashed_in_passing(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], chunk: int, piece: int, limit: int
) -> None:
    path = tmp_path_factory.mktemp("long") / "log"
    wanted = [bytes([97 + number % 26]) * size for number, size in enumerate(sizes)]
    path.write_bytes(b"".join(line + b"\n" for line in wanted))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "CHUNK", chunk)
        patch.setattr(reader, "MAX_LINE", limit)
        patch.setattr(reader, "PIECE", piece)
        lines = LineReader(_source(path))
        found = _all(lines)
    assert [start for start, _ in found] == [sum(len(line) + 1 for line in wanted[:n]) for n in range(len(wanted))]
    for (_, line), text in zip(found, wanted, strict=True):
        if isinstance(line, bytes):
            assert line == text
        else:
            assert (line.length, line.sha256) == (len(text), hashlib.sha256(text).hexdigest())
            assert len(text) > limit
    assert lines.offset == path.stat().st_size


def test_the_anchor_is_the_same_whether_read_through_or_opened_there(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(b"%d\n" % number for number in range(3000)))
    through = LineReader(_source(path))
    _all(through)
    opened = LineReader(_source(path), through.offset)
    assert opened.anchor() == through.anchor()
    assert opened.anchor()[0] == reader.ANCHOR_LENGTH
    opened.close()


@pytest.mark.parametrize("kind", ["missing", "folder", "fifo"])
def test_what_is_no_regular_file_is_refused_without_hanging(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "log"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    with pytest.raises(SourceUnreadable):
        LineReader(_source(path))
    assert reader.stamp_of(path) is None
    assert reader.read_head(path) == b""


def test_a_zstd_bomb_is_read_in_bounded_pieces(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zst"
    path.write_bytes(zstandard.compress(b"0" * (200 << 20)))
    assert path.stat().st_size < 100_000
    lines = LineReader(_source(path, compressed=True))
    assert lines.batch() == []
    assert len(lines.torn()) <= reader.MAX_LINE + reader.CHUNK
    lines.close()


def test_a_zstd_frame_with_a_huge_window_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "window.zst"
    parameters = zstandard.ZstdCompressionParameters(window_log=27, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    path.write_bytes(packer.compress(os.urandom(1 << 20)) + packer.flush())
    lines = LineReader(_source(path, compressed=True))
    with pytest.raises(SourceUnreadable, match=r"window\.zst: not readable as zstd"):
        lines.batch()
    lines.close()
