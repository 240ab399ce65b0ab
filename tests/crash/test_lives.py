"""Lives of the whole engine in any order; many more by `python -m benchmarks.crash simulate` and `stateful`."""

from __future__ import annotations

from pathlib import Path

import pytest

from kato_tui.core.record.recorder import Recorder
from tests.conftest import LONG
from tests.crash.conftest import linux_only
from tests.crash.life import drawn, live
from tests.crash.matrix import Lost
from tests.crash.stateful import lives
from tests.crash.test_harness import no_intent

pytestmark = [linux_only, pytest.mark.usefixtures("pieces")]


def test_any_life_of_a_seed_gives_the_fold_of_its_logs(memory: Path) -> None:
    for seed in range(1000 if LONG else 30):
        live(memory / "town", drawn(seed))


def test_any_life_of_hypothesis_gives_the_fold_of_its_logs(memory: Path) -> None:
    lives(memory, seed=0, examples=1000 if LONG else 30)


def test_a_life_without_intents_is_found_to_be_wrong(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the two above would prove nothing."""
    monkeypatch.setattr(Recorder, "_put_pending", no_intent)
    with pytest.raises(Lost):
        for seed in range(300):
            live(memory / "town", drawn(seed))
