"""Tool calls and questions of a Gemini chat, and the facts a chat leaves: usage, state, titles."""

from __future__ import annotations

from typing import Any

import pytest

from kato_tui.core.model.events import PAYLOADS
from kato_tui.core.model.facts import Usage
from kato_tui.core.providers.base import Record
from tests.unit import gemini_log as log


def results(*calls: Record) -> list[Record]:
    drafts, _ = log.fed(log.gemini(toolCalls=list(calls)))
    for draft in drafts:
        PAYLOADS[draft.kind].model_validate(draft.payload)
    return [draft.payload for draft in drafts if draft.kind == "assistant.tool.result"]


def kinds(*records: Record) -> list[str]:
    drafts, _ = log.fed(*records)
    return [draft.kind for draft in drafts]


@pytest.mark.parametrize(
    ("status", "failed"), [("success", False), ("completed", False), ("error", True), ("cancelled", True)]
)
def test_the_status_of_a_call_says_whether_it_failed(status: str, failed: bool) -> None:
    assert results(log.call(status=status))[0]["isError"] is failed


def test_an_error_response_is_the_text_of_the_result() -> None:
    failed = {"functionResponse": {"id": "c1", "response": {"error": "no such file"}}}
    assert results(log.call(result=[failed], status=None)) == [
        {"toolCallId": "c1", "text": "no such file", "isError": True}
    ]


def test_a_call_without_result_or_status_is_not_over() -> None:
    assert results(log.call(output=None)) == []


def test_a_diff_is_kept_and_the_whole_file_before_and_after_is_not() -> None:
    display = {
        "fileDiff": "@@ -1 +1 @@",
        "fileName": "a.py",
        "originalContent": "old",
        "newContent": "new",
        "isNewFile": False,
    }
    (result,) = results(log.call(output="ok", resultDisplay=display))
    assert result["json"] == {"fileDiff": "@@ -1 +1 @@", "fileName": "a.py", "isNewFile": False}


def test_todos_and_exit_codes_are_kept_as_structure() -> None:
    shell = log.call(result=[log.response("c1", "out", exitCode=0)], resultDisplay={"todos": [{"status": "done"}]})
    assert results(shell)[0]["json"] == {"exitCode": 0, "todos": [{"status": "done"}]}


def test_what_was_displayed_stands_in_where_the_result_is_empty() -> None:
    grid = [[{"text": "a", "bold": True}, {"text": "b "}], [{"text": "c"}]]
    assert results(log.call(output="", resultDisplay=grid))[0]["text"] == "ab\nc"
    assert results(log.call(output="", resultDisplay="shown"))[0]["text"] == "shown"
    assert "json" not in results(log.call(output="out", resultDisplay="shown"))[0]


def test_what_was_displayed_is_kept_beside_a_masked_result() -> None:
    (result,) = results(log.call(output="<tool_output_masked> in x.txt", resultDisplay="the output"))
    assert result["json"] == {"resultDisplay": "the output"}


def test_a_result_that_lists_its_whole_turn_keeps_only_its_own_response() -> None:
    turn = [log.response("c1", "one"), log.response("c2", "two")]
    texts = [result["text"] for result in results(log.call("c1", result=turn), log.call("c2", result=turn))]
    assert texts == ["one", "two"]


def test_bytes_in_a_result_become_a_placeholder() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "AAAA" * 50}}
    mcp = log.response("c2", "", content=[{"type": "image", "mimeType": "image/png", "data": "AAAA" * 50}])
    shown = str(results(log.call(result=[log.response("c1", "ok"), picture]), log.call("c2", result=[mcp])))
    assert "AAAA" not in shown
    assert shown.count("image/png, 150 bytes") == 2


def test_calls_without_ids_are_told_apart_by_their_place() -> None:
    drafts, _ = log.fed(log.gemini(toolCalls=[log.call(""), log.call("")]))
    assert [draft.event_id for draft in drafts] == ["g1:0", "g1:0", "g1:1", "g1:1"]


