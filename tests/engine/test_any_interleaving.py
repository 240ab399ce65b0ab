"""Whatever happens in whatever order, each file holds exactly the events of its recording's periods.

A script of things that users, disks and machines do is played twice: as drawn, and without the disturbances
(failures, restarts, kills). Both must give the files that rendering the periods' events in one go gives, and
Markdown files that are the same to the byte.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import LONG
from tests.crashing import DISK_FULL, NOT_ALLOWED, BrokenFs
from tests.world import World, body

Step = tuple[Any, ...]

SESSIONS = ("talk", "other")
#: Files of one session each ({0} is its name), and one that both may write to.
OWN = ("~/notes/{0}-a.md", "~/notes/{0}-b.md", "~/notes/deep/{0}-c.md", "~/notes/{0}-d.jsonl")
SHARED = "~/notes/shared.jsonl"
DISTURBANCES = ("restart", "kill", "break", "mend")

destinations = st.sampled_from((*OWN, SHARED))
commands = st.one_of(
    st.builds("::start {}".format, destinations),
    st.builds("::record {}".format, destinations),
    st.builds("::record {} from -2".format, destinations),
    st.builds("::capture {}".format, destinations),
    st.builds("::export {}".format, st.sampled_from(OWN)),
    st.builds("::stop dest:{}".format, destinations),
    st.sampled_from(["::stop", "::stop id:00000001", "::strat", "::start /etc/x.md"]),
)
texts = st.lists(st.one_of(st.sampled_from(["one", "- two", "yes", "```", "# three", ""]), commands), max_size=4)
sessions = st.sampled_from(SESSIONS)
steps = st.one_of(
    st.tuples(st.just("say"), sessions, texts.map("\n".join)),
    st.tuples(st.just("say"), sessions, texts.map("\n".join)),
    st.just(("poll",)),
    st.just(("poll",)),
    st.tuples(st.just("ask"), sessions, st.sampled_from(["start", "record", "capture"]), destinations),
    st.tuples(st.just("ask"), sessions, st.just("export"), st.sampled_from(OWN)),
    st.tuples(st.just("ask"), sessions, st.just("resume"), st.sampled_from([f"dest:{one}" for one in OWN])),
    st.tuples(st.just("ask"), sessions, st.just("stop"), st.none()),
    st.tuples(st.just("wait"), st.sampled_from([1, 90])),
    st.just(("restart",)),
    st.just(("kill",)),
    st.tuples(st.just("break"), st.sampled_from([DISK_FULL, NOT_ALLOWED])),
    st.just(("mend",)),
)


class Play:
    def __init__(self, base: Path) -> None:
        self.world = World(base)
        self.fs = BrokenFs()
        self.said = 0
        for session in SESSIONS:
            self._say(session, "first words")
        self.world.start(self.fs)
        self.world.poll()

    def _say(self, session: str, text: str) -> None:
        self.said += 1
        at = f"2026-11-18T10:{self.said // 60 % 60:02}:{self.said % 60:02}Z"
        self.world.talk(text.replace("{0}", session), session=session, at=at)

    def step(self, what: str, *more: Any) -> None:
        world = self.world
        if what == "say":
            self._say(*more)
        elif what == "poll":
            world.poll()
        elif what == "ask":
            session, action, argument = more
            world.ask(action, argument and argument.replace("{0}", session), session=session)
        elif what == "wait":
            world.clock.advance(more[0])
            world.engine.tick()
        elif what == "restart":
            world.restart(self.fs)
        elif what == "kill":
            world.die()
            world.start(self.fs)
        elif what == "break":
            self.fs.broken = (world.notes, more[0])
        else:
            self.fs.broken = None

    def end(self) -> None:
        self.fs.broken = None
        self.world.poll()
        self.world.clock.advance(3600)
        self.world.engine.tick()
        assert not self.world.engine.recorder.failures
        self.world.engine.close()

    def check(self) -> None:
        """The reference: every file is the fold of its periods, and nothing else is in the folder."""
        known = set()
        for session in SESSIONS:
            for recording in self.world.recordings(session):
                path = Path(recording.destination)
                known.add(path)
                expected = self.world.expected(recording, session)
                assert recording.pending is None
                if path.name == "shared.jsonl":
                    key = f'"providerSessionId":"{session}"'.encode()
                    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
                    assert b"".join(line for line in lines if key in line) == expected
                else:
                    assert (body(path) if path.exists() else b"") == expected, path.name
        assert {path for path in self.world.notes.rglob("*") if path.is_file()} <= known

    def markdown(self) -> dict[str, bytes]:
        return {path.name: body(path) for path in self.world.notes.rglob("*.md")}


def _played(script: list[Step], base: Path) -> Play:
    base.mkdir()
    play = Play(base)
    for one in script:
        play.step(*one)
    play.end()
    play.check()
    return play


@settings(max_examples=1500 if LONG else 60)
@given(st.lists(steps, min_size=4, max_size=25))
@example(
    [("say", "talk", "::start ~/notes/{0}-a.md"), ("poll",), ("break", DISK_FULL), ("say", "talk", "one"), ("poll",)]
)
def test_any_order_of_events_gives_the_files_of_a_quiet_day(script: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        disturbed = _played(script, Path(folder) / "disturbed")
        quiet = _played([one for one in script if one[0] not in DISTURBANCES], Path(folder) / "quiet")
        assert disturbed.markdown() == quiet.markdown()


def test_the_scripts_reach_what_they_are_meant_to_reach(tmp_path: Path) -> None:
    """A failure that is noticed, and a restart in the middle of it: or the property above would prove nothing."""
    script: list[Step] = [
        ("say", "talk", "::capture ~/notes/{0}-a.md\none\n::start ~/notes/shared.jsonl"),
        ("poll",),
        ("break", NOT_ALLOWED),
        ("say", "talk", "two"),
        ("poll",),
    ]
    play = Play(tmp_path)
    for one in script:
        play.step(*one)
    assert len(play.world.engine.recorder.failures) == 2
    play.step("kill")
    assert len(play.world.engine.recorder.failures) == 2
    play.end()
    play.check()
    assert b"two" in play.markdown()["talk-a.md"]


def test_a_disk_that_is_full_everywhere_stops_nothing_and_loses_nothing(tmp_path: Path) -> None:
    """Not only the recordings: neither metadata nor twin nor index can be written, and time goes on."""
    play = Play(tmp_path)
    play.step("say", "talk", "::capture ~/notes/{0}-a.md\none")
    play.step("poll")
    play.fs.broken = (tmp_path, DISK_FULL)
    for step in (("wait", 1), ("say", "talk", "two"), ("poll",), ("wait", 90)):
        play.step(*step)
    assert play.world.ask("start", "~/notes/talk-b.md").severity == "error"
    play.step("mend")
    play.step("say", "talk", "three")
    play.end()
    play.check()
    assert [play.markdown()["talk-a.md"].count(word) for word in (b"one", b"two", b"three")] == [1, 1, 1]


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    from kato_tui.core.record import recorder

    monkeypatch.setattr(recorder, "_CHUNK", 60)
    monkeypatch.setattr(recorder, "_MAX_INLINE", 200)
