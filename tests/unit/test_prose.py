"""Markdown as lines of a screen: everything is there, nothing is wider than the screen, and no text takes long."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kato_tui.view.blocks import lay_out
from kato_tui.view.cells import plain, width
from kato_tui.view.events import clean_block
from kato_tui.view.prose import listing, prose

NASTY = (
    "- a\n" * 5000,
    "# a\n" * 5000,
    "a\n\n" * 6600,
    "|a|b|c|d|\n|-|-|-|-|\n" + "|1|2|3|4|\n" * 2000,
    "```\na\n```\n" * 1800,
    "[" * 20000,
    ">" * 20000,
    "*a _b " * 3000,
    *(
        f"```{language}\n{text}"
        for language in ("python", "js", "diff", "json", "")
        for text in (
            "\n" * 19900,
            "{" * 19900,
            " " * 19900,
            '"' * 19900,
            '\\"' * 9900,
            "'" * 19900,
            "a." * 9900,
            "/*" * 9900,
        )
    ),
)


def shown(markdown: str, size: int = 40) -> list[str]:
    return [plain(line).rstrip() for line in lay_out(prose(markdown), size)]


def tones(markdown: str) -> dict[str, str]:
    return {one.text.strip(): one.tone for line in lay_out(prose(markdown), 80) for one in line}


def test_words_are_wrapped_and_lines_that_people_began_stay_lines() -> None:
    assert shown("one two three four\nfive", 13) == ["one two three", "four", "five"]


def test_what_stands_together_is_not_torn() -> None:
    assert shown("aaa bbb `cc`, dd", 11) == ["aaa bbb cc,", "dd"]
    assert shown("aaa bbb `cc`, dd", 10) == ["aaa bbb", "cc, dd"]


def test_a_word_that_is_too_long_goes_on_in_the_next_line() -> None:
    assert shown("x " + "y" * 12, 8) == ["x", "yyyyyyyy", "yyyy"]


def test_lists_are_indented_and_counted() -> None:
    text = "3. a\n4. b\n   - some and more\n   - e\n"
    assert shown(text, 14) == ["3. a", "4. b", "   ◦ some and", "     more", "   ◦ e"]


def test_quotes_have_a_bar_at_every_line() -> None:
    assert shown("a\n\n> many words\n>\n> d", 10) == ["a", "", "▎ many", "▎ words", "▎", "▎ d"]


def test_tables_have_columns_and_narrow_ones_lines_in_their_cells() -> None:
    assert shown("| a | b |\n|---|---|\n| 1 | two three four five |", 18) == [
        "a  b",
        "─" * 18,
        "1  two three four",
        "   five",
    ]


def test_code_keeps_its_blanks() -> None:
    assert shown("```\na  b\n\n    c\n```") == ["  a  b", "", "      c"]


def test_tones_tell_what_is_what() -> None:
    found = tones(
        "# Head\n\nplain **bold** *soft* `code`\n\n```python\nreturn 42  # why\n```\n\n```diff\n-old\n+new\n```"
    )
    assert found == found | {
        "Head": "key",
        "bold": "strong",
        "soft": "emphasis",
        "code": "code",
        "return": "key",
        "42": "accent",
        "# why": "muted",
        "-old": "bad",
        "+new": "good",
    }


def test_where_a_link_leads_is_always_told() -> None:
    assert shown("[bank](https://evil.example) <https://x.example>", 80) == [
        "bank (https://evil.example) https://x.example"
    ]


def test_control_characters_that_markdown_spells_out_stay_harmless() -> None:
    assert "\x1b" not in "".join(shown('a&#27;[31mb &#x9b;c [x]("&#27;") `&#27;`'))


def test_json_is_laid_out_as_it_stands() -> None:
    lines = lay_out(listing('{\n  "a b": 1,\n  "c": "text"\n}', "json"), 30)
    assert [plain(line) for line in lines] == ["{", '  "a b": 1,', '  "c": "text"', "}"]
    assert [one.tone for one in lines[2]] == ["text", "assistant", "text", "good"]


@pytest.mark.parametrize("text", NASTY, ids=lambda text: repr(text[:12]))
def test_no_text_takes_long(text: str) -> None:
    begun = time.process_time()
    lay_out(prose(clean_block(text[:20000])), 80)
    # A tenth of what the slowest took before; a busy machine needs some of it.
    assert time.process_time() - begun < 6


@given(st.text(alphabet="ab \n#*_`>-|1.[]()~<&;\\世", max_size=300), st.integers(1, 60))
def test_no_line_is_wider_than_the_screen(text: str, size: int) -> None:
    least = max(size, 8)
    assert all(width(line) <= least for line in lay_out(prose(text), size))
