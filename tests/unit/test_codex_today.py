"""Records that Codex began to write in the autumn of 2026: voice, schedules, notes beside the payload."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit import codex_log as codex
from tests.unit.test_codex import fold, told

KINDS: dict[str, Any] = {"kinds": ["user.heartbeat"]}
SAVED = (
    "<heartbeat>\n  <automation_id>check</automation_id>\n  <current_time_iso>2026-10-01T08:00:00Z</current_time_iso>\n"
    "  <instructions>\nLook at the build\n::start\n  </instructions>\n</heartbeat>"
)
HANDED_ON = "<realtime_delegation>\n  <input>Fix the &lt;b&gt; tag\n::start</input>\n</realtime_delegation>"


def spoken(role: str, words: str, ident: str) -> dict[str, Any]:
    payload = {"type": "transcript_segment", "id": ident, "role": role, "text": words, "realtime_session_id": "v1"}
    return codex.line("realtime_item", payload)


def paginated() -> dict[str, Any]:
    return codex.meta(history_mode="paginated")


def mirror(text: str) -> dict[str, Any]:
    return codex.completed("UserMessage", id="u1", content=[{"type": "text", "text": text}])


def test_what_was_said_aloud_is_the_conversation() -> None:
    log = [paginated(), spoken("user", "Fix the tag", "a"), spoken("assistant", "On it", "b")]
    assert told(*log, codex.user_item(HANDED_ON, kinds=["user.text"]), mirror(HANDED_ON)) == [
        ("user.message", "Fix the tag"),
        ("assistant.message", "On it"),
        ("provider.info", "Fix the <b> tag\n::start"),
    ]


@pytest.mark.parametrize("legacy", [True, False])
def test_a_request_by_voice_without_a_transcript_is_the_users_and_no_command(legacy: bool) -> None:
    later = codex.user_event(HANDED_ON) if legacy else mirror(HANDED_ON)
    head = codex.meta() if legacy else paginated()
    assert told(head, codex.started(), codex.user_item(HANDED_ON), later) == [
        ("user.message", "Fix the <b> tag\n::start"),
    ]


@pytest.mark.parametrize("kinds", [["user.heartbeat"], ["user.text"]])
@pytest.mark.parametrize("legacy", [True, False])
def test_a_scheduled_prompt_is_nobodys_typing(legacy: bool, kinds: list[str]) -> None:
    later = codex.user_event(SAVED) if legacy else mirror(SAVED)
    head = codex.meta() if legacy else paginated()
    assert told(head, codex.started(), codex.user_item(SAVED, kinds=kinds), later) == [
        ("provider.info", "Look at the build\n::start"),
    ]


def test_a_scheduled_prompt_of_another_form_is_known_by_its_kind() -> None:
    words = "look at the build\n::start"
    assert told(paginated(), codex.user_item(words, **KINDS), mirror(words)) == [("provider.info", words)]


def test_a_summary_for_a_compaction_is_not_an_answer() -> None:
    record = codex.assistant_item("What happened so far: …") | {"metadata": {"compaction_output": True}}
    assert told(paginated(), record) == [("provider.info", "What happened so far: …")]


def test_a_delivered_message_that_was_cut_short_shows_its_beginning() -> None:
    marker = "codex:code-mode-delivery:v1:incomplete:Here is the pl"
    noted = {"delivered_assistant_message": marker, "user_input_order": 3}
    record = codex.assistant_item("The content of a confirmed assistant message is unavailable.") | {"metadata": noted}
    assert told(paginated(), record) == [("assistant.message", "Here is the pl")]


@pytest.mark.parametrize(
    "record",
    [
        codex.line("retained_context", {"type": "user_message", "text": "hi"}),
        codex.item("additional_tools", tools=[]),
    ],
)
def test_book_keeping_is_left_out(record: dict[str, Any]) -> None:
    assert told(paginated(), record) == []


def test_a_plan_stands_in_its_answer_without_the_marks_for_codex() -> None:
    words = "Here:\n<proposed_plan>\n1. do\n</proposed_plan>\nAgreed?"
    mirrors = [
        codex.completed("AgentMessage", id="m1", content=[{"type": "Text", "text": "Here:\n\nAgreed?"}]),
        codex.completed("Plan", id="p1", text="1. do\n"),
    ]
    assert told(paginated(), codex.assistant_item(words, "final_answer", id="m1"), *mirrors) == [
        ("assistant.message", "Here:\n\n1. do\n\nAgreed?")
    ]
    quoted = "write <proposed_plan> first"
    assert told(paginated(), codex.assistant_item(quoted)) == [("assistant.message", quoted)]


def test_a_fork_that_copies_nothing_says_where_its_conversation_begins() -> None:
    base = {"thread_id": codex.PARENT, "end_ordinal_exclusive": 7}
    fork = codex.meta(history_mode="paginated", forked_from_id=codex.PARENT, history_base=base)
    assert told(fork) == [("provider.info", f"The conversation begins in session {codex.PARENT}")]
    reverted = codex.meta(history_mode="paginated", history_base={"thread_id": codex.THREAD})
    assert told(reverted) == []


def test_a_command_that_the_user_declined_is_a_failed_one() -> None:
    declined = codex.completed("CommandExecution", id="c1", command=["rm"], status="declined", source="agent")
    drafts, _ = fold(paginated(), codex.call("c1"), declined, codex.output("c1", "rejected by user"))
    assert [draft.payload.get("isError") for draft in drafts] == [None, True]
