"""Session ids, names, twins and neighbours that mean no good, through the engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from kato_tui.core.ingest.batch import Report
from kato_tui.core.model.events import TwinEvent
from kato_tui.core.paths import Home
from kato_tui.core.providers.base import SourceFile
from kato_tui.core.store.fs import Fs
from tests.conftest import ManualClock
from tests.crashing import Crash, CrashingFs, half
from tests.machine import CLAUDE, GEMINI, Machine
from tests.toy import Bench, say
from tests.unit import claude_log, gemini_log

IDS = {
    "a path": "../../x",
    "an absolute path": "/etc/passwd",
    "one dot": ".",
    "dots only": "....",
    "control characters": "a\x1b]0;x\x07\r\nb",
    "ten thousand characters": "x" * 10_000,
    "ten thousand escapes": "\x01" * 10_000,
    "colons": "a:b:c",
    "a NUL": "a\x00b",
    "a lone surrogate": "a\ud800b",
    "quotes": '"},"seq":7,"x":"',
    "a temporary name": "x.meta.json",
}


@pytest.fixture
def lax_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("session", IDS.values(), ids=IDS.keys())
@pytest.mark.usefixtures("lax_umask")
def test_a_hostile_session_id_stays_in_its_folder_and_private(tmp_path: Path, session: str) -> None:
    machine = Machine(tmp_path, GEMINI)
    log = [gemini_log.header(session), gemini_log.user("one"), gemini_log.gemini("two")]
    machine.write(b"".join(json.dumps(record).encode() + b"\n" for record in log))
    outside = _tree(tmp_path, machine.home.root)
    for _ in range(2):
        assert machine.run().problems == {}
    (twin,) = machine.home.sessions.glob("*.twin.jsonl")
    assert [TwinEvent.model_validate_json(line).seq for line in twin.read_bytes().splitlines()] == [1, 2]
    assert {path.parent for path in machine.home.sessions.rglob("*")} == {machine.home.sessions}
    assert _tree(tmp_path, machine.home.root) == outside
    for path in [machine.home.root, *machine.home.root.rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def _tree(base: Path, without: Path) -> set[Path]:
    return {path for path in base.rglob("*") if not path.is_relative_to(without)}


def test_a_session_with_a_long_id_recovers_from_a_crash(tmp_path: Path) -> None:
    """The twin is searched for a seq, which stands behind the id in every line."""
    bench = LongBench(tmp_path)
    bench.path.write_bytes(b"".join(say(f"line {number}") for number in range(20)))
    bench.read()
    known = bench.home.meta(bench.key).read_bytes()
    with bench.path.open("ab") as log:
        log.write(say("more") + say("and more"))
    bench.read()
    bench.home.meta(bench.key).write_bytes(known)
    report = bench.read()
    assert (report.counters["recovered"], report.counters["rewrites"]) == (2, 0)
    assert bench.texts()[-3:] == ["line 19", "more", "and more"]


class LongBench(Bench):
    """A toy session whose id, chosen by its log, is very long."""

    def __init__(self, base: Path) -> None:
        super().__init__(_home(base), ManualClock(), base / "talk.jsonl")
        self.source = SourceFile("toy", "x" * 10_000, self.path)
        self.key = f"toy:{self.source.provider_session_id}"

    def read(self) -> Report:
        return self.ingest(sources=[self.source])


def _home(base: Path) -> Home:
    home = Home(base / "kato")
    for folder in home.folders():
        folder.mkdir(parents=True, exist_ok=True)
    return home


def test_names_that_are_no_utf_8_are_written_down(tmp_path: Path) -> None:
    folder = tmp_path / ".claude/projects" / os.fsdecode(b"-w\xff")
    folder.mkdir(parents=True)
    for name in (f"{claude_log.SESSION}.jsonl", os.fsdecode(b"agent-\xfe.jsonl")):
        (folder / name).write_bytes(claude_log.lines(claude_log.typed("hi")))
    machine = Machine(tmp_path)
    summary = machine.run()
    assert (summary.sessions, summary.events, summary.problems) == (2, 2, {})
    assert machine.run().changed == 0


def test_a_twin_of_another_version_is_left_alone_even_without_its_metadata(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write(claude_log.lines(*claude_log.conversation("hi", "hello")))
    machine.run()
    foreign = b'{"schemaVersion":2,"seq":1,"new":true}\n'
    machine.home.twin(CLAUDE.key).write_bytes(foreign)
    machine.home.meta(CLAUDE.key).unlink()
    assert "schema version 2" in machine.run().problems[CLAUDE.key]
    assert machine.twin() == foreign


def test_parts_that_come_again_with_their_record_are_not_told_by_a_replay(tmp_path: Path) -> None:
    bench = Bench(_home(tmp_path), ManualClock(), tmp_path / "talk.jsonl")
    bench.path.write_bytes(say("yes", id="a") + say("yes\n::stop\nyes\n", id="a", again=True))
    bench.ingest()
    before = bench.twin()
    bench.home.meta(bench.key).unlink()
    bench.ingest()
    assert bench.twin() == before


def test_two_processes_that_start_at_once_keep_one_twin(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    turns = [claude_log.typed(f"prompt {number}", f"u{number}", number) for number in range(400)]
    machine.write(claude_log.lines(*turns))
    (tmp_path / "kato").mkdir()
    (tmp_path / "kato" / "config.toml").write_text("globalAutoGenerateSnapshots = true\n")
    environ = {**os.environ, "HOME": str(tmp_path), "KATO_HOME": str(tmp_path / "kato")}
    command = [sys.executable, "-m", "kato_tui", "--no-ui", "--once"]
    running = [subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    ended = [(process.communicate(timeout=60), process.returncode) for process in running]
    assert any(code == 0 for _, code in ended)
    assert all(code == 0 or b"in use" in error for (_, error), code in ended)
    assert machine.twin() == machine.one_pass()


def test_an_engine_that_was_killed_leaves_its_home_to_the_next(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write(claude_log.lines(*claude_log.conversation("hi", "hello")))
    engine = machine.engine()
    engine._stores = type(engine._stores)(machine.home, engine.store, machine.clock, CrashingFs(2, half))
    with pytest.raises(Crash):
        engine.bring_up_to_date()
    engine._lock.release()
    assert machine.run().problems == {}
    assert machine.twin() == machine.one_pass()


def test_a_disk_that_is_full_stops_one_session_and_heals(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write(claude_log.lines(*claude_log.conversation("hi", "hello")))
    engine = machine.engine()
    engine._stores = type(engine._stores)(machine.home, engine.store, machine.clock, CrashingFs(2, half, 28))
    assert list(engine.bring_up_to_date().problems) == [CLAUDE.key]
    engine._stores = type(engine._stores)(machine.home, engine.store, machine.clock, Fs())
    assert engine.bring_up_to_date().problems == {}
    engine.close()
    assert machine.twin() == machine.one_pass()


@pytest.mark.parametrize("index", [b"", b"{", b"\x00" * 100, b'{"schemaVersion":99,"sessions":{}}', b"[]"])
def test_an_index_that_cannot_be_read_costs_no_log_to_be_told_again(tmp_path: Path, index: bytes) -> None:
    machine = Machine(tmp_path)
    machine.write(claude_log.lines(*claude_log.conversation("hi", "hello")))
    machine.run()
    before = machine.twin()
    machine.home.index.write_bytes(index)
    summary = machine.run()
    assert (summary.changed, summary.problems, machine.twin()) == (0, {}, before)
    assert orjson.loads(machine.home.index.read_bytes())["schemaVersion"] == 1
