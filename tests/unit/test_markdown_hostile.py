"""Whatever a conversation holds, a recording keeps its shape: only the writer makes speakers, folds and HTML.

The same conversation is rendered twice, with hostile texts and with a plain word in their places; a CommonMark parser
must see the same headings and folds in both, and no HTML but the writer's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kato_tui.core.model import events
from kato_tui.core.record import markdown_text as md
from kato_tui.core.record.writer import Event
from tests.conftest import LONG
from tests.unit.talk import (
    AT,
    answers,
    asks,
    calls,
    command,
    event,
    info,
    raw,
    rendered,
    returns,
    says,
    thinks,
    user,
)

EXAMPLES = 3000 if LONG else 150
STAMP = "2026-02-25_1115_49"
PARSERS = [MarkdownIt("commonmark"), MarkdownIt("commonmark").enable(["table", "strikethrough"])]
_FOLD = re.compile(r"<details>\n<summary>([^<>\n]*)</summary>\n")
_END = "</details>\n"

# Every place of an event where a text from outside may stand.


def _messages(one: str, two: str) -> list[Event]:
    return [user(one), says(two), says(one), user(two), command(one), says(two, phase="commentary")]


def _folds(one: str, two: str) -> list[Event]:
    failed = returns(two, id="e", isError=True)
    return [thinks(one), thinks(two), returns(one), failed, calls("Task", {"description": one}), returns(two)]


def _decisions(one: str, two: str) -> list[Event]:
    prompt = asks(one, (one, two), (two, ""), several=True)
    return [prompt, answers(one, two, words=two), asks(two), answers(words=one), answers(one, id=two)]


def _notices(one: str, two: str) -> list[Event]:
    short = info(" ".join(one.split())[:50] or "x", events.SYSTEM_MESSAGE, level=two, subtype=one)
    return [user("x"), short, info(f"x\n{two}\n{one}\nx", subtype=two), raw(one), says(two)]


def _attachments(one: str, two: str) -> list[Event]:
    image = {"mediaType": one, "size": 3, "sha256": "ab" * 32, "name": two}
    return [event(events.USER_MESSAGE, {"text": one, "attachments": [image]}), says(two)]


def _names(one: str, two: str) -> list[Event]:
    return [
        user("x"),
        says(one, model=two),
        calls(one, {one: two}, model=two),
        returns(two),
        calls("Grep", {one: two, "pattern": one}, id=two),
        returns(one, id=two),
        calls("Task", {"subagent_type": one, "prompt": two}, id="t"),
        returns(one, id="t", json={"agentId": two}),
    ]


def _edits(one: str, two: str) -> list[Event]:
    change = {"type": "update", "unified_diff": one, "move_path": two}
    return [
        calls("Edit", {"file_path": one, "old_string": one, "new_string": two}),
        calls("Write", {"file_path": two, "content": one}),
        calls("apply_patch", {"input": f"*** Update File: {one}\n{two}"}),
        calls("apply_patch", {"changes": {one: change, two: {"type": "add", "content": one}}}),
    ]


def _tools(one: str, two: str) -> list[Event]:
    return [
        calls("Bash", {"command": one, "description": two}),
        calls("shell", {"command": ["bash", "-lc", two]}),
        calls("exec", {"input": one}),
        calls("write_stdin", {"chars": one, "session_id": two}),
        calls("TodoWrite", {"todos": [{"content": one, "status": two}, {"content": two, "status": "completed"}]}),
        calls("update_plan", {"explanation": one, "plan": [{"step": two, "status": "pending"}]}),
        calls("ExitPlanMode", {"plan": one}),
        calls("unheard_of", {"a": [one, {two: one}]}),
        returns(None, json={one: two}),
    ]


TALKS: list[Callable[[str, str], list[Event]]] = [
    _messages,
    _folds,
    _decisions,
    _notices,
    _attachments,
    _names,
    _edits,
    _tools,
]


def _skeleton(text: str, parser: MarkdownIt) -> list[str]:
    """The writer's headings, folds and ends of folds, in their order; fails on any HTML that is not the writer's."""
    found: list[str] = []
    tokens = parser.parse(text)
    for number, token in enumerate(tokens):
        if token.type == "html_block":
            assert token.level == 0, token
            found += _own_html(token.content)
        elif token.type == "heading_open" and token.level == 0 and token.tag == "h1":
            assert STAMP in tokens[number + 1].content
            found.append("heading")
        for child in token.children or ():
            assert child.type != "html_inline", child
    return found


def _own_html(html: str) -> list[str]:
    if html.strip() == "<!-- -->":
        return []
    if html == _END:
        return ["end"]
    fold = _FOLD.match(html)
    assert fold is not None and html[fold.end() :] in ("", _END), html
    return ["fold", "end"] if html[fold.end() :] else ["fold"]


def _check(talk: Callable[[str, str], list[Event]], one: str, two: str, *, italic: bool) -> None:
    shown = {"system_events": True, "italic_user_text": italic}
    hostile = rendered(*talk(one, two), **shown)
    harmless = rendered(*talk("word", "other"), **shown)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", hostile)
    for parser in PARSERS:
        wanted = _skeleton(harmless, parser)
        assert wanted.count("fold") == wanted.count("end") == harmless.count("<details>")
        assert _skeleton(hostile, parser) == wanted


FRAGMENTS = (
    *("```", "````", "```` ` x", "~~~", "~~~~~~ js", "`", "``", "\\`", "```x|y", "~~~ a|b"),
    *("<script>alert(1)</script>", "</details>", "<details>", "<summary>x</summary>", "<!--", "-->", "<!-- -->"),
    *("<![CDATA[", "]]>", "<?php", "?>", "<!DOCTYPE html>", "<b", "</p>", "<img src=x onerror=y>", "<pre>", "</pre>"),
    *("<style>", "<textarea>", "<https://a.b>", "<a@b.cd>", "<a href='`'>", "<x:y>", "\\<b>", "&lt;b&gt;", "&#60;i>"),
    *(f"# User_{STAMP}", f"User_{STAMP}", f"#\tgpt_{STAMP} #", f"# *User*\\_{STAMP}", f"# User&#95;{STAMP}"),
    *("===", "---", "=", "-", "***", "___", "- - -", "...", "---\ntitle: x\n---"),
    *("- a", "* ", "+ \tb", "1. a", "2) b", "10. ", "> a", ">", "> > ```", "- ```", "1. <b>", "- > # x", "    code"),
    *("\tcode", "   ", "[a]: /b", "[x]: /b", "[a]:", "/b 'c", "[a]", "![a](b)", "[a](<b", "[a][b", "(", ")", "](`"),
    *(
        "| a | b |",
        "|---|---|",
        "--|--",
        "a | `b",
        ":-:",
        "~~x~~",
        "https://x.y/`",
        "www.a.b`",
        "word",
        "x y",
        "*",
        "_",
    ),
    *("\x00", "\x1b[2J", "\x9b", "\x7f", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\u00a0"),
    *("\u202e", "\u2066", "\ufeff", "\u200d", "\U000e0041", "é", "漢字", "🙂", "$x$", "{{x}}", "\\"),
)
BETWEEN = ("\n", "\n", "\n\n", "", " ", "\n    ", "\n> ", "\n- ", "\n  ", "\t", "\r\n", "\n>\t", "\n1.  ")

pieces = st.lists(st.tuples(st.sampled_from(FRAGMENTS), st.sampled_from(BETWEEN)), min_size=1, max_size=8)
hostile = st.one_of(
    pieces.map(lambda found: "".join(text + gap for text, gap in found)),
    st.text(alphabet="`~<>!?-/#=*+|:[]()\\ \t\nab1._&;'\"", min_size=1, max_size=40),
    st.text(min_size=1, max_size=20),
).map(lambda text: text if text.strip() else "word")


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.sampled_from(TALKS), hostile, hostile, st.booleans())
def test_no_text_changes_the_shape_of_a_recording(
    talk: Callable[[str, str], list[Event]], one: str, two: str, italic: bool
) -> None:
    _check(talk, one, two, italic=italic)


@pytest.mark.parametrize("talk", TALKS)
@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_each_hostile_text_in_each_place(talk: Callable[[str, str], list[Event]], fragment: str) -> None:
    alone = fragment if fragment.strip() else "word"
    _check(talk, alone, f"a\n{fragment}\nb", italic=False)
    _check(talk, f"- {fragment}\n  {fragment}", alone, italic=True)


def test_the_headings_of_a_text_go_below_its_speaker_in_their_order() -> None:
    text = "# One\n\n## Two\n\nThree\n=====\n\nFour\n---\n\n###### Six\n\n- # in a list"
    assert md.block(text) == "## One\n\n### Two\n\nThree\n-----\n\nFour\n---\n\n###### Six\n\n- # in a list"


def test_headings_that_are_below_already_and_what_only_looks_like_one_stay() -> None:
    for text in ("## One\n\n### Two", "```\n# code\n```", "    # code", "#tag", "a = b", "> # quoted"):
        assert md.block(text) == text


@pytest.mark.parametrize("show", [md.block, md.plain, md.code, md.fence])
def test_half_a_character_is_shown_and_stops_nothing(show: Callable[[str], str]) -> None:
    assert "⟨U+D83D⟩" in show("a\ud83db").encode().decode()


def test_the_text_after_an_open_fence_is_text_again() -> None:
    assert rendered(says("```py\nx = 1"), says("*after*")).endswith("\n```py\nx = 1\n```\n\n*after*\n")


def test_a_name_of_nothing_visible_gives_way_to_the_providers() -> None:
    assert rendered(says("a", model="\x00 ")).startswith("\n# codex_")


def test_a_definition_in_a_text_does_not_turn_our_boxes_into_links() -> None:
    shown = rendered(says("[x]: /evil"), answers("Yes"), calls("TodoWrite", {"todos": [{"content": "a"}]}))
    assert "<a" not in MarkdownIt("commonmark").render(shown)


def test_a_recording_never_begins_with_what_passes_for_frontmatter() -> None:
    assert rendered(user("---\ntitle: mine\n---", at=AT)).startswith("\n# User_")
