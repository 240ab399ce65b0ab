"""Traps of Codex logs that a plausible translator falls into, each with the smallest log that shows it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit import codex_log as log
from tests.unit.test_codex import fold, told

BLOB = "iVBORw0KGgo" + "A" * 4000
CITED = "Done.\n<oai-mem-citation>\n<citation_entries>\nMEMORY.md:1-2\n</citation_entries>\n</oai-mem-citation>"


# Assistant messages.


@pytest.mark.parametrize("event_first", [True, False])
def test_a_message_with_memory_citations_is_told_once_and_without_them(event_first: bool) -> None:
    """Codex strips the citations from the event and leaves them in the response item."""
    records = [log.agent_event("Done.", "final_answer"), log.assistant_item(CITED, "final_answer")]
    assert told(*(records if event_first else reversed(records))) == [("assistant.message", "Done.")]


def test_an_item_and_its_mirror_with_one_id_are_one_message() -> None:
    """The mirror shares the id of its response item, even where its text was rewritten."""
    assert told(
        log.meta(history_mode="paginated"),
        log.assistant_item("Done, see :ref[1].", "final_answer", id="msg_1"),
        log.completed("AgentMessage", id="msg_1", content=[{"type": "Text", "text": "Done, see 1."}]),
    ) == [("assistant.message", "Done, see :ref[1].")]


def test_the_same_words_as_commentary_and_as_answer_of_one_item_are_told_once() -> None:
    assert told(
        log.agent_event("All good.", "commentary"),
        log.assistant_item("All good.", "final_answer"),
    ) == [("assistant.message", "All good.")]


# Prompts.


def test_an_event_confirms_the_item_with_its_words_and_no_longer_one_that_holds_them() -> None:
    """Injected text of an unknown kind may happen to hold the words of a short prompt."""
    assert told(
        log.user_item("A note of the harness: say yes or no."),
        log.user_item("yes"),
        log.user_event("yes"),
        log.assistant_item("Good."),
    ) == [
        ("provider.info", "A note of the harness: say yes or no."),
        ("user.message", "yes"),
        ("assistant.message", "Good."),
    ]


def test_a_question_reply_and_its_mirror_are_one() -> None:
    answer = [{"questionItemId": json.dumps(["request_user_input_async", "q", 0]), "question": "Q", "answer": "A"}]
    reply = f"<send_user_message_question_reply>\n{json.dumps(answer)}\n</send_user_message_question_reply>"
    drafts, _ = fold(
        log.meta(history_mode="paginated"),
        log.user_item(reply, kinds=["user.text"]),
        log.completed("UserMessage", id="i", content=[{"type": "text", "text": reply + "\n"}]),
    )
    assert [(draft.kind, draft.payload["decisionId"]) for draft in drafts] == [("user.decision.response", "q:0")]


# Bytes.


@pytest.mark.parametrize(
    "record",
    [
        log.line("brand_new", {"image": BLOB}),
        log.item("message", role="user", content=[{"type": "hologram", "data": BLOB}]),
        log.completed("Extension", data=f"data:image/png;base64,{BLOB}"),
        log.event("mcp_tool_call_end", call_id="c", invocation={"server": "s", "tool": "t"},
                  result={"Ok": {"content": [{"type": "resource", "resource": {"blob": BLOB}}]}}),
        log.event("mcp_tool_call_end", call_id="c", invocation={"server": "s", "tool": "t"},
                  result={"Ok": {"content": [], "structuredContent": {"shot": BLOB}}}),
        log.output("c", [{"type": "input_hologram", "data_url": f"data:x/y;base64,{BLOB}"}]),
        log.item("image_generation_call", id="ig_1", status="completed", result=BLOB),
        log.event("image_generation_end", call_id="ig_1", status="completed", result=BLOB),
        log.user_event("look", images=[f"data:image/png;base64,{BLOB}"]),
        log.completed("UserMessage", id="i", content=[{"type": "image", "image_url": f"data:image/png;base64,{BLOB}"}]),
    ],
)  # fmt: skip
def test_no_event_holds_the_bytes_of_an_image(record: log.Record) -> None:
    drafts, _ = fold(log.meta(), record)
    assert drafts
    assert "AAAA" not in json.dumps([draft.payload for draft in drafts])


# Terminal sequences.


def test_questions_carry_no_terminal_sequences() -> None:
    red = "\x1b[31mred\x1b[0m"
    asked: dict[str, Any] = {
        "questions": [{"id": "q", "question": red, "options": [{"label": red, "description": red}]}]
    }
    drafts, _ = fold(log.call("c", "request_user_input", asked))
    assert drafts[0].payload["prompt"] == "red"
    assert drafts[0].payload["options"] == [{"id": "1", "label": "red", "description": "red"}]


def test_a_thought_of_nothing_but_terminal_sequences_is_none() -> None:
    assert told(log.event("agent_reasoning", text="\x1b[31m")) == []


# Books.


def test_an_unknown_record_that_releases_a_prompt_is_still_counted_as_unknown() -> None:
    _, translator = fold(log.meta(), log.user_item("hello"), log.event("brand_new"))
    assert translator.tally is not None
    assert translator.tally["event_msg.brand_new"].raw == 1


# State.


def test_ids_of_any_length_leave_the_state_small() -> None:
    huge = "x" * 100_000
    asked = {"questions": [{"id": huge, "question": "Q", "options": [{"label": "A"}]}]}
    _, translator = fold(
        log.meta(),
        log.started(huge),
        log.context(huge),
        log.call(huge),
        log.output(huge, "done"),
        log.call("q" + huge, "request_user_input", asked),
    )
    assert len(json.dumps(translator.save())) < 4096


def test_an_answer_to_a_question_with_a_long_id_is_found() -> None:
    huge = "x" * 1000
    asked = {"questions": [{"id": huge, "question": "Q", "options": [{"label": "A"}]}]}
    answers = json.dumps({"answers": {huge: {"answers": ["A"]}}})
    drafts, _ = fold(log.call(huge, "request_user_input", asked), log.output(huge, answers))
    assert [draft.payload["decisionId"] for draft in drafts] == [f"{huge}:0"] * 2
    assert drafts[1].payload["selections"] == ["A"]


def test_a_stated_kind_makes_a_prompt_the_users_in_a_legacy_log_too() -> None:
    """The events of a legacy log may miss a prompt; `content_item_kinds` is evidence of its own."""
    assert told(
        log.meta(),
        *log.prompt("first"),
        log.assistant_item("One."),
        log.user_item("second", kinds=["user.text"]),
        log.assistant_item("Two."),
    ) == [
        ("user.message", "first"),
        ("assistant.message", "One."),
        ("user.message", "second"),
        ("assistant.message", "Two."),
    ]


# Shapes that no version has written yet.

ODD: Any = {"type": "hologram", "text": "WORDS"}


@pytest.mark.parametrize(
    "record",
    [
        log.user_event(ODD),
        log.agent_event(ODD),
        log.item("message", role="user", content=ODD),
        log.item("message", role="assistant", content=ODD),
        log.event("agent_reasoning", text=ODD),
        log.item("reasoning", summary=[{"type": "summary_text", "text": ODD}]),
        log.item("reasoning", summary=[], content=["WORDS"]),
        log.item("agent_message", author="/a", recipient="/b", content=[ODD["text"], ODD]),
        log.completed("UserMessage", id="i", content=ODD),
        log.completed("AgentMessage", id="i", content=[{"type": "Hologram", "words": "WORDS"}]),
        log.completed("HookPrompt", id="i", fragments=[{"words": "WORDS"}]),
        log.output("c", ODD),
        log.event("exec_command_end", call_id="c", aggregated_output=ODD),
        log.event("mcp_tool_call_end", call_id="c", result={"Ok": ["WORDS"]}),
        log.line("compacted", {"message": ODD}),
        log.line("", {"type": "", "text": "WORDS"}),
    ],
)
def test_nothing_of_an_odd_record_is_lost(record: dict[str, Any]) -> None:
    drafts, translator = fold(log.meta(), record, log.done())
    assert "WORDS" in json.dumps([draft.payload for draft in drafts])
    assert all(draft.event_type for draft in drafts)
    facts = translator.facts
    assert (facts.user_messages, facts.assistant_messages) == (0, 0)
