"""Codex history that was copied from another thread: kept, but nothing new happened."""

from __future__ import annotations

from kato_tui.core.model.facts import AgentState
from tests.unit import codex_log as log
from tests.unit.test_codex import fold

#: A turn of the parent: its UUIDv7 is older than the thread of `log.THREAD`.
OLD_TURN = "01990000-1000-7000-8000-000000000003"
COPIED_AT = "2026-05-01T10:00:00.500Z"
OLD_THREAD = "01980000-0000-7000-8000-000000000001"


def fork() -> list[log.Record]:
    """The head of a legacy fork: own meta, the parent's meta, and a copied turn."""
    return [
        log.meta(forked_from_id=log.PARENT),
        log.meta(log.PARENT, cwd="/parent"),
        log.started(OLD_TURN, COPIED_AT),
        *log.prompt("::start old", COPIED_AT),
        log.call("c1", at=COPIED_AT),
        log.tokens(1000),
        log.done(OLD_TURN, COPIED_AT),
    ]


def test_copied_lines_have_no_time_and_change_no_facts() -> None:
    drafts, translator = fold(*fork())
    assert {(d.copied, d.timestamp) for d in drafts} == {(True, None)}
    facts = translator.facts
    assert (facts.user_messages, facts.tool_calls, facts.usage.total, facts.title) == (0, 0, 0, None)
    assert (facts.cwd, facts.parent, facts.agent_state) == ("/w", log.PARENT, AgentState())


def test_the_first_turn_younger_than_the_thread_is_its_own() -> None:
    drafts, translator = fold(*fork(), log.started(), *log.prompt("new"), log.tokens(1200))
    own = [draft for draft in drafts if not draft.copied]
    assert [(d.payload["text"], d.timestamp, d.turn_id) for d in own] == [("new", log.TIME, log.TURN)]
    assert translator.facts.usage.total == 200
    assert translator.facts.user_messages == 1


def test_started_at_tells_the_age_of_a_turn_without_a_dated_id() -> None:
    old, new = log.started("t1", started_at=1_700_000_000), log.started("t2", started_at=1_800_000_000)
    head = [log.meta(forked_from_id=log.PARENT), log.meta(log.PARENT)]
    drafts, _ = fold(*head, old, *log.prompt("a"), new, *log.prompt("b"))
    assert [draft.copied for draft in drafts] == [True, False]


def test_without_any_dated_turn_a_pause_ends_the_burst_of_copies() -> None:
    head = [log.meta(forked_from_id=log.PARENT), log.meta(log.PARENT)]
    later = "2026-05-01T10:00:09.000Z"
    drafts, _ = fold(*head, *log.prompt("a"), log.assistant_item("b"), *log.prompt("c", later))
    assert [draft.copied for draft in drafts] == [True, True, False]


def test_a_copy_that_kept_its_own_time_has_it() -> None:
    record = log.assistant_item("a", internal_chat_message_metadata_passthrough={"create_time": 1_750_000_000.5})
    drafts, _ = fold(*fork(), record)
    assert drafts[-1].timestamp == "2025-06-15T15:06:40.500Z"


def test_a_paginated_sub_agent_states_where_its_history_starts() -> None:
    meta = log.meta(source={"subagent": {"thread_spawn": {"parent_thread_id": log.PARENT}}}, history_mode="paginated")
    meta["payload"]["subagent_history_start_ordinal"] = 2
    drafts, translator = fold(
        meta, log.user_item("old") | {"ordinal": 1}, log.user_item("task") | {"ordinal": 2}, kind="subagent"
    )
    assert [(d.kind, d.copied) for d in drafts] == [("user.message", True), ("provider.info", False)]
    assert drafts[1].payload["subtype"] == "agent-prompt"
    assert translator.facts.parent == log.PARENT


def test_a_sub_agents_prompt_is_the_parent_agents() -> None:
    drafts, translator = fold(log.meta(source={"subagent": "review"}), *log.prompt("look at it"))
    assert [(d.kind, d.payload["subtype"]) for d in drafts] == [("provider.info", "agent-prompt")]
    assert (translator.facts.user_messages, translator.facts.title) == (0, "look at it")


def test_a_paginated_fork_copies_nothing() -> None:
    drafts, _ = fold(log.meta(OLD_THREAD, forked_from_id=log.PARENT, history_mode="paginated"), log.user_item("mine"))
    assert [draft.copied for draft in drafts] == [False]
