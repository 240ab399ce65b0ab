"""The engine over a folder of toy sessions: what is read, what is left alone, what fails alone."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
import zstandard

from kato_tui.core import rebuild
from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.errors import HomeBusy, SessionNotFound
from kato_tui.core.ingest import reader
from kato_tui.core.ingest.fold import HalfWritten
from kato_tui.core.ingest.glimpse import glimpse
from kato_tui.core.paths import Home
from kato_tui.core.providers.codex import Codex
from tests.conftest import ManualClock
from tests.toy import Toy, say, toy_source
from tests.unit import codex_log

CODEX_AGAIN = "019a0000-0000-7000-8000-0000000000ff"


class World:
    """A user's machine with toy logs, on which engines come and go."""

    def __init__(self, base: Path, clock: ManualClock) -> None:
        self.base = base
        self.clock = clock
        self.logs = base / "toys"
        self.logs.mkdir()
        self.home = Home(base / "kato")

    def engine(self, *, twins: bool = True) -> Engine:
        engine = Engine(
            self.home, Config(global_auto_generate_snapshots=twins), {"toy": Toy()}, {}, self.base, self.clock
        )
        engine.start()
        return engine

    def log(self, name: str, *lines: bytes) -> Path:
        path = self.logs / name
        path.write_bytes(b"".join(lines))
        return path


@pytest.fixture
def world(tmp_path: Path, clock: ManualClock) -> World:
    return World(tmp_path, clock)


def test_everything_found_is_brought_up_to_date(world: World) -> None:
    world.log("a.jsonl", say("one"), say("two"))
    world.log("b.jsonl", say("three"))
    engine = world.engine()
    summary = engine.bring_up_to_date()
    engine.close()
    assert (summary.sessions, summary.changed, summary.events, summary.problems) == (2, 2, 3, {})
    assert engine.index.entries["toy:a"].facts.user_messages == 2


