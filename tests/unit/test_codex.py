"""Codex logs: who said what, in every format generation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kato_tui.core.model.events import PAYLOADS
from kato_tui.core.model.facts import AgentState, Usage
from kato_tui.core.providers.base import Draft, SourceFile
from kato_tui.core.providers.codex import Codex
from kato_tui.core.providers.codex.translator import CodexTranslator
from tests.unit import codex_log as log


def fold(*records: log.Record, kind: Any = "main") -> tuple[list[Draft], CodexTranslator]:
    translator = Codex().translator(SourceFile("codex", log.THREAD, Path("r.jsonl"), kind=kind))
    translator.tally = {}
    drafts: list[Draft] = []
    cursor = 0
    for line in log.lines(*records).splitlines():
        drafts += translator.feed(line, cursor)
        cursor += len(line) + 1
    for draft in drafts:
        PAYLOADS[draft.kind].model_validate(draft.payload)
    for row in translator.tally.values():
        assert row.read == row.translated + row.dropped + row.repeated + row.raw + row.invalid
    return drafts, translator


def told(*records: log.Record, kind: Any = "main") -> list[tuple[str, str]]:
    drafts, _ = fold(*records, kind=kind)
    return [(draft.kind, draft.payload.get("text", draft.payload.get("name", ""))) for draft in drafts]


# Authorship.


def test_a_legacy_prompt_is_told_once_although_item_and_event_say_it() -> None:
    assert told(log.meta(), *log.prompt(" hi\n")) == [("user.message", " hi\n")]


def test_an_event_without_response_item_is_a_prompt() -> None:
    assert told(log.user_event("hi"), log.user_event("hi")) == [("user.message", "hi"), ("user.message", "hi")]


def test_a_held_prompt_without_event_comes_out_when_the_assistant_answers() -> None:
    records = (log.user_item("hi"), log.context(), log.assistant_item("yes"))
    assert told(*records) == [("user.message", "hi"), ("assistant.message", "yes")]


def test_tokens_and_settings_between_item_and_event_do_not_decide() -> None:
    records = (log.user_item("hi"), log.tokens(5), log.context(), log.user_event("hi"))
    assert told(*records) == [("user.message", "hi")]


def test_an_unconfirmed_text_is_information_in_a_log_with_user_events() -> None:
    records = (*log.prompt("hi"), log.user_item("some new harness text"), log.assistant_item("yes"))
    assert [kind for kind, _ in told(*records)] == ["user.message", "provider.info", "assistant.message"]


def test_an_unknown_injected_block_before_the_first_prompt_is_not_the_users() -> None:
    records = (log.user_item("new harness text"), *log.prompt("hi"))
    assert told(*records) == [("provider.info", "new harness text"), ("user.message", "hi")]


def test_the_same_prompt_typed_twice_is_told_twice() -> None:
    assert told(*log.prompt("go"), *log.prompt("go")) == [("user.message", "go")] * 2


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n<cwd>/w</cwd>\n</environment_context>",
        "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
        "<user_instructions>x</user_instructions>",
        "<external_notes>x</external_notes>",
        "<recommended_plugins>x</recommended_plugins>",
    ],
)
def test_injected_context_is_dropped(text: str) -> None:
    assert told(log.user_item(text), log.bare(log.user_item(text)), log.assistant_item("a")) == [
        ("assistant.message", "a")
    ]


@pytest.mark.parametrize("text", ["<skill>x</skill>", "Warning: apply_patch was requested via exec"])
def test_injected_text_worth_keeping_is_information(text: str) -> None:
    assert told(log.user_item(text)) == [("provider.info", text)]


def test_a_prompt_behind_an_injected_block_is_kept() -> None:
    text = "<environment_context>x</environment_context>\nfix it"
    assert told(log.bare(log.user_item(text))) == [("user.message", "\nfix it")]


def test_developer_text_is_never_a_message() -> None:
    assert told(log.item("message", role="developer", content=[{"type": "input_text", "text": "x"}])) == []


@pytest.mark.parametrize(
    ("preamble", "marker"),
    [
        ("# Context from my IDE setup:\n\n## Active file: a.py\n\n", "## My request for Codex:\n"),
        ("\n# Files mentioned by the user:\n\n## a.txt: /w/a.txt\n\n", "## My request:\n"),
        ("", "## My request for Codex:\n"),
    ],
)
def test_the_ide_preamble_is_stripped(preamble: str, marker: str) -> None:
    drafts, _ = fold(*log.prompt(preamble + marker + " do it \n"))
    assert [draft.payload["text"] for draft in drafts] == [" do it \n"]


def test_files_named_in_the_preamble_become_attachments() -> None:
    text = "# Files mentioned by the user:\n\n## a b.png: /w/a b.png\n\n## My request for Codex:\nuse it"
    drafts, _ = fold(*log.prompt(text))
    assert drafts[0].payload["attachments"] == [{"mediaType": "image/png", "name": "/w/a b.png"}]


def test_a_quoted_marker_in_a_users_own_text_is_kept() -> None:
    text = "what does\n## My request for Codex:\nmean?"
    assert told(*log.prompt(text)) == [("user.message", text)]


def test_an_image_is_kept_as_facts_and_its_label_dropped() -> None:
    content = [
        {"type": "input_text", "text": "look"},
        {"type": "input_text", "text": '<image name=[Image #1] path="/w/a.png">'},
        {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
        {"type": "input_text", "text": "</image>"},
    ]
    drafts, _ = fold(
        log.item("message", role="user", content=content), log.user_event("look", local_images=["/w/a.png"])
    )
    [draft] = drafts
    assert draft.payload["text"] == "look"
    [facts] = draft.payload["attachments"]
    assert (facts["mediaType"], facts["size"], facts["name"]) == ("image/png", 2, "/w/a.png")


def test_a_shell_command_is_the_users_and_its_result_information() -> None:
    result = "<result>\nExit code: 0\nOutput:\na\n</result>"
    text = f"<user_shell_command>\n<command>\nls\n</command>\n{result}\n</user_shell_command>"
    assert told(log.user_item(text)) == [("user.message", "!ls"), ("provider.info", "Exit code: 0\nOutput:\na")]


def test_chat_commands_become_commands() -> None:
    assert [kind for kind, _ in told(*log.prompt("::start"))] == ["user.kato-command"]


def test_the_prompts_of_a_review_are_codexs_own_and_told_once() -> None:
    records = (
        log.event("entered_review_mode", target={"type": "uncommittedChanges"}, user_facing_hint="changes"),
        log.started(),
        log.user_event("Review the changes"),
        log.user_event("Review the changes"),
        log.event("exited_review_mode", review_output={"overall_correctness": "ok", "findings": []}),
        *log.prompt("fix"),
    )
    assert told(*records) == [
        ("system.message", "Review started: changes"),
        ("provider.info", "Review the changes"),
        ("system.message", "Review finished: ok"),
        ("user.message", "fix"),
    ]


# Paginated logs.


def test_a_paginated_prompt_and_its_mirror_are_one() -> None:
    records = (
        log.meta(history_mode="paginated"),
        log.user_item("hi", kinds=["user.text"], id="msg_1"),
        log.completed("UserMessage", id="u1", content=[{"type": "text", "text": "hi"}]),
    )
    drafts, _ = fold(*records)
    assert [(d.kind, d.payload["text"], d.event_id) for d in drafts] == [("user.message", "hi", "msg_1")]


def test_a_paginated_prompt_without_mirror_or_without_item_is_kept() -> None:
    records = (
        log.meta(history_mode="paginated"),
        log.user_item("one"),
        log.completed("UserMessage", id="u2", content=[{"type": "text", "text": "two"}]),
    )
    assert told(*records) == [("user.message", "one"), ("user.message", "two")]


def test_a_stated_kind_decides_before_any_filter() -> None:
    records = (
        log.meta(history_mode="paginated"),
        log.user_item("plain words", kinds=["environments.environment_context"]),
        log.user_item("<skill>my own tag</skill>", kinds=["user.text"]),
    )
    assert told(*records) == [("user.message", "<skill>my own tag</skill>")]


def test_a_command_run_in_code_mode_is_a_call_and_a_result() -> None:
    fields: log.Record = {
        "id": "exec-1",
        "command": ["ls"],
        "aggregated_output": "a\n",
        "exit_code": 1,
        "status": "failed",
    }
    drafts, _ = fold(log.completed("CommandExecution", **fields))
    assert [d.kind for d in drafts] == ["assistant.tool.call", "assistant.tool.result"]
    assert drafts[1].payload["text"] == "a\n"
    assert drafts[1].payload["isError"] is True


def test_a_hook_prompt_is_information_once() -> None:
    records = (
        log.completed("HookPrompt", fragments=[{"text": "keep going"}]),
        log.user_item("<hook_prompt hook_run_id=1>keep going</hook_prompt>"),
    )
    assert told(*records) == [("provider.info", "keep going")]


# The assistant.


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_an_assistant_message_is_told_once_in_whatever_order(order: tuple[int, ...]) -> None:
    forms = (
        log.agent_event("yes", "commentary"),
        log.assistant_item("yes", "commentary", id="msg_1"),
        log.completed("AgentMessage", id="msg_1", content=[{"type": "Text", "text": "yes"}], phase="commentary"),
    )
    drafts, _ = fold(log.started(), *(forms[index] for index in order))
    assert [draft.payload for draft in drafts] == [{"text": "yes", "phase": "commentary"}]


def test_the_same_answer_twice_in_a_turn_is_told_twice() -> None:
    pair = (log.agent_event("ok"), log.assistant_item("ok"))
    assert told(*pair, *pair) == [("assistant.message", "ok")] * 2


def test_a_proposed_plan_is_told_once() -> None:
    records = (
        log.completed("Plan", text="1. do"),
        log.assistant_item("Here:\n<proposed_plan>1. do</proposed_plan>"),
    )
    assert told(*records) == [("assistant.message", "1. do"), ("assistant.message", "Here:\n")]


def test_reasoning_is_told_once_per_section() -> None:
    summary = [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]
    records = (
        log.event("agent_reasoning", text="a"),
        log.item("reasoning", summary=summary, encrypted_content="x"),
        log.event("agent_reasoning", text="b"),
    )
    assert told(*records) == [("assistant.thinking", "a"), ("assistant.thinking", "b")]


def test_reasoning_that_repeats_its_earlier_steps_tells_only_the_new_one() -> None:
    steps = ["a", "b", "c"]
    records = []
    for count in (2, 3):
        records += [log.event("agent_reasoning", text=step) for step in steps[:count]]
        summary = [{"type": "summary_text", "text": step} for step in steps[:count]]
        records.append(log.item("reasoning", summary=summary))
    told_thoughts = [("assistant.thinking", step) for step in steps]
    assert told(*records) == told_thoughts
    # After something was done the same thought is a new one.
    again = [log.agent_event("Looking."), log.event("agent_reasoning", text="a")]
    assert told(*records, *again) == [*told_thoughts, ("assistant.message", "Looking."), ("assistant.thinking", "a")]


def test_encrypted_reasoning_is_dropped() -> None:
    assert told(log.item("reasoning", summary=[], encrypted_content="x")) == []


def test_inter_agent_mail_is_information() -> None:
    mail = log.item("agent_message", author="/a", recipient="/b", content=[{"type": "input_text", "text": "hi"}])
    assert told(mail) == [("provider.info", "/a -> /b\nhi")]


# Other formats.


def test_a_bare_log_has_no_times() -> None:
    drafts, translator = fold(
        log.bare_meta(), {"record_type": "state"}, log.bare(log.user_item("hi")), log.bare(log.assistant_item("yes"))
    )
    assert [(d.kind, d.timestamp) for d in drafts] == [("user.message", None), ("assistant.message", None)]
    assert translator.facts.last_activity is None
    assert translator.facts.resume_ids == [log.THREAD]
    assert translator.facts.agent_state == AgentState()


def test_a_typescript_document_is_read_item_by_item() -> None:
    translator = Codex().translator(SourceFile("codex", log.THREAD, Path("r.json"), layout="document"))
    document = {
        "session": {"timestamp": log.TIME, "id": log.THREAD, "instructions": ""},
        "items": [log.bare(log.user_item("hi")), log.bare(log.assistant_item("yes"))],
    }
    drafts = translator.feed_document(log.lines(document)) or []
    assert [(d.kind, d.cursor) for d in drafts] == [("user.message", 1), ("assistant.message", 2)]
    assert translator.feed_document(log.lines(document)) == []
    assert translator.feed_document(b'{"session"') is None


def test_an_unknown_record_and_an_unknown_block_are_kept_raw() -> None:
    block = {"type": "hologram", "data": 1}
    drafts, translator = fold(
        log.line("novelty", {"a": 1}),
        log.completed("Extension", data=1),
        log.item("message", role="assistant", content=[block, {"type": "output_text", "text": "hi"}]),
    )
    assert [d.kind for d in drafts] == ["provider.raw", "provider.raw", "provider.raw", "assistant.message"]
    assert drafts[2].payload["raw"] == block
    assert set(translator.facts.unknown_types) == {
        "novelty",
        "event_msg.item_completed.Extension",
        "assistant content hologram",
    }


# Facts.


def test_the_first_meta_gives_the_facts_and_a_repeat_changes_nothing() -> None:
    _, translator = fold(
        log.meta(git={"branch": "main"}, model_provider="openai"), log.context(), log.meta(cwd="/elsewhere")
    )
    facts = translator.facts
    assert (facts.cwd, facts.git_branch, facts.cli_version) == ("/w", "main", "0.140.0")
    assert (facts.model, facts.model_provider, facts.resume_ids) == ("gpt-5.5", "openai", [log.THREAD])


def test_a_repeated_meta_names_the_branch_of_its_day() -> None:
    _, translator = fold(log.meta(git={"branch": "main"}), log.context(), log.meta(git={"branch": "feature"}))
    assert translator.facts.git_branch == "feature"


def test_a_thread_name_ranks_above_the_first_prompt() -> None:
    _, translator = fold(*log.prompt("hi"), log.event("thread_name_updated", thread_name="Greeting"))
    assert translator.facts.title == "Greeting"


def test_usage_is_the_running_total_counted_once() -> None:
    _, translator = fold(
        log.tokens(100, cached=60, out=10), log.tokens(100, cached=60, out=10), log.tokens(150, 80, 20, 50)
    )
    assert translator.facts.usage == Usage(input=50, output=20, cache_read=80, total=150)
    assert (translator.facts.context_tokens, translator.facts.context_window) == (50, 1000)


def test_a_paginated_fork_does_not_spend_what_its_parent_spent() -> None:
    _, translator = fold(
        log.meta(forked_from_id=log.PARENT, history_base={}), log.tokens(500, last=40), log.tokens(550)
    )
    assert translator.facts.usage.total == 90
    assert translator.facts.parent == log.PARENT


STATES: list[tuple[str, list[log.Record], AgentState]] = [
    ("turn started", [log.started()], AgentState("working", "thinking", None, log.TIME)),
    ("prompt", [log.user_item("hi")], AgentState("working", "thinking", None, log.TIME)),
    ("open call", [log.started(), log.call("c")], AgentState("working", "acting", "exec_command", log.TIME)),
    ("answered call", [log.call("c"), log.output("c", "x")], AgentState("working", "thinking", None, log.TIME)),
    (
        "one of two calls open",
        [log.call("c", "a"), log.call("d", "b"), log.output("d", "x")],
        AgentState("working", "acting", "a", log.TIME),
    ),
    ("commentary", [log.assistant_item("x", "commentary")], AgentState("working", "thinking", None, log.TIME)),
    ("no turns", [log.assistant_item("x")], AgentState("needs-you", "idle", None, log.TIME)),
    ("complete", [log.started(), log.call("c"), log.done()], AgentState("needs-you", "idle", None, log.TIME)),
    ("aborted", [log.started(), log.event("turn_aborted")], AgentState("needs-you", "idle", None, log.TIME)),
    (
        "tokens after the end",
        [log.started(), log.done(), log.tokens(5)],
        AgentState("needs-you", "idle", None, log.TIME),
    ),
    ("nothing", [log.meta()], AgentState()),
]


@pytest.mark.parametrize(("records", "state"), [row[1:] for row in STATES], ids=[row[0] for row in STATES])
def test_the_agent_state_follows_from_the_last_meaningful_record(records: list[log.Record], state: AgentState) -> None:
    assert fold(*records)[1].facts.agent_state == state


# Notices.


def test_an_aborted_turn_is_told_once() -> None:
    records = (
        log.user_item("<turn_aborted>\nstopped\n</turn_aborted>"),
        log.event("turn_aborted", reason="interrupted"),
    )
    assert told(*records) == [("system.message", "stopped")]


def test_compaction_is_told_once_and_never_repeats_history() -> None:
    history = [log.bare(log.user_item("old"))]
    records = (
        log.line("compacted", {"message": "summary", "replacement_history": history}),
        log.event("context_compacted"),
    )
    assert told(*records) == [("system.message", "Context compacted"), ("provider.info", "summary")]


def test_a_rollback_and_an_error_are_system_messages() -> None:
    records = (log.event("thread_rolled_back", num_turns=2), log.event("error", message="boom"))
    assert told(*records) == [("system.message", "The last 2 turns rolled back"), ("system.message", "boom")]