def test_a_call_that_stands_only_in_the_content_is_told() -> None:
    part = {"functionCall": {"id": "c9", "name": "glob", "args": {}}}
    assert kinds(log.gemini([part]), log.results(log.response("c9", "x"))) == [
        "assistant.tool.call",
        "assistant.tool.result",
    ]


# Questions.

PICK = log.question("Which one?", "A", "B")


def answered(*questions: Record, output: str, **fields: Any) -> list[Record]:
    drafts, _ = log.fed(log.gemini(toolCalls=[log.ask(*questions, output=output, **fields)]))
    for draft in drafts:
        PAYLOADS[draft.kind].model_validate(draft.payload)
    return [draft.payload for draft in drafts if draft.kind == "user.decision.response"]


def test_a_question_is_a_decision_prompt_with_its_options() -> None:
    drafts, _ = log.fed(log.gemini(toolCalls=[log.ask(PICK)]))
    assert [draft.payload for draft in drafts] == [
        {
            "decisionId": "q1:0",
            "decisionKey": "Pick",
            "prompt": "Which one?",
            "options": [
                {"id": "1", "label": "A", "description": "about A"},
                {"id": "2", "label": "B", "description": "about B"},
            ],
        }
    ]


def test_answers_name_their_questions() -> None:
    text = log.question("Name?", type="text")
    assert answered(PICK, text, output='{"answers":{"0":"B","1":"kato"}}') == [
        {"decisionId": "q1:0", "selections": ["B"]},
        {"decisionId": "q1:1", "selections": [], "freeText": "kato"},
    ]


def test_a_multiple_choice_is_cut_into_labels_and_own_words() -> None:
    several = log.question("Which?", "A", "B", multiSelect=True)
    assert answered(several, output='{"answers":{"0":"A, B, mine"}}') == [
        {"decisionId": "q1:0", "selections": ["A", "B"], "freeText": "mine"}
    ]


@pytest.mark.parametrize(
    ("output", "status"),
    [("User dismissed ask_user dialog without answering.", "success"), ("[Operation Cancelled]", "cancelled")],
)
def test_a_dismissed_question_is_answered_with_nothing(output: str, status: str) -> None:
    assert answered(PICK, output=output, status=status) == [{"decisionId": "q1:0", "selections": []}]


def test_an_answer_in_a_turn_of_its_own_is_the_same_answer() -> None:
    part = {"functionCall": {"id": "q1", "name": "ask_user", "args": {"questions": [PICK]}}}
    reply = log.results(log.response("q1", '{"answers":{"0":"A"}}', "ask_user"))
    drafts, _ = log.fed(log.gemini([part]), reply)
    assert drafts[1].payload == {"decisionId": "q1:0", "selections": ["A"]}


def test_the_answer_told_with_its_call_is_not_told_again_as_a_tool_result() -> None:
    output = '{"answers":{"0":"A"}}'
    reply = log.results(log.response("q1", output, "ask_user"))
    assert kinds(log.gemini(toolCalls=[log.ask(PICK, output=output)]), reply) == [
        "assistant.decision.prompt",
        "user.decision.response",
    ]


def test_questions_that_cannot_be_read_stay_a_plain_tool_call() -> None:
    assert kinds(log.gemini(toolCalls=[log.ask({"odd": 1}, output="x")])) == [
        "assistant.tool.call",
        "assistant.tool.result",
    ]


def test_a_plan_approval_keeps_the_users_feedback() -> None:
    text = "Plan rejected. User feedback: smaller steps\n\nThe plan is stored at: /p.md"
    drafts, _ = log.fed(log.gemini(toolCalls=[log.call("p1", "exit_plan_mode", text, args={"plan_path": "/p.md"})]))
    assert [draft.payload for draft in drafts][1] == {
        "decisionId": "p1:0",
        "selections": ["Reject"],
        "freeText": "smaller steps",
    }


# Facts.


