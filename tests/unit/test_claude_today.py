"""Records that Claude Code began to write in the summer and autumn of 2026 (2.1.24x to 2.1.29x)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit import claude_log as claude
from tests.unit.claude_run import run, state, told

_BOOKKEEPING = [
    {"type": "atis-latch", "atis": "x", "sessionId": claude.SESSION},
    {"type": "cost-state", "totalCostUSD": 0.5, "modelUsage": {"m": {"inputTokens": 5}}, "sessionId": claude.SESSION},
    {"type": "worktree-state", "worktreeSession": None, "sessionId": claude.SESSION},
    {"type": "content-replacement", "replacements": [], "sessionId": claude.SESSION},
    {"type": "started", "key": "v2:1", "agentId": "a1"},
    claude.attachment("prompt_snapshot", systemPrompt="You are …", tools=[{"name": "Bash"}]),
    claude.attachment("environment", cwd="/w"),
    claude.attachment("async_hook_response", hookName="lint", response=""),
    claude.system("api_metrics", ttftMs=1),
]


@pytest.mark.parametrize("record", _BOOKKEEPING)
def test_book_keeping_is_left_out_and_not_called_unknown(record: dict[str, Any]) -> None:
    translator, drafts = run(record)
    assert drafts == []
    assert translator.facts.unknown_types == {}


def test_a_session_that_was_moved_belongs_to_its_new_folder() -> None:
    moved = {"type": "relocated", "relocatedCwd": "/w/.claude/worktrees/x", "sessionId": claude.SESSION}
    translator, _ = run(*claude.conversation("hi", "hello"), moved, moved)
    assert translator.facts.cwd == "/w/.claude/worktrees/x"


def test_a_conversation_that_goes_on_elsewhere_says_where() -> None:
    there = "1f1f1f1f-0000-4000-8000-000000000002"
    record = {"type": "continued-in", "timestamp": claude.at(9), "continuedInSessionId": there}
    assert told(record) == [("provider.info", f"The conversation goes on in session {there}")]
    assert state(claude.typed("go"), record) == ("needs-you", "idle", None)


def test_a_published_page_is_told_once() -> None:
    page = {"type": "frame-link", "title": "Report", "frameUrl": "https://example.org/r", "artifactCount": 1}
    assert told(page, page) == [("provider.info", "Report: https://example.org/r")]


@pytest.mark.parametrize(
    ("subtype", "fields", "text"),
    [
        ("scheduled_task_fire", {"content": "Running scheduled task"}, "Running scheduled task"),
        ("agents_killed", {}, "Background agents were stopped"),
        ("model_refusal_no_fallback", {"content": "No answer to this"}, "No answer to this"),
    ],
)
def test_new_notices_are_told(subtype: str, fields: dict[str, Any], text: str) -> None:
    assert told(claude.system(subtype, **fields)) == [("system.message", text)]


def test_the_result_of_any_tool_at_the_api_is_a_tool_result() -> None:
    result = {"type": "advisor_tool_result", "tool_use_id": "srv_1", "content": {"type": "advisor_result"}}
    call = {"type": "server_tool_use", "id": "srv_1", "name": "advisor", "input": {}}
    kinds = [kind for kind, _ in told(claude.assistant(call, result))]
    assert kinds == ["assistant.tool.call", "assistant.tool.result"]


def paste(words: str, mark: str = "9b65") -> str:
    return f'\n\n<pasted_content id="{mark}">\n{words}\n</pasted_content id="{mark}">\n'


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (paste("first line\n\nsecond line"), "first line\n\nsecond line"),
        (f"why does this fail?{paste('Error: 7')}\n thanks", "why does this fail?\n\nError: 7\n\n thanks"),
        (paste("one") + paste("two", "4bd7"), "one\n\ntwo"),
        ('what does <pasted_content id="1"> mean?', 'what does <pasted_content id="1"> mean?'),
        ('<pasted_content id="1">\nnever closed', '<pasted_content id="1">\nnever closed'),
    ],
)
def test_what_was_pasted_stands_without_the_marks_for_the_model(prompt: str, text: str) -> None:
    translator, drafts = run(claude.typed(prompt))
    assert [draft.payload["text"] for draft in drafts] == [text]
    assert "pasted_content" not in (translator.facts.title or "") or prompt == text


def test_a_command_in_a_pasted_text_is_not_run_and_one_beside_it_is() -> None:
    log = "```sh\n::stop\nexit 1"
    kinds = [kind for kind, _ in told(claude.typed(f"look at this{paste(log)}\n::start notes.md"))]
    assert kinds == ["user.message", "user.kato-command"]


def test_a_command_that_was_pasted_by_itself_is_run() -> None:
    assert [kind for kind, _ in told(claude.typed(paste("::start ~/notes/x.md")))] == ["user.kato-command"]


def test_pasted_text_that_waited_in_the_queue_is_shown_once() -> None:
    prompt = "see" + paste("Error: 7")
    log = (claude.queue("enqueue", prompt), claude.queue("remove", prompt), claude.queued(prompt))
    assert told(*log) == [("user.message", "see\n\nError: 7")]


def absorbed(content: str | None = None) -> dict[str, Any]:
    return claude.queue("remove", content, reason="absorbed_mid_turn", commandUuid="c1")


def from_peer(prompt: str) -> dict[str, Any]:
    origin = {"kind": "peer", "from": "other"}
    return claude.attachment("queued_command", prompt=prompt, commandMode="prompt", origin=origin, source_uuid="c1")


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("attached_first", [True, False])
def test_the_words_of_another_agent_that_came_mid_turn_are_not_the_users(named: bool, attached_first: bool) -> None:
    """The queue record comes first and does not say who wrote it: it may even hold a command."""
    words = "please do this\n::start"
    ends = [absorbed(words if named else None), from_peer(words)]
    log = [claude.queue("enqueue", words), *(reversed(ends) if attached_first else ends)]
    assert told(*log, claude.assistant(claude.text("Done."))) == [
        ("provider.info", words),
        ("assistant.message", "Done."),
    ]


def test_a_message_between_sessions_is_not_the_users() -> None:
    words = '<cross-session-message from="other">\n::stop\n</cross-session-message>'
    assert told(claude.queue("enqueue", words), claude.queue("remove", words)) == [("provider.info", words)]


def test_a_prompt_that_only_the_queue_has_is_shown_before_the_answer() -> None:
    """The desktop app hands it to the model in a tool result, without an attachment."""
    log = [claude.queue("enqueue", "also this"), absorbed("also this"), claude.assistant(claude.text("Done."))]
    assert told(*log) == [("user.message", "also this"), ("assistant.message", "Done.")]


def test_a_notice_in_the_middle_does_not_take_the_place_of_a_prompt() -> None:
    note = "<task-notification>\ndone</task-notification>"
    log = [
        claude.queue("enqueue", "also this"),
        absorbed("also this"),
        claude.attachment("queued_command", prompt=note, commandMode="task-notification"),
        claude.assistant(claude.text("Done.")),
    ]
    assert [text for kind, text in told(*log) if kind == "user.message"] == ["also this"]


def test_a_message_for_an_agent_that_is_gone_was_not_sent() -> None:
    assert told(claude.queue("enqueue", "look there"), claude.queue("remove", reason="agent_stopped")) == []


def test_a_queue_goes_with_the_program_that_held_it() -> None:
    """What waits when it dies was never sent, and must not be taken for what leaves the queue later."""
    log = [
        claude.queue("enqueue", "never sent"),
        claude.typed("back again"),
        claude.queue("enqueue", "sent"),
        claude.queue("remove"),
    ]
    assert told(*log) == [("user.message", "back again"), ("user.message", "sent")]


def test_a_prompt_whose_queue_record_is_forgotten_is_shown_once() -> None:
    log = [
        claude.queue("enqueue", "one"),
        claude.typed("two"),
        claude.queued("one"),
        absorbed("one"),
        claude.assistant(claude.text("Done.")),
    ]
    assert [text for kind, text in told(*log) if kind == "user.message"] == ["two", "one"]


def test_what_the_harness_adds_does_not_take_the_place_of_a_prompt() -> None:
    log = [
        claude.queue("enqueue", "next"),
        claude.queue("dequeue"),
        claude.user("Base directory for this skill: /s", isMeta=True),
        claude.assistant(claude.text("Done.")),
    ]
    assert [text for kind, text in told(*log) if kind == "user.message"] == ["next"]


def test_a_prompt_does_not_take_the_place_of_one_that_came_mid_turn() -> None:
    log = [claude.queue("enqueue", "also"), absorbed("also"), claude.typed("new"), claude.assistant(claude.text("Ok."))]
    assert sorted(text for kind, text in told(*log) if kind == "user.message") == ["also", "new"]


def test_a_question_that_was_dismissed_has_no_answer_and_what_was_said_instead() -> None:
    asked = claude.assistant(claude.call(name="AskUserQuestion", questions=[claude.question("Which?", "A", "B")]))
    answer = claude.result(claude.refusal("neither\n::stop"), error=True)
    _, drafts = run(asked, answer)
    assert [(draft.kind, draft.payload.get("selections")) for draft in drafts[1:]] == [
        ("user.decision.response", []),
        ("user.message", None),
        ("user.kato-command", None),
    ]
    assert [kind for kind, _ in told(asked, claude.result(claude.refusal(), error=True))][1:] == [
        "user.decision.response"
    ]


def test_an_answer_that_was_pasted_stands_without_the_marks() -> None:
    asked = claude.assistant(claude.call(name="AskUserQuestion", questions=[claude.question("Which?", "A", "B")]))
    given = {"answers": {"Which?": paste("neither")}}
    assert run(asked, claude.result("answered", toolUseResult=given))[1][1].payload["freeText"] == "neither"


def test_what_another_session_says_between_turns_names_who_sent_it() -> None:
    words = "Another Claude session sent a message:\n<cross-session-message>hi</cross-session-message>"
    _, drafts = run(claude.user(words, isMeta=True, origin={"kind": "peer"}))
    assert [(draft.kind, draft.payload["subtype"]) for draft in drafts] == [("provider.info", "peer")]
    _, drafts = run(claude.user("skill text", isMeta=True, origin={"kind": "human"}))
    assert [draft.payload["subtype"] for draft in drafts] == ["meta"]
