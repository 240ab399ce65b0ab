"""Lives in any order; many more by `python -m benchmarks.crash` with `store`, `simulate` and `stateful`."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from kato_tui.core.model.session import SessionMetadata
from kato_tui.core.record.recorder import Recorder
from kato_tui.core.store.sessions import SessionStore
from tests.conftest import LONG
from tests.crash import store
from tests.crash.conftest import linux_only
from tests.crash.life import Step, drawn, live
from tests.crash.matrix import Lost, ended
from tests.crash.stateful import lives
from tests.crash.test_harness import no_intent
from tests.crash.town import CLAUDE, DOCUMENT, Town
from tests.crashing import Crash
from tests.world import body

pytestmark = [linux_only, pytest.mark.usefixtures("pieces")]


def test_any_life_of_a_seed_gives_the_fold_of_its_logs(memory: Path) -> None:
    for seed in range(1000 if LONG else 30):
        live(memory / "town", drawn(random.Random(seed)))


def test_any_life_without_an_engine_gives_the_fold_of_its_logs(memory: Path) -> None:
    play = store.player(memory)
    for seed in range(5000 if LONG else 200):
        play(seed)


def test_a_command_that_was_taken_back_and_is_typed_again_runs_again(memory: Path) -> None:
    """The same line in another message is another command, also in a document that is read from its start each time."""
    stop = "::stop dest:~/notes/document-a.md"
    script: list[Step] = [
        ("say", DOCUMENT, stop),
        ("poll",),
        ("lose", DOCUMENT, 1),
        ("poll",),
        ("say", DOCUMENT, f"one\n::record ~/notes/document-a.md\ntwo\n{stop}"),
    ]
    live(memory / "town", script)


@pytest.mark.parametrize("kept", [2, 0])
def test_a_command_that_its_log_lost_in_the_crash_runs_all_the_same(
    memory: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    """The twin has it, the metadata has not: whether the log ends where it was read to, or is read from its start."""
    town = Town(memory)
    town.begin()
    log = town.logs[CLAUDE]
    log.turn("::start ~/notes/a.md")
    with monkeypatch.context() as patch, pytest.raises(Crash):
        patch.setattr(SessionStore, "update", _dies)
        town.poll()
    town.die()
    assert b"::start" in town.twin(CLAUDE)
    log.rewritten(log.records[:kept])
    ended(town)
    (recording,) = town.recordings(CLAUDE)
    assert body(Path(recording.destination)) == town.expected(CLAUDE, recording)


def _dies(self: SessionStore, key: str, change: Any) -> SessionMetadata:
    raise Crash


def test_any_life_of_hypothesis_gives_the_fold_of_its_logs(memory: Path) -> None:
    lives(memory, seed=0, examples=1000 if LONG else 30)


def test_a_life_without_intents_is_found_to_be_wrong(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the two above would prove nothing."""
    monkeypatch.setattr(Recorder, "_put_pending", no_intent)
    with pytest.raises(Lost):
        for seed in range(300):
            live(memory / "town", drawn(random.Random(seed)))