def test_the_tokens_of_a_message_count_once_and_the_last_value_wins() -> None:
    _, made = log.fed(
        log.gemini("a", tokens=log.tokens(100, 5, cached=40, thoughts=3)),
        log.gemini("a", tokens=None),
        log.gemini("a", tokens=log.tokens(100, 7, cached=40, thoughts=3)),
        log.gemini("b", id="g2", tokens=log.tokens(120, 1)),
    )
    assert made.facts.usage == Usage(input=180, output=11, cache_read=40, reasoning=3, total=231)
    assert made.facts.context_tokens == 120


def test_each_message_and_call_is_counted_once() -> None:
    turn = [log.user("hi"), log.gemini("a"), log.gemini("a", toolCalls=[log.call()])]
    _, made = log.fed(*turn, log.replaced(*turn), turn[2])
    assert (made.facts.user_messages, made.facts.assistant_messages, made.facts.tool_calls) == (1, 1, 1)


def test_the_summary_names_the_session() -> None:
    _, made = log.fed(log.user("do it"), {"$set": {"summary": "A better name"}}, {"$set": {"directories": ["/w"]}})
    assert (made.facts.title, made.facts.title_source, made.facts.cwd) == ("A better name", "summary", "/w")


def test_the_session_context_names_the_working_directory() -> None:
    context = "<session_context>\n- **Workspace Directories:**\n  - /home/me/app\n</session_context>"
    _, made = log.fed(log.header(), log.user(context))
    assert made.facts.cwd == "/home/me/app"
    assert made.facts.resume_ids == [log.SESSION]


def test_activity_spans_the_trusted_times() -> None:
    _, made = log.fed(log.header(), log.user("hi", minute=3), log.updated(50))
    assert (made.facts.first_activity, made.facts.last_activity) == (log.at(0), log.at(3))


READ, WAITING = log.call(), log.call(output=None)


@pytest.mark.parametrize(
    ("records", "state"),
    [
        ([], ("needs-you", "idle", None)),
        ([log.user("hi")], ("working", "thinking", None)),
        ([log.user("<session_context>x")], ("needs-you", "idle", None)),
        ([log.user("hi"), log.gemini("done")], ("needs-you", "idle", None)),
        ([log.gemini("")], ("working", "acting", None)),
        ([log.gemini("x", toolCalls=[READ])], ("working", "thinking", None)),
        ([log.gemini("x", toolCalls=[READ, WAITING])], ("working", "acting", "read_file")),
        ([log.gemini("x", toolCalls=[log.call(status="cancelled")])], ("needs-you", "idle", None)),
        ([log.gemini("x", toolCalls=[log.ask(PICK)])], ("needs-you", "decision", "ask_user")),
        ([log.gemini("x", toolCalls=[WAITING]), log.results(log.response("c1", "1"))], ("working", "thinking", None)),
        ([log.user("hi"), log.notice("info", "Request cancelled.")], ("needs-you", "idle", None)),
        ([log.user("hi"), log.notice("info", "Update available")], ("working", "thinking", None)),
        ([log.user("hi"), log.notice("error", "429")], ("needs-you", "idle", None)),
        ([log.user("hi"), log.rewind("u1")], ("needs-you", "idle", None)),
        ([log.user("hi"), log.updated()], ("working", "thinking", None)),
        (
            [log.user("hi"), log.notice("info", "Request cancelled."), log.replaced(log.user("hi"))],
            ("needs-you", "idle", None),
        ),
    ],
)
def test_the_last_meaningful_record_decides_the_agent_state(
    records: list[Record], state: tuple[str, str, str | None]
) -> None:
    _, made = log.fed(*records)
    found = made.facts.agent_state
    assert (found.state, found.reason, found.tool) == state


def test_a_response_with_a_result_of_its_own_and_odd_parts_is_read() -> None:
    odd = {"functionResponse": {"id": "c1", "name": "x", "response": {"result": "7"}, "parts": [{"unheard": 1}]}}
    drafts, _ = log.fed(log.gemini("", toolCalls=[log.call(result=[odd])]))
    assert drafts[1].payload["json"] == {"result": "7", "parts": [{"unheard": 1}]}
