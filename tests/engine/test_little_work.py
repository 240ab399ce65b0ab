"""Work follows what is new, not what is stored: counted in files opened and bytes read, never in seconds."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from kato_tui.core.ingest import reader
from kato_tui.core.ingest.discover import Discovery
from kato_tui.core.store.fs import Fs
from tests.machine import CLAUDE, CODEX, DOCUMENT, GEMINI, Machine, Place, counted_reads
from tests.unit import claude_log, codex_log, gemini_log

MANY = 600


def _claude(numbers: range) -> bytes:
    turns = [
        [
            claude_log.typed(f"prompt {n}", f"u{n}", 3 * n + 2),
            # Parallel tools: the answer comes late, with an earlier time than the line before it.
            claude_log.assistant(
                claude_log.text(f"reply {n}"), uuid=f"a{n}", second=max(0, 3 * n - 9), message=f"m{n}"
            ),
        ]
        for n in numbers
    ]
    return claude_log.lines(*(record for turn in turns for record in turn))


def _codex(numbers: range) -> bytes:
    return codex_log.lines(*(record for n in numbers for record in codex_log.prompt(f"prompt {n}")))


def _gemini(numbers: range) -> bytes:
    turns = [
        [
            gemini_log.user(f"prompt {n}", f"u{n}", timestamp=_time(n, 1)),
            gemini_log.gemini("", f"g{n}", timestamp=_time(n, 2)),
            gemini_log.gemini("ok", f"g{n}", timestamp=_time(n, 2), toolCalls=[gemini_log.call(f"c{n}")]),
            {**gemini_log.results(gemini_log.response(f"c{n}", "1\n"), id=f"r{n}"), "timestamp": _time(n, 3)},
            gemini_log.updated(),
        ]
        for n in numbers
    ]
    return gemini_log.lines(*(record for turn in turns for record in turn))


def _time(number: int, second: int) -> str:
    return f"2026-07-{1 + number // 60 // 24:02}T{number // 60 % 24:02}:{number % 60:02}:{second:02}.000Z"


LOGS = {
    "claude": (CLAUDE, b"", _claude),
    "codex": (CODEX, codex_log.lines(codex_log.meta()), _codex),
    "gemini": (GEMINI, gemini_log.lines(gemini_log.header()), _gemini),
}


@pytest.mark.parametrize("kind", sorted(LOGS))
def test_a_small_append_to_a_long_session_reads_the_new_bytes_and_the_anchor(tmp_path: Path, kind: str) -> None:
    place, head, turns = LOGS[kind]
    machine = Machine(tmp_path, place)
    machine.write(head + turns(range(MANY)))
    machine.run()
    for start in (MANY, MANY + 2):
        more = turns(range(start, start + 2))
        with machine.path.open("ab") as log:
            log.write(more)
        with counted_reads() as traffic:
            summary = machine.run()
        assert summary.events >= 2
        assert (summary.bytes_read, summary.counters["duplicates"], traffic.twin_reads) == (len(more), 0, 0)
        # A changed file is looked at once more whose it is, by its head, where its name does not tell.
        assert traffic.log_bytes <= len(more) + reader.ANCHOR_LENGTH + reader.HEAD_LENGTH
    assert machine.twin() == machine.one_pass()


@pytest.mark.parametrize("kind", sorted(LOGS))
def test_a_live_append_reads_the_new_bytes_and_the_anchor_alone(tmp_path: Path, kind: str) -> None:
    place, head, turns = LOGS[kind]
    machine = Machine(tmp_path, place)
    machine.write(head + turns(range(MANY)))
    engine = machine.engine()
    engine.bring_up_to_date()
    more = turns(range(MANY, MANY + 1))
    with machine.path.open("ab") as log:
        log.write(more)
    with counted_reads() as traffic:
        engine.discover()
        engine.bring_up_to_date()
    engine.close()
    assert (traffic.opened, traffic.twin_reads) == (1, 0)
    assert traffic.log_bytes == len(more) + reader.ANCHOR_LENGTH


def test_a_restart_opens_no_log_of_any_assistant_that_did_not_change(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    for place, head, turns in LOGS.values():
        Machine(tmp_path, place).write(head + turns(range(3)))
    _put(machine, ".gemini/tmp/app/chats/session-y.json", gemini_log.lines(gemini_log.document(gemini_log.user("x"))))
    _put(machine, ".gemini/tmp/app/chats/session-empty.jsonl", b"")
    _put(machine, ".claude/projects/-w/agent-flat.jsonl", claude_log.lines(claude_log.typed("x")))
    with counted_reads() as traffic:
        machine.run()
    assert traffic.opened > 6
    for _ in range(2):
        with counted_reads() as traffic:
            assert machine.run().changed == 0
        assert (traffic.opened, traffic.log_bytes, traffic.twin_reads) == (0, 0, 0)


def test_a_log_that_grew_while_it_was_watched_is_not_opened_by_the_next_start(tmp_path: Path) -> None:
    machine = Machine(tmp_path, GEMINI)
    machine.write(gemini_log.lines(gemini_log.header()) + _gemini(range(2)))
    engine = machine.engine()
    engine.bring_up_to_date()
    with machine.path.open("ab") as log:
        log.write(_gemini(range(2, 3)))
    engine.discover()
    engine.bring_up_to_date()
    engine.close()
    with counted_reads() as traffic:
        assert machine.run().changed == 0
    assert traffic.opened == 0


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The roots that were listed so far, on a machine where all folders stand still since long ago."""
    clock, listing, numbers = time.time_ns, Discovery._list, list[int]()

    def counted(discovery: Discovery, number: int) -> set[str]:
        numbers.append(number)
        return listing(discovery, number)

    monkeypatch.setattr(time, "time_ns", lambda: clock() + 10**10)
    monkeypatch.setattr(Discovery, "_list", counted)
    return numbers


