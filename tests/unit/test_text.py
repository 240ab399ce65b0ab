"""Cleaning: artefacts go, meaning stays, and what a person typed is not touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kato_tui.core import text as texts
from kato_tui.view.safe import safe


@pytest.mark.parametrize(
    ("dirty", "cleaned"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;2\x1b\\after", "after"),
        ("\x9b31mred", "red"),
        ("\x9d0;t\x9cx", "x"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("nul\x00bell\x07del\x7f", "nulbelldel"),
        ("tab\tstays\n", "tab\tstays\n"),
        ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        ("family 👨‍👩‍👧 ok", "family 👨‍👩‍👧 ok"),
    ],
)
def test_control_sequences_go_and_text_stays(dirty: str, cleaned: str) -> None:
    assert texts.clean(dirty) == cleaned


def test_an_unterminated_escape_does_not_swallow_a_document() -> None:
    assert texts.clean("\x1b]0;" + "word " * 10_000).count("word") > 9_000


@given(st.text(max_size=300))
def test_clean_text_has_no_control_characters_and_is_stable(text: str) -> None:
    cleaned = texts.clean(text)
    assert not any((ord(char) < 32 and char not in "\n\t") or 0x7F <= ord(char) <= 0x9F for char in cleaned)
    assert texts.clean(cleaned) == cleaned
    cleaned.encode("utf-8")


def test_typed_text_is_kept_exactly() -> None:
    assert texts.whole("  \x1b[31m as typed\r\n") == "  \x1b[31m as typed\r\n"


def test_a_title_is_one_short_line() -> None:
    assert texts.one_line("\n\n  fix \x1b[1mthe\x1b[0m   bug \nmore") == "fix the bug"
    assert len(texts.one_line("x" * 500)) == 120


@given(st.text(max_size=200))
def test_nothing_that_a_terminal_acts_on_passes_safe(text: str) -> None:
    shown = safe(text)
    assert not any(ord(char) < 32 or 0x7F <= ord(char) <= 0x9F for char in shown)
    assert not set(shown) & set("\u202e\u2066\u2028\u200f")
    shown.encode("utf-8")


def test_media_are_facts() -> None:
    facts = texts.media_facts("image/png", "aGVsbG8=")
    assert (facts["mediaType"], facts["size"]) == ("image/png", 5)
    assert "hello" not in str(facts) and "aGVsbG8" not in str(facts)
    assert texts.media_text(facts).startswith("[image/png, 5 bytes, sha256 ")
