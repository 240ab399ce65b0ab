"""In-chat commands: which lines are commands, and that cutting them out loses no character."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kato_tui.core.model.events import UserCommand
from kato_tui.core.record.commands import parse_line, split


@pytest.mark.parametrize(
    ("line", "payload"),
    [
        ("::start", {"command": "start"}),
        ("  ::START  ", {"command": "start"}),
        (
            "::record ~/x.md",
            {"command": "record", "rawArgument": "~/x.md", "target": {"kind": "destination", "value": "~/x.md"}},
        ),
        ("::start from -3", {"command": "start", "rawArgument": "from -3"}),
        (
            '::record ~/x.md from "some text"',
            {
                "command": "record",
                "rawArgument": '~/x.md from "some text"',
                "target": {"kind": "destination", "value": "~/x.md"},
            },
        ),
        ("::stop", {"command": "stop", "target": {"kind": "all"}}),
        (
            "::stop id:7d14af8e",
            {
                "command": "stop",
                "rawArgument": "id:7d14af8e",
                "target": {"kind": "recording-id", "value": "7d14af8e", "match": "prefix"},
            },
        ),
        (
            "::stop dest:~/a b.md",
            {"command": "stop", "rawArgument": "dest:~/a b.md", "target": {"kind": "destination", "value": "~/a b.md"}},
        ),
        ("::stop notes.md", {"command": "stop", "rawArgument": "notes.md"}),
        ("::capture", {"command": "capture"}),
    ],
)
def test_a_command_line_is_parsed(line: str, payload: dict[str, Any]) -> None:
    parsed = parse_line(line)
    assert parsed == {"line": line.strip(), **payload}
    UserCommand.model_validate(parsed)


@pytest.mark.parametrize("line", ["::export", "::stop id:", "::stop dest: ", "::strat"])
def test_an_invalid_command_keeps_its_error(line: str) -> None:
    parsed = parse_line(line)
    assert parsed is not None and parsed["error"]
    UserCommand.model_validate(parsed)


@pytest.mark.parametrize(
    "line",
    ["std::vector<int> x;", "::std::string s;", "::foo()", "say ::start", ":: start", "::", "::banana split", ""],
)
def test_other_text_is_no_command(line: str) -> None:
    assert parse_line(line) is None


def test_commands_in_fences_are_text() -> None:
    text = "look:\n```\n::start\n```\n~~~md\n::stop\n```\n::stop\n~~~\n::capture\n"
    assert [segment.command["command"] for segment in split(text) if segment.command] == ["capture"]


def test_an_unclosed_fence_reaches_to_the_end() -> None:
    assert all(segment.command is None for segment in split("```\n::start\nmore"))


def test_a_message_is_cut_at_its_command_lines_in_order() -> None:
    segments = split("before\n::start ~/a.md\nbetween\n::stop\nafter")
    assert [segment.text for segment in segments] == ["before\n", "::start ~/a.md\n", "between\n", "::stop\n", "after"]


@given(st.lists(st.sampled_from(["::start", "text", "```", "~~~~", "", " ::stop x", "\r", "::"]), max_size=12))
def test_no_character_is_lost_by_cutting(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert "".join(segment.text for segment in split(text)) == text