def test_a_restart_reads_nothing_that_did_not_change(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.log("a.jsonl", say("one"))
    world.log("b.jsonl", b'{"unknown": 1}\n')
    world.log("empty.jsonl")
    engine = world.engine()
    engine.bring_up_to_date()
    engine.close()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a log was opened")

    monkeypatch.setattr(reader, "open_stream", refuse)
    engine = world.engine()
    assert engine.pending() == []
    assert engine.bring_up_to_date().changed == 0
    engine.close()


def test_without_twins_only_facts_are_kept(world: World) -> None:
    world.log("a.jsonl", say("one"))
    engine = world.engine(twins=False)
    assert engine.bring_up_to_date().events == 0
    engine.close()
    assert not world.home.twin("toy:a").exists()
    assert engine.index.entries["toy:a"].facts.title == "one"
    later = world.engine(twins=True)
    assert later.bring_up_to_date().events == 1
    later.close()


def test_the_delay_is_taken_of_what_is_new_and_not_of_another_look_at_what_is_old(world: World) -> None:
    path = world.log("a.jsonl", say("one"))
    engine = world.engine()
    engine.bring_up_to_date()
    assert engine.latency_ms is None
    engine.freshen("toy:a", keep_twin=True)
    assert engine.latency_ms is None
    with path.open("ab") as log:
        log.write(say("two"))
    engine.discover()
    engine.freshen("toy:a", keep_twin=True)
    assert engine.latency_ms is not None
    engine.close()


def test_one_broken_session_does_not_hold_up_the_others(world: World) -> None:
    world.log("a.jsonl", say("one"))
    world.log("b.jsonl", say("two"))
    engine = world.engine()
    world.home.meta("toy:a").write_bytes(b'{"schemaVersion": 99}')
    summary = engine.bring_up_to_date()
    engine.close()
    assert "schema version 99" in summary.problems["toy:a"]
    assert summary.events == 1
    assert world.home.meta("toy:a").read_bytes() == b'{"schemaVersion": 99}'


def test_a_rebuild_makes_a_refused_session_anew_and_keeps_what_was_there(world: World) -> None:
    world.log("a.jsonl", say("one"))
    world.home.sessions.mkdir(parents=True)
    world.home.meta("toy:a").write_bytes(b'{"schemaVersion": 99}')
    engine = world.engine()
    begun = rebuild.begin(engine, engine.resolve("a"))
    assert rebuild.read(engine, begun).events == 1
    rebuild.end(engine, begun)
    assert engine.survey.session_status("toy:a").problem is None
    assert engine.bring_up_to_date().problems == {}
    engine.close()
    aside = list(world.home.sessions.glob("*.before-rebuild-1"))
    assert [path.read_bytes() for path in aside] == [b'{"schemaVersion": 99}']


def test_a_document_met_half_written_is_only_told_when_it_stays_so(world: World) -> None:
    world.log("a.json", b'{"messages": [')
    engine = world.engine()
    engine.failed("toy:a", HalfWritten("not complete"))
    assert not engine.notices
    engine.failed("toy:a", HalfWritten("not complete"))
    assert [notice.code for notice in engine.notices] == ["unreadable"]
    engine.close()


def test_a_deleted_log_takes_nothing_with_it(world: World) -> None:
    path = world.log("a.jsonl", say("one"))
    engine = world.engine()
    engine.bring_up_to_date()
    path.unlink()
    engine.discover()
    stored = engine.store.load("toy:a")
    assert stored is not None and stored.source is not None and stored.source.gone
    assert b"one" in world.home.twin("toy:a").read_bytes()
    world.log("a.jsonl", say("one"), say("back"))
    engine.discover()
    assert engine.bring_up_to_date().events == 1
    engine.close()


def test_what_arrives_while_watching_carries_its_time_of_capture(world: World) -> None:
    world.log("a.jsonl", say("old"))
    engine = world.engine()
    engine.bring_up_to_date()
    world.log("a.jsonl", say("old"), say("new"))
    engine.discover()
    engine.bring_up_to_date()
    engine.close()
    lines = [orjson.loads(line) for line in world.home.twin("toy:a").read_bytes().splitlines()]
    assert ["time" in line for line in lines] == [False, True]


def test_two_engines_cannot_share_a_home(world: World) -> None:
    first = world.engine()
    with pytest.raises(HomeBusy, match="in use by process"):
        world.engine()
    first.close()
    world.engine().close()


@pytest.mark.parametrize("name", ["nothing", "1234567"])
def test_an_unknown_session_is_not_found(world: World, name: str) -> None:
    engine = world.engine()
    with pytest.raises(SessionNotFound):
        engine.resolve(name)
    engine.close()


def test_a_session_is_found_by_key_provider_id_id_or_prefix(world: World) -> None:
    world.log("talk.jsonl", say("x"))
    engine = world.engine()
    engine.bring_up_to_date()
    full = engine.index.entries["toy:talk"].session_id
    for name in ("toy:talk", "talk", full, full[:8].upper()):
        assert engine.resolve(name) == "toy:talk"
    engine.close()


def test_a_glimpse_reads_only_the_ends_of_a_log(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    path = world.log("a.jsonl", say("the title"), say("x" * 1000) * 3000)
    read = 0
    pread = reader.PlainStream.read

    def counting(self: reader.PlainStream, position: int, length: int) -> bytes:
        nonlocal read
        data = pread(self, position, length)
        read += len(data)
        return data

    monkeypatch.setattr(reader.PlainStream, "read", counting)
    facts = glimpse(Toy(), toy_source(path))
    assert facts.title == "the title"
    assert facts.user_messages == 0
    assert read <= 128 << 10


def test_a_glimpse_finds_a_title_behind_a_long_beginning(world: World) -> None:
    instructions = orjson.dumps({"system": "x" * 100_000}) + b"\n"
    path = world.log("a.jsonl", instructions, say("the title"), say("x" * 1000) * 600)
    assert glimpse(Toy(), toy_source(path)).title == "the title"


def test_a_glimpse_at_a_long_compressed_log_says_nothing_about_its_end(tmp_path: Path) -> None:
    records = codex_log.conversation("the title", "Done.") + [codex_log.agent_event("x" * 1000)] * 300
    path = tmp_path / f"rollout-2026-05-01T10-00-00-{codex_log.THREAD}.jsonl.zst"
    for log, known in ((records[:8], True), ([*records, codex_log.started()], False)):
        path.write_bytes(zstandard.compress(codex_log.lines(*log)))
        source = Codex().identify(path, lambda _: b"")
        assert source is not None
        facts = glimpse(Codex(), source)
        assert facts.title == "the title"
        assert (facts.last_activity is not None) is known


def test_a_session_of_two_logs_is_named_by_the_first_and_stands_where_the_last_does(tmp_path: Path) -> None:
    folder = tmp_path / ".codex" / "sessions"
    folder.mkdir(parents=True)
    stem = f"rollout-2026-05-01T10-00-00-{codex_log.THREAD}"
    (folder / f"{stem}.jsonl").write_bytes(codex_log.lines(*codex_log.conversation("the title", "Done.")))
    later = [codex_log.meta(), codex_log.started(), *codex_log.prompt("taken up again")]
    (folder / f"{stem}_{CODEX_AGAIN}.jsonl").write_bytes(codex_log.lines(*later))
    engine = Engine(Home(tmp_path / "kato"), Config(), {"codex": Codex()}, {}, tmp_path, ManualClock())
    engine.start()
    (unread,) = engine.status().sessions
    engine.bring_up_to_date()
    (read,) = engine.status().sessions
    engine.close()
    assert unread.title == read.title == "the title"
    assert unread.reason == read.reason == "thinking"


def test_a_session_that_cannot_be_used_is_named_although_its_log_has_not_changed(world: World) -> None:
    world.log("a.jsonl", say("one"))
    engine = world.engine()
    engine.bring_up_to_date()
    engine.close()
    meta = world.home.meta("toy:a")
    meta.write_bytes(meta.read_bytes().replace(b'"schemaVersion": 1', b'"schemaVersion": 0'))
    engine = world.engine()
    assert engine.pending() == []
    problems = engine.bring_up_to_date().problems
    engine.close()
    assert list(problems) == ["toy:a"] and "schema version 0" in problems["toy:a"]


def test_modes_are_private_everywhere(world: World) -> None:
    world.log("a.jsonl", say("one"))
    engine = world.engine()
    engine.bring_up_to_date()
    engine.close()
    for path in [world.home.root, *world.home.root.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path