def test_folders_that_stood_still_since_before_the_first_sweep_are_not_listed_again(
    tmp_path: Path, listed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path)
    log = _put(machine, ".claude/projects/-w/agent-one.jsonl", claude_log.lines(claude_log.typed("x")))
    engine = machine.engine()
    engine.bring_up_to_date()
    first = len(listed)
    assert first == len(engine.roots)
    assert (engine.stir(), len(listed)) == (set(), first)
    # With the clock of the machine again: what is written at the very moment of a look is found by the next one.
    monkeypatch.undo()
    log.with_name("agent-two.jsonl").write_bytes(claude_log.lines(claude_log.typed("y", "u2")))
    assert len(engine.stir()) == 1
    engine.close()


def test_a_look_everywhere_finds_what_grew_came_and_went_and_lists_only_what_moved(
    tmp_path: Path, listed: list[int]
) -> None:
    machine = Machine(tmp_path, GEMINI)
    machine.write(gemini_log.lines(gemini_log.header()) + _gemini(range(1)))
    one = _put(machine, ".claude/projects/-w/agent-one.jsonl", claude_log.lines(claude_log.typed("x")))
    gone = _put(machine, ".claude/projects/-v/agent-two.jsonl", claude_log.lines(claude_log.typed("x", "u2")))
    engine = machine.engine()
    engine.bring_up_to_date()
    listed.clear()
    with machine.path.open("ab") as log, one.open("ab") as other:
        log.write(_gemini(range(1, 2)))
        other.write(claude_log.lines(claude_log.typed("y", "u3")))
    assert (len(engine.look_everywhere()), listed) == (2, [])
    engine.bring_up_to_date()
    gone.unlink()
    _put(machine, ".claude/projects/-w/agent-new.jsonl", claude_log.lines(claude_log.typed("z", "u4")))
    assert (len(engine.look_everywhere()), len(listed)) == (1, 1)
    sources = [entry.source for entry in engine.index.entries.values()]
    assert [source.path for source in sources if source is not None and source.gone] == [str(gone)]
    engine.bring_up_to_date()
    engine.close()
    # What grew is known by its new stamp: the next start opens no log.
    with counted_reads() as traffic:
        assert machine.run().changed == 0
    assert traffic.opened == 0


