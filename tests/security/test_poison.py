"""A log that says something under the name of something else, or of another time: nothing real is suppressed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.machine import CLAUDE, CODEX, GEMINI, Machine, Place
from tests.unit import claude_log, codex_log, gemini_log

Record = dict[str, Any]
FORGED: dict[str, tuple[Place, list[Record], list[Record]]] = {
    "claude": (CLAUDE, [claude_log.typed("mine", "u1", 1)], [claude_log.typed("other words", "u1", 2)]),
    "codex": (
        CODEX,
        [codex_log.meta(), *codex_log.prompt("hi"), codex_log.assistant_item("mine", "final_answer", id="i1")],
        [codex_log.assistant_item("other words", "final_answer", id="i1")],
    ),
    "gemini": (GEMINI, [gemini_log.header(), gemini_log.user("mine", "u1")], [gemini_log.user("other words", "u1", 2)]),
}


@pytest.mark.parametrize("kind", sorted(FORGED))
@pytest.mark.parametrize("restart", [False, True])
def test_a_forged_id_hides_no_words(tmp_path: Path, kind: str, restart: bool) -> None:
    place, first, forged = FORGED[kind]
    machine = Machine(tmp_path, place)
    machine.write(place.lines(*first) + (b"" if restart else place.lines(*forged)))
    machine.run()
    machine.write(place.lines(*first, *forged))
    assert machine.run().problems == {}
    words = [event["payload"]["text"] for event in machine.events() if event["kind"].endswith(".message")]
    assert words[-2:] == ["mine", "other words"]


@pytest.mark.parametrize("kind", sorted(FORGED))
def test_a_clock_of_another_century_moves_nothing(tmp_path: Path, kind: str) -> None:
    place, first, forged = FORGED[kind]
    ages = ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "2026-02-30T25:61:00Z", "yesterday", "")
    records = [*first, *(record | {"timestamp": age} for record in forged for age in ages)]
    machine = Machine(tmp_path, place)
    machine.write(place.lines(*records))
    assert machine.run().problems == {}
    seqs = [event["seq"] for event in machine.events()]
    assert seqs == list(range(1, len(seqs) + 1)) and len(seqs) >= 2
    assert machine.twin() == machine.one_pass()
