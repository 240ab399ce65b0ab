"""Every assistant's log with lines that mean no good, and with every fate a log can meet, through the engine."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import orjson
import pytest

from kato_tui.core.model.events import TwinEvent
from tests.engine.test_hostile_logs import LINES
from tests.machine import CLAUDE, CODEX, DOCUMENT, GEMINI, Machine, Place
from tests.unit import claude_log, codex_log, gemini_log

FIRST: dict[str, tuple[Place, list[bytes]]] = {
    "claude": (
        CLAUDE,
        [claude_log.lines(claude_log.typed(text, f"u{n}", n)) for n, text in enumerate(("one", "two", "three"))],
    ),
    "codex": (
        CODEX,
        [
            codex_log.lines(codex_log.meta(), *codex_log.prompt("one")),
            codex_log.lines(*codex_log.prompt("two")),
            codex_log.lines(*codex_log.prompt("three")),
        ],
    ),
    "gemini": (
        GEMINI,
        [
            gemini_log.lines(gemini_log.header(), gemini_log.user("one", "u1", 1)),
            gemini_log.lines(gemini_log.user("two", "u2", 2)),
            gemini_log.lines(gemini_log.user("three", "u3", 3)),
        ],
    ),
}
kinds = pytest.mark.parametrize("kind", sorted(FIRST))


def _prompts(machine: Machine) -> list[str]:
    return [event["payload"]["text"].strip() for event in machine.events() if event["kind"] == "user.message"]


@kinds
@pytest.mark.parametrize("line", LINES.values(), ids=LINES.keys())
def test_a_hostile_line_stops_no_assistants_log(tmp_path: Path, kind: str, line: bytes) -> None:
    place, (one, two, _) = FIRST[kind]
    machine = Machine(tmp_path, place)
    machine.write(one + line + b"\n" + two)
    assert machine.run().problems == {}
    assert _prompts(machine) == ["one", "two"]
    for event in machine.events():
        TwinEvent.model_validate(event)
    assert machine.twin() == machine.one_pass()


@kinds
@pytest.mark.parametrize("fate", ["cut", "pruned", "replaced", "rewritten", "gone"])
def test_whatever_becomes_of_a_log_the_twin_keeps_all_and_takes_only_news(tmp_path: Path, kind: str, fate: str) -> None:
    place, (one, two, three) = FIRST[kind]
    head, _, rest = one.partition(b"\n")
    machine = Machine(tmp_path, place)
    machine.write(one + two)
    machine.run()
    if fate == "cut":
        machine.write(one)
        machine.run()
        machine.write(one + three)
    elif fate == "pruned":
        machine.write((b"" if kind == "claude" else head + b"\n") + two + three)
    elif fate == "replaced":
        other = machine.path.with_name("other")
        other.write_bytes(one + two + three)
        other.replace(machine.path)
    elif fate == "rewritten":
        machine.write((head + b"\n" if rest else b"") + three + two + (rest or one))
    else:
        machine.path.unlink()
        machine.run()
        machine.write(one + two + three)
    assert machine.run().problems == {}
    assert Counter(_prompts(machine)) == Counter(["one", "two", "three"])
    before = machine.twin()
    assert machine.run().events == 0
    assert machine.twin() == before


def test_one_message_nested_too_deep_does_not_hide_its_document(tmp_path: Path) -> None:
    machine = Machine(tmp_path, DOCUMENT)
    deep = b'{"a":' * 300 + b"1" + b"}" * 300
    call = b'{"id":"g1","type":"gemini","content":"x","toolCalls":[{"id":"c","name":"n","args":' + deep + b"}]}"
    whole = orjson.dumps(gemini_log.document(gemini_log.user("one", "u1"), gemini_log.user("two", "u2")))
    machine.write(whole.replace(b'},{"id":"u2"', b"}," + call + b',{"id":"u2"'))
    assert machine.run().problems == {}
    assert [event["payload"].get("rawType", "prompt") for event in machine.events()] == ["prompt", "too-deep", "prompt"]
    before = machine.twin()
    machine.home.meta(DOCUMENT.key).unlink()
    assert machine.run().problems == {}
    assert machine.twin() == before
