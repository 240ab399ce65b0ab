"""`codex migrate-rollouts` replaces a legacy file by a paginated one: other forms and ids, the same conversation."""

from __future__ import annotations

from pathlib import Path

from tests.machine import CODEX, Machine
from tests.unit import codex_log as log

SEARCH = {"type": "search", "query": "q"}
ABORTED = {"reason": "interrupted"}


def _mirror(kind: str, item_id: str, text: str, **fields: str) -> log.Record:
    content = [{"type": "text" if kind == "UserMessage" else "Text", "text": text}]
    return log.completed(kind, id=item_id, content=content, **fields)


def _summary(text: str) -> log.Record:
    return log.item("reasoning", summary=[{"type": "summary_text", "text": text}])


LEGACY = [
    log.meta(),
    log.context(),
    log.started(),
    *log.prompt("hello"),
    log.event("agent_reasoning", text="thought"),
    _summary("thought"),
    log.agent_event("Looking.", "commentary"),
    log.assistant_item("Looking.", "commentary"),
    log.call("c1"),
    log.event("exec_command_end", call_id="c1", command=["ls"], aggregated_output="a\n", exit_code=0),
    log.output("c1", "Process exited with code 0\nOutput:\na\n"),
    log.item("web_search_call", action=SEARCH),
    log.event("web_search_end", call_id="ws", query="q", action=SEARCH),
    log.done(),
    log.started("t2"),
    *log.prompt("go on"),
    log.event("turn_aborted", **ABORTED),
]
MIGRATED = [
    log.meta(history_mode="paginated"),
    log.context(),
    log.started("rollout-1"),
    log.user_item("hello"),
    _mirror("UserMessage", "i1", "hello"),
    log.completed("Reasoning", id="i2", summary_text=["thought"]),
    _summary("thought"),
    _mirror("AgentMessage", "i3", "Looking.", phase="commentary"),
    log.assistant_item("Looking.", "commentary"),
    log.call("c1"),
    log.output("c1", "Process exited with code 0\nOutput:\na\n"),
    log.completed("CommandExecution", id="c1", command=["ls"], aggregated_output="a\n", exit_code=0),
    log.item("web_search_call", action=SEARCH),
    log.completed("WebSearch", id="ws", query="q", action=SEARCH),
    log.done("rollout-1"),
    log.started("rollout-2"),
    log.user_item("go on"),
    _mirror("UserMessage", "i4", "go on"),
    log.event("turn_aborted", turn_id="rollout-2", **ABORTED),
]


def test_a_migrated_log_adds_nothing_and_goes_on(tmp_path: Path) -> None:
    machine = Machine(tmp_path, CODEX)
    machine.write(log.lines(*LEGACY))
    machine.run()
    before = machine.twin()
    assert [event["payload"].get("text") for event in machine.events() if event["kind"] == "user.message"] == [
        "hello",
        "go on",
    ]
    machine.write(log.lines(*MIGRATED))
    machine.run()
    assert machine.twin() == before
    machine.write(log.lines(*MIGRATED, log.started("t3"), log.user_item("new"), _mirror("UserMessage", "i5", "new")))
    machine.run()
    assert [event["payload"] for event in machine.events()[len(before.splitlines()) :]] == [{"text": "new"}]
