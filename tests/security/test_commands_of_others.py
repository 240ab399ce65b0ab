"""A command is what the user typed, now, in this conversation: never what anybody else says, prints or pastes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.machine import CLAUDE, CODEX, DOCUMENT, GEMINI, Machine, Place
from tests.unit import claude_log as claude
from tests.unit import codex_log as codex
from tests.unit import gemini_log as gemini

Record = dict[str, Any]
Said = Callable[[str], list[Record]]

#: Later than the engine's start, so that age alone makes nothing history.
NOW = "2026-11-18T10:00:00.000Z"


def _claude(*records: Record) -> list[Record]:
    return [{**record, "timestamp": NOW} for record in records]


def _reminder(command: str) -> str:
    return f"<system-reminder>\n{command}\n</system-reminder>"


CLAUDE_SAYS: dict[str, Said] = {
    "the assistant": lambda c: _claude(claude.assistant(claude.text(f"Type this:\n{c}"))),
    "thinking": lambda c: _claude(claude.assistant(claude.thinking(c))),
    "a tool's input": lambda c: _claude(claude.assistant(claude.call("t", "Write", content=c))),
    "a tool's output": lambda c: _claude(claude.assistant(claude.call()), claude.result(f"out\n{c}")),
    "a tool's output in blocks": lambda c: _claude(claude.assistant(claude.call()), claude.result([claude.text(c)])),
    "a refusal forged by a tool": lambda c: _claude(claude.assistant(claude.call()), claude.result(claude.refusal(c))),
    "a fence": lambda c: _claude(claude.typed(f"see\n```\n{c}\n```")),
    "a fence of tildes": lambda c: _claude(claude.typed(f"see\n~~~~ md\n{c}\n~~~~")),
    "a fence that never ends": lambda c: _claude(claude.typed(f"see\n```\n{c}")),
    "a quote": lambda c: _claude(claude.typed(f"you said\n> {c}")),
    "a list": lambda c: _claude(claude.typed(f"- {c}")),
    "the middle of a line": lambda c: _claude(claude.typed(f"please {c}")),
    "a line after another line end": lambda c: _claude(claude.typed(f"a\u2028{c}\x0b{c}\x85{c}")),
    "injected context": lambda c: _claude(claude.user(_reminder(c), isMeta=True)),
    "a reminder": lambda c: _claude(claude.user(_reminder(c))),
    "a hook": lambda c: _claude(claude.attachment("hook_additional_context", content=[c])),
    "an opened file": lambda c: _claude(claude.attachment("file", content={"file": {"content": c}})),
    "the output of a shell line": lambda c: _claude(claude.user(f"<bash-stdout>{c}</bash-stdout>")),
    "the output of a slash command": lambda c: _claude(
        claude.user(f"<local-command-stdout>\n{c}\n</local-command-stdout>")
    ),
    "a compaction's summary": lambda c: _claude(claude.user(f"Summary:\n{c}", isCompactSummary=True)),
    "a summary in old words": lambda c: _claude(
        claude.user(f"This session is being continued from a previous conversation.\n{c}")
    ),
    "another agent": lambda c: _claude(claude.user(c, isSidechain=True, agentId="a1")),
    "a task's notice": lambda c: _claude(claude.user(c, origin={"kind": "task-notification"})),
    "a machine's prompt": lambda c: _claude(claude.user(c, promptSource="system")),
    "a teammate": lambda c: _claude(claude.user(c, teamName="x")),
    "a system record": lambda c: _claude(claude.system("informational", content=c)),
    "a title": lambda c: [claude.title("custom-title", c)],
    "an unknown record": lambda c: [{"type": "novelty", "text": c, "message": {"role": "user", "content": c}}],
}


CODEX_SAYS: dict[str, Said] = {
    "the assistant": lambda c: [codex.assistant_item(f"Type:\n{c}"), codex.agent_event(f"Type:\n{c}")],
    "thinking": lambda c: [codex.event("agent_reasoning", text=c)],
    "a tool's input": lambda c: [codex.call("c", "shell", {"command": ["echo", c]})],
    "a tool's output": lambda c: [codex.call("c"), codex.output("c", f"out\n{c}")],
    "the end of a command": lambda c: [codex.event("exec_command_end", call_id="c", aggregated_output=c, exit_code=0)],
    "a fence": lambda c: codex.prompt(f"see\n```\n{c}\n```"),
    "a quote": lambda c: codex.prompt(f"> {c}"),
    "the environment": lambda c: [
        codex.user_item(f"<environment_context>\n{c}\n</environment_context>"),
        *codex.prompt("go on"),
    ],
    "instructions": lambda c: [
        codex.user_item(f"<user_instructions>\n{c}\n</user_instructions>"),
        *codex.prompt("go on"),
    ],
    "a skill": lambda c: [codex.user_item(f"<skill>\n{c}\n</skill>"), *codex.prompt("go on")],
    "a stated kind that is not the user's": lambda c: [codex.user_item(c, kinds=["environments.environment_context"])],
    "the developer": lambda c: [codex.item("message", role="developer", content=[{"type": "input_text", "text": c}])],
    "a compaction": lambda c: [codex.line("compacted", {"message": c})],
    "a compaction's history": lambda c: [
        codex.line("compacted", {"message": "s", "replacement_history": [codex.user_item(c)["payload"]]})
    ],
    "a hook": lambda c: [codex.completed("HookPrompt", fragments=[{"text": c}])],
    "an unknown record": lambda c: [codex.line("novelty", {"role": "user", "text": c})],
}
GEMINI_SAYS: dict[str, Said] = {
    "the assistant": lambda c: [gemini.gemini(f"Type:\n{c}", minute=5)],
    "thinking": lambda c: [gemini.gemini("x", thoughts=[gemini.thought(c, c)])],
    "a tool's output": lambda c: [gemini.gemini("x", toolCalls=[gemini.call(output=f"out\n{c}")])],
    "a tool's output as the user's turn": lambda c: [gemini.results(gemini.response("c1", c))],
    "a fence": lambda c: [gemini.user(f"see\n```\n{c}\n```", "f1")],
    "a quote": lambda c: [gemini.user(f"> {c}", "f2")],
    "the session's context": lambda c: [gemini.user(f"<session_context>\n{c}\n</session_context>", "f3")],
    "a notice": lambda c: [gemini.notice("info", c), gemini.notice("error", c, "n2")],
    "an unknown record": lambda c: [{"id": "z", "type": "novelty", "content": c}],
}
HEADS: dict[str, tuple[Place, list[Record], dict[str, Said]]] = {
    "claude": (CLAUDE, [claude.typed("hello", "u0")], CLAUDE_SAYS),
    "codex": (CODEX, [codex.meta(), codex.context(), codex.started(), *codex.prompt("hello")], CODEX_SAYS),
    "gemini": (GEMINI, [gemini.header(), gemini.user("hello", "u0")], GEMINI_SAYS),
}
CASES = [(kind, who) for kind, (_, _, says) in sorted(HEADS.items()) for who in says]


def _at_now(record: Record) -> Record:
    return record | {"timestamp": NOW} if "timestamp" in record else record


def _heard(base: Path, place: Place, head: list[Record], said: list[Record]) -> tuple[int, list[str]]:
    """Recordings and notices after a watched session got these records."""
    machine = Machine(base, place)
    machine.write(place.lines(*map(_at_now, head)))
    engine = machine.engine()
    engine.bring_up_to_date()
    with machine.path.open("ab") as log:
        log.write(place.lines(*map(_at_now, said)))
    engine.discover()
    assert engine.bring_up_to_date().problems == {}
    metadata = engine.store.load(place.key)
    codes = [notice.code for notice in engine.notices]
    engine.close()
    assert metadata is not None
    return len(metadata.recordings), codes


@pytest.mark.parametrize(("kind", "who"), CASES)
def test_what_others_say_is_never_executed(tmp_path: Path, kind: str, who: str) -> None:
    place, head, says = HEADS[kind]
    assert _heard(tmp_path, place, head, says[who](f"::start {tmp_path}/stolen.md")) == (0, [])
    assert not (tmp_path / "stolen.md").exists()


TYPED: dict[str, Said] = {
    "claude": lambda c: _claude(claude.typed(c, "u9")),
    "codex": lambda c: codex.prompt(c, NOW),
    "gemini": lambda c: [gemini.user(c, "u9")],
}


@pytest.mark.parametrize("kind", sorted(TYPED))
def test_what_the_user_types_is_executed(tmp_path: Path, kind: str) -> None:
    """Or the test above would prove nothing."""
    place, head, _ = HEADS[kind]
    assert _heard(tmp_path, place, head, TYPED[kind](f"::start {tmp_path}/mine.md")) == (1, ["done"])


HISTORY: dict[str, tuple[Place, list[Record]]] = {
    "claude, older than the watch": (CLAUDE, [claude.typed("::start")]),
    "claude, appended again": (CLAUDE, [*_claude(claude.typed("a")), claude.typed("::start"), claude.typed("::start")]),
    "claude, copied from another session": (
        CLAUDE,
        [claude.typed("::start", forkedFrom={"sessionId": "x", "messageUuid": "y"}), *_claude(claude.typed("a", "u2"))],
    ),
    "codex, older than the watch": (CODEX, [codex.meta(), *codex.prompt("::start")]),
    "codex, copied by a fork": (
        CODEX,
        [codex.meta(forked_from_id=codex.PARENT), codex.meta(codex.PARENT), *codex.prompt("::start")],
    ),
    "gemini, older than the watch": (GEMINI, [gemini.header(), gemini.user("::start")]),
    "gemini, a whole document": (DOCUMENT, [gemini.document(gemini.user("::start"))]),
}


@pytest.mark.parametrize("what", sorted(HISTORY))
def test_history_is_shown_and_not_executed(tmp_path: Path, what: str) -> None:
    place, records = HISTORY[what]
    machine = Machine(tmp_path, place)
    machine.write(place.lines(*records))
    for _ in range(2):
        assert machine.run().problems == {}
    assert "user.kato-command" in [event["kind"] for event in machine.events()]
    assert not list(machine.home.recordings.iterdir())


def test_a_log_that_is_rewritten_runs_no_command_again(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write(claude.lines(*_claude(claude.typed("hello", "u0"))))
    engine = machine.engine()
    engine.bring_up_to_date()
    command = claude.lines(*_claude(claude.typed("::start ~/once.md", "u1")))
    for data in (command, claude.lines(*_claude(claude.typed("new head", "u5"))) + command + command, command):
        machine.write(data)
        engine.discover()
        engine.bring_up_to_date()
    metadata = engine.store.load(CLAUDE.key)
    engine.close()
    assert metadata is not None and len(metadata.recordings) == 1
