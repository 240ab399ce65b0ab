"""Every assistant's log, through the engine, on real files: in any pieces, with restarts, and read again."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kato_tui.core.ingest import reader
from tests.machine import CLAUDE, CODEX, DOCUMENT, GEMINI, Machine, Place, uncaptured
from tests.unit import claude_log, codex_log, gemini_log
from tests.unit.test_codex_properties import RECORDS as CODEX_RECORDS
from tests.unit.test_gemini_fold import RETOLD as GEMINI_RECORDS

Record = dict[str, Any]

CLAUDE_RECORDS: list[Record] = [
    claude_log.typed("hi\n::start a.md\nthere", "u1", 1),
    claude_log.assistant(claude_log.thinking("hm"), uuid="a1", second=2),
    claude_log.assistant(claude_log.text("ok"), claude_log.call(), uuid="a2", second=3),
    claude_log.result("out", uuid="r1", second=4),
    claude_log.assistant(claude_log.text("late"), uuid="a3", second=1, message="msg_2"),
    claude_log.queue("enqueue", "queued", 50),
    claude_log.queue("dequeue", second=51),
    claude_log.queued("queued", "at1", 52),
    claude_log.system("compact_boundary", "s1", 60, content="Conversation compacted"),
    claude_log.assistant(
        claude_log.call("q", "AskUserQuestion", questions=[claude_log.question("Which?", "A", "B")]),
        uuid="a4",
        second=61,
        message="msg_3",
    ),
    claude_log.typed([claude_log.text("look"), claude_log.image()], "u2", 70),
    claude_log.title("custom-title", "Mine"),
    {"type": "unheard", "uuid": "x", "sessionId": claude_log.SESSION},
]
PAGINATED = [
    record
    for record in CODEX_RECORDS
    if record["type"] in ("session_meta", "turn_context", "response_item", "compacted")
    or record["payload"].get("type") in ("item_completed", "task_started", "task_complete", "token_count")
]
LEGACY = [record for record in CODEX_RECORDS if record["payload"].get("type") != "item_completed"]

LOGS: dict[str, tuple[Place, list[Record], list[Record]]] = {
    "claude": (CLAUDE, [], CLAUDE_RECORDS),
    "codex legacy": (CODEX, [codex_log.meta()], LEGACY),
    "codex paginated": (CODEX, [codex_log.meta(cli_version="0.154.0")], PAGINATED),
    "codex bare": (
        CODEX,
        [codex_log.bare_meta()],
        [codex_log.bare(record) for record in CODEX_RECORDS if record["type"] == "response_item"],
    ),
    "gemini": (GEMINI, [gemini_log.header()], GEMINI_RECORDS),
}

kinds = pytest.mark.parametrize("kind", sorted(LOGS))
choices = st.lists(st.integers(0, 1000), min_size=1, max_size=25)
cuts = st.lists(st.tuples(st.integers(0, 100_000), st.booleans()), max_size=5)


def _log(kind: str, picked: list[int]) -> tuple[Place, bytes]:
    place, first, records = LOGS[kind]
    return place, place.lines(*first, *(records[number % len(records)] for number in picked))


@kinds
@settings(max_examples=25)
@given(picked=choices, cuts=cuts, chunk=st.sampled_from([100, 4 << 20]), piece=st.sampled_from([0, 700, 4 << 20]))
def test_a_log_in_any_pieces_with_restarts_between_gives_the_twin_of_one_pass(
    tmp_path_factory: pytest.TempPathFactory,
    kind: str,
    picked: list[int],
    cuts: list[tuple[int, bool]],
    chunk: int,
    piece: int,
) -> None:
    place, data = _log(kind, picked)
    machine = Machine(tmp_path_factory.mktemp("pieces"), place)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "CHUNK", chunk)
        patch.setattr(reader, "PIECE", piece)
        engine = machine.engine()
        for cut, restart in [*sorted((cut % (len(data) + 1), again) for cut, again in cuts), (len(data), True)]:
            machine.write(data[:cut])
            if restart:
                engine.close()
                engine = machine.engine()
            engine.discover()
            assert engine.bring_up_to_date().problems == {}
        engine.close()
    assert uncaptured(machine.twin()) == uncaptured(machine.one_pass())


def _forget_metadata(machine: Machine) -> None:
    machine.home.meta(machine.place.key).unlink()


def _forget_all_but_the_twin(machine: Machine) -> None:
    _forget_metadata(machine)
    machine.home.index.unlink()


def _new_inode(machine: Machine) -> None:
    copy = machine.path.with_name("copy")
    shutil.copyfile(machine.path, copy)
    copy.replace(machine.path)


def _touch(machine: Machine) -> None:
    os.utime(machine.path, (1, 1))


def _cut_and_restore(machine: Machine) -> None:
    data = machine.path.read_bytes()
    machine.write(data[: len(data) // 2])
    machine.run()
    machine.write(data)


EVENTS = {
    "the metadata is lost": _forget_metadata,
    "all but the twin is lost": _forget_all_but_the_twin,
    "the same log comes as a new file": _new_inode,
    "the log is touched": _touch,
    "the log is cut and restored": _cut_and_restore,
}


@kinds
@settings(max_examples=12)
@given(picked=choices, event=st.sampled_from(sorted(EVENTS)))
def test_reading_a_log_again_adds_nothing(
    tmp_path_factory: pytest.TempPathFactory, kind: str, picked: list[int], event: str
) -> None:
    place, data = _log(kind, picked)
    machine = Machine(tmp_path_factory.mktemp("again"), place)
    machine.write(data)
    machine.run()
    before = machine.twin()
    EVENTS[event](machine)
    assert machine.run().problems == {}
    assert machine.twin() == before
    assert machine.run().bytes_read == 0


MESSAGES = [record for record in GEMINI_RECORDS if "id" in record and record["id"] != "z"]


def _document(messages: list[Record]) -> bytes:
    return orjson.dumps(gemini_log.document(*messages), option=orjson.OPT_INDENT_2)


def _distinct(picked: list[int]) -> list[Record]:
    """Messages as a document holds them: each id once."""
    return [{**MESSAGES[number % len(MESSAGES)], "id": f"m{at}"} for at, number in enumerate(picked)]


@settings(max_examples=40)
@given(picked=choices, steps=st.lists(st.integers(0, 25), max_size=5), torn=st.floats(0, 0.99))
def test_a_document_that_grows_and_is_met_half_written_gives_the_twin_of_one_pass(
    tmp_path_factory: pytest.TempPathFactory, picked: list[int], steps: list[int], torn: float
) -> None:
    machine = Machine(tmp_path_factory.mktemp("document"), DOCUMENT)
    messages = _distinct(picked)
    for step in [*sorted(step % len(messages) for step in steps), len(messages)]:
        data = _document(messages[:step])
        machine.write(data[: int(len(data) * torn)])
        before = machine.twin()
        machine.run()
        assert machine.twin() == before
        machine.write(data)
        assert machine.run().problems == {}
    assert machine.twin() == machine.one_pass()


@settings(max_examples=40)
@given(picked=choices, changed=st.lists(st.integers(0, 25), max_size=4))
def test_a_document_whose_messages_change_in_place_adds_each_event_once(
    tmp_path_factory: pytest.TempPathFactory, picked: list[int], changed: list[int]
) -> None:
    machine = Machine(tmp_path_factory.mktemp("changed"), DOCUMENT)
    messages = _distinct(picked)
    machine.write(_document(messages))
    machine.run()
    for number, at in enumerate(changed):
        late = gemini_log.call(f"late{number}")
        message = messages[at % len(messages)]
        messages[at % len(messages)] = {**message, "toolCalls": [*message.get("toolCalls", []), late]}
        machine.write(_document(messages))
        machine.run()
    assert _identities(machine.twin()) == _identities(machine.one_pass())


def _identities(twin: bytes) -> Counter[bytes]:
    events = [orjson.loads(line) for line in twin.splitlines()]
    return Counter(
        orjson.dumps([event["kind"], event["source"].get("providerEventId"), event["payload"]]) for event in events
    )
