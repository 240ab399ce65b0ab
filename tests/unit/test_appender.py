"""What an append left behind when the power went and the user wrote before the program came back."""

from __future__ import annotations

from pathlib import Path

import pytest

from kato_tui.core.record import appender
from kato_tui.core.record.policy import Allowed, WritePolicy
from kato_tui.core.store.fs import Fs

_CHUNK = b"# User\n\nWords that stand nowhere else, in one line.\n\n# Somebody\n\nAn answer to them, just as long.\n"
_NOTE = b"\nA note of mine.\n"


def _allowed(path: Path, content: bytes) -> Allowed:
    path.write_bytes(content)
    found = WritePolicy((path.parent,), path.parent / "recordings").check(path)
    assert isinstance(found, Allowed)
    return found


def _hole(start: int, end: int) -> bytes:
    return _CHUNK[:start] + bytes(end - start) + _CHUNK[end:]


@pytest.mark.parametrize(
    "left",
    [
        pytest.param(_hole(30, 50), id="a hole within the bytes that a new file is known by"),
        pytest.param(_hole(0, 20), id="a hole where they begin"),
        pytest.param(_hole(7, 70), id="a hole with little left around it"),
        pytest.param(_hole(0, 80), id="a hole with but a few bytes behind it"),
        pytest.param(_hole(30, 50)[:80], id="a hole, and the end torn off"),
        pytest.param(_hole(10, 20)[:80], id="a hole where they begin, and the end torn off"),
        pytest.param(_hole(10, 20)[:80] + bytes(9), id="the same, and zeros for the end"),
        pytest.param(bytes(len(_CHUNK)), id="nothing but zeros"),
    ],
)
def test_a_spoilt_append_behind_a_note_at_the_head_is_made_good(tmp_path: Path, left: bytes) -> None:
    allowed = _allowed(tmp_path / "a.md", _NOTE + left)
    appender.settle(Fs(), allowed, 0, b"", _CHUNK, head=len(_CHUNK))
    assert allowed.path.read_bytes() == _NOTE + _CHUNK


def test_a_few_bytes_between_two_holes_are_ours(tmp_path: Path) -> None:
    """Two power cuts, each with a hole of its own: found by schedule 98114 of the crash matrix."""
    before = b"The words before.\n"
    left = _CHUNK[:20] + bytes(12) + _CHUNK[32:41] + bytes(9) + _CHUNK[50:]
    allowed = _allowed(tmp_path / "a.md", before + left)
    appender.settle(Fs(), allowed, len(before), before, _CHUNK)
    assert allowed.path.read_bytes() == before + _CHUNK


def test_zeros_behind_an_edited_line_are_written_over(tmp_path: Path) -> None:
    before, edited = b"The words before.\n", b"Other words.\n"
    allowed = _allowed(tmp_path / "a.md", edited + b"\0")
    appender.settle(Fs(), allowed, len(before), before, _CHUNK)
    assert allowed.path.read_bytes() == edited + _CHUNK


def test_what_only_begins_or_ends_alike_is_left_as_it_is(tmp_path: Path) -> None:
    for own in (_CHUNK[:30] + b"but otherwise\n", b"x" * 60 + _CHUNK[60:], _hole(30, 50) + _NOTE):
        allowed = _allowed(tmp_path / "a.md", own)
        with pytest.raises(appender.NotThere):
            appender.settle(Fs(), allowed, 200, b"something that is gone", _CHUNK)
        assert allowed.path.read_bytes() == own