def test_a_log_that_could_not_be_read_has_its_root_listed_once_more(tmp_path: Path, listed: list[int]) -> None:
    machine = Machine(tmp_path, GEMINI)
    machine.write(gemini_log.lines(gemini_log.header()) + _gemini(range(1)))
    engine = machine.engine()
    engine.bring_up_to_date()
    listed.clear()
    engine._discovery.doubt(next(iter(engine.sessions)))
    assert (engine.stir(), len(listed)) == (set(), 1)
    engine.close()


def test_a_file_that_was_no_log_is_looked_at_again_once_it_changed(tmp_path: Path) -> None:
    machine = Machine(tmp_path, GEMINI)
    machine.write(b"")
    assert machine.run().sessions == 0
    machine.write(gemini_log.lines(*gemini_log.conversation("hi", "hello")))
    assert machine.run().events == 2


def _put(machine: Machine, name: str, data: bytes) -> Path:
    path = machine.base / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


CONTINUED: tuple[Place, Place] = (DOCUMENT, GEMINI)


@pytest.mark.parametrize("kept", [(True, True), (False, True), (False, False)])
def test_a_document_continued_as_jsonl_is_told_once(tmp_path: Path, kept: tuple[bool, bool]) -> None:
    old, new = (Machine(tmp_path, place) for place in CONTINUED)
    first = [gemini_log.user("one"), gemini_log.gemini("two", toolCalls=[gemini_log.call()])]
    old.write(gemini_log.lines(gemini_log.document(*first)))
    old.run(twins=kept[0])
    new.write(gemini_log.lines(gemini_log.header(), *first, gemini_log.user("three", "u3", 5)))
    new.run(twins=kept[1])
    with new.path.open("ab") as log:
        log.write(gemini_log.lines(gemini_log.gemini("four", "g4", 6)))
    new.run()
    texts = [event["payload"].get("text") for event in new.events() if "message" in event["kind"]]
    assert texts == ["one", "two", "three", "four"]


def test_a_document_that_stays_half_written_does_not_hold_up_the_jsonl_that_went_on(tmp_path: Path) -> None:
    old, new = (Machine(tmp_path, place) for place in CONTINUED)
    whole = gemini_log.lines(gemini_log.document(gemini_log.user("one")))
    old.write(whole)
    old.run()
    old.write(whole[:-20])
    new.write(gemini_log.lines(gemini_log.header(), gemini_log.user("one"), gemini_log.user("two", "u2", 5)))
    assert new.run().problems == {}
    assert [event["payload"]["text"] for event in new.events()] == ["one", "two"]


def test_a_list_looks_at_the_newest_unread_logs_only_and_at_each_once(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    for number in range(6):
        name = f".claude/projects/-w/{number:08}-0000-4000-8000-000000000001.jsonl"
        path = _put(machine, name, claude_log.lines(claude_log.typed(f"prompt {number}")))
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
    engine = machine.engine()
    engine.survey.first_looks = 2
    titled: list[list[str]] = []
    for opened in (2, 2, 2, 0):
        with counted_reads() as traffic:
            titled.append([one.title for one in engine.status().sessions if one.title])
        assert traffic.opened == opened
    assert titled[0] == ["prompt 4", "prompt 5"]
    assert [len(titles) for titles in titled] == [2, 4, 6, 6]
    with path.open("ab") as log:
        log.write(claude_log.lines(claude_log.title("custom-title", "renamed")))
    engine.discover()
    with counted_reads() as traffic:
        assert engine.survey.session_status(f"claude:{path.stem}").title == "renamed"
    assert traffic.opened == 1
    engine.close()


def test_a_live_append_costs_one_write_of_metadata(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write(_claude(range(3)))
    engine = machine.engine()
    engine.bring_up_to_date()
    written: list[Path] = []
    replace = Fs.replace

    def counting(self: Fs, source: Path, target: Path) -> None:
        written.append(target)
        replace(self, source, target)

    with machine.path.open("ab") as log:
        log.write(_claude(range(3, 4)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Fs, "replace", counting)
        engine.discover()
        engine.bring_up_to_date()
    engine.close()
    assert written == [machine.home.meta(CLAUDE.key)]
