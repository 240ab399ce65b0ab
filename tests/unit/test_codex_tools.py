"""Codex tools and questions: calls, results, and the events that say them again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit import codex_log as log
from tests.unit.test_codex import fold


def payloads(*records: log.Record) -> list[tuple[str, Any]]:
    return [(draft.kind.removeprefix("assistant.tool."), draft.payload) for draft in fold(*records)[0]]


def test_a_call_and_its_output_name_the_same_id() -> None:
    text = "Chunk ID: 1\nProcess exited with code 2\nOutput:\nno"
    assert payloads(log.call("c", arguments={"cmd": "ls"}), log.output("c", text)) == [
        ("call", {"toolCallId": "c", "name": "exec_command", "input": {"cmd": "ls"}}),
        ("result", {"toolCallId": "c", "text": text, "isError": True}),
    ]


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ("plain", {"text": "plain"}),
        ({"content": "x", "success": False}, {"text": "x", "isError": True}),
        (
            json.dumps({"output": "x", "metadata": {"exit_code": 0}}, separators=(",", ":")),
            {"text": "x", "json": {"exit_code": 0}, "isError": False},
        ),
        ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], {"text": "a\nb"}),
        ("\x1b[31mred\x1b[0m", {"text": "red"}),
    ],
)
def test_every_output_shape_is_read(given: Any, fields: log.Record) -> None:
    assert payloads(log.output("c", given)) == [("result", {"toolCallId": "c"} | fields)]


def test_an_image_in_an_output_is_only_described() -> None:
    [(_, payload)] = payloads(log.output("c", [{"type": "input_image", "image_url": "data:image/png;base64,aGk="}]))
    assert payload["text"].startswith("[image/png, 2 bytes")


def test_unreadable_arguments_are_kept_as_text() -> None:
    [(_, payload)] = payloads(log.item("function_call", call_id="c", name="x", arguments="{broken"))
    assert payload["input"] == {"arguments": "{broken"}


def test_mcp_tools_are_named_by_server_and_tool() -> None:
    records = (
        log.item("function_call", call_id="c", name="find", namespace="mcp__docs", arguments="{}"),
        log.event(
            "mcp_tool_call_end", call_id="d", invocation={"server": "docs", "tool": "find"}, result={"Err": "no"}
        ),
    )
    found = payloads(*records)
    assert [payload["name"] for kind, payload in found if kind == "call"] == ["mcp__docs__find"] * 2
    assert found[-1][1] == {"toolCallId": "d", "text": "no", "isError": True}


def test_an_end_event_and_the_output_are_one_result() -> None:
    records = (
        log.item("custom_tool_call", call_id="c", name="apply_patch", input="*** Begin Patch"),
        log.event("patch_apply_end", call_id="c", stdout="Success.", success=True, changes={"a": {"type": "add"}}),
        log.item("custom_tool_call_output", call_id="c", output="Exit code: 0"),
    )
    assert [kind for kind, _ in payloads(*records)] == ["call", "result"]


def test_a_command_that_outlives_its_first_result_gets_a_second_one() -> None:
    records = (
        log.call("c"),
        log.output("c", "Process running with session ID 5\nOutput:\n"),
        log.event("exec_command_end", call_id="c", aggregated_output="all", exit_code=0),
    )
    drafts, _ = fold(*records)
    assert [d.payload.get("text") for d in drafts[1:]] == ["Process running with session ID 5\nOutput:\n", "all"]
    assert drafts[1].event_type != drafts[2].event_type


def test_a_web_search_is_linked_to_its_event_by_what_it_did() -> None:
    action = {"type": "search", "query": "x"}
    records = (
        log.event("web_search_end", call_id="ws_1", query="x", action=action),
        log.item("web_search_call", status="completed", action=action),
    )
    drafts, translator = fold(*records)
    assert [(d.kind, d.event_id) for d in drafts] == [("assistant.tool.call", "ws_1")]
    assert translator.facts.agent_state.reason == "thinking"


def test_a_generated_image_is_never_kept() -> None:
    found = payloads(log.item("image_generation_call", id="ig", status="completed", result="A" * 999))
    assert "AAAA" not in str(found)


def test_a_dynamic_tool_is_told_once() -> None:
    records = (
        log.call("c", "load"),
        log.event("dynamic_tool_call_request", callId="c", tool="load", arguments={}),
        log.event(
            "dynamic_tool_call_response", call_id="c", content_items=[{"type": "inputText", "text": "x"}], success=True
        ),
        log.output("c", "x"),
    )
    assert [kind for kind, _ in payloads(*records)] == ["call", "result"]


QUESTION = {
    "id": "db",
    "header": "Database",
    "question": "Which one?",
    "isOther": True,
    "options": [{"label": "Postgres", "description": "big"}, {"label": "SQLite"}],
}


def test_questions_become_decisions_and_answers_responses() -> None:
    secret = {"id": "key", "question": "Key?", "isSecret": True}
    answers = {"db": {"answers": ["SQLite", "user_note: small"]}, "key": {"answers": ["hunter2"]}}
    drafts, translator = fold(
        log.call("c", "request_user_input", {"questions": [QUESTION, secret]}),
        log.output("c", json.dumps({"answers": answers})),
    )
    assert drafts[0].payload == {
        "decisionId": "c:0",
        "decisionKey": "db",
        "providerQuestionId": "db",
        "prompt": "Which one?",
        "options": [
            {"id": "1", "label": "Postgres", "description": "big"},
            {"id": "2", "label": "SQLite"},
            {"id": "other", "label": "Other"},
        ],
    }
    assert [d.payload for d in drafts[2:]] == [
        {"decisionId": "c:0", "providerQuestionId": "db", "selections": ["SQLite"], "freeText": "small"},
        {"decisionId": "c:1", "providerQuestionId": "key", "selections": ["[secret]"]},
    ]
    assert translator.facts.agent_state.reason == "thinking"


def test_an_open_question_needs_the_user() -> None:
    _, translator = fold(log.started(), log.call("c", "request_user_input", {"questions": [QUESTION]}))
    assert (translator.facts.agent_state.state, translator.facts.agent_state.reason) == ("needs-you", "decision")


def test_a_cancelled_question_keeps_its_plain_result() -> None:
    drafts, _ = fold(log.call("c", "request_user_input", {"questions": [QUESTION]}), log.output("c", "cancelled"))
    assert [d.kind for d in drafts] == ["assistant.decision.prompt", "assistant.tool.result"]


def test_unreadable_questions_stay_a_tool_call() -> None:
    assert [kind for kind, _ in payloads(log.call("c", "request_user_input", {"questions": "?"}))] == ["call"]


def test_an_asynchronous_answer_arrives_as_a_user_message() -> None:
    entry = {"questionItemId": json.dumps(["request_user_input_async", "c", 0]), "question": "?", "answer": "Redis"}
    reply = f"<send_user_message_question_reply>\n{json.dumps([entry])}\n</send_user_message_question_reply>"
    asked = (log.call("c", "request_user_input_async", {"questions": [QUESTION]}), log.output("c", '{"accepted":true}'))
    drafts, translator = fold(log.started(), *asked, log.done())
    assert [d.kind for d in drafts] == ["assistant.decision.prompt"]
    assert translator.facts.agent_state.reason == "decision"
    drafts, translator = fold(*asked, log.user_item(reply), log.user_event(reply), log.started(), log.done())
    assert [d.kind for d in drafts] == ["assistant.decision.prompt", "user.decision.response"]
    assert drafts[1].payload == {
        "decisionId": "c:0",
        "providerQuestionId": "db",
        "selections": [],
        "freeText": "Redis",
    }
    assert translator.facts.agent_state.reason == "idle"
