"""The same lives as `life` draws by a seed, led by Hypothesis: it looks for what breaks, and shortens it."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.crash.disk import MOODS
from tests.crash.edits import EDITS
from tests.crash.life import ERRORS, HINTS, OWN, SHARED, WORDS, Step, live
from tests.crash.town import SESSIONS
from tests.crashing import CUTS

_names = st.sampled_from(SESSIONS)
_steps: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("say"), _names, st.sampled_from(WORDS), st.sampled_from((None, 0, 40, 99))),
    st.tuples(st.just("say"), _names, st.sampled_from(WORDS), st.none()),
    st.just(("poll",)),
    st.just(("poll",)),
    st.tuples(st.just("hint"), st.sampled_from(HINTS), st.lists(_names, max_size=3)),
    st.tuples(st.just("again"), _names),
    st.tuples(st.just("lose"), _names, st.integers(1, 2)),
    st.tuples(st.just("prune"), st.integers(1, 3)),
    st.just(("rewind",)),
    st.tuples(st.just("change"), st.integers(0, 19)),
    st.tuples(st.just("ask"), _names, st.sampled_from(("start", "capture", "stop")), st.sampled_from(OWN)),
    st.builds(
        lambda number, place, name: ("edit", number, place.format(name)),
        st.integers(0, len(EDITS) - 1),
        st.sampled_from((*OWN, SHARED)),
        _names,
    ),
    st.tuples(st.just("wait"), st.sampled_from((1, 90))),
    st.just(("restart",)),
    st.just(("kill",)),
    st.tuples(st.just("power"), st.sampled_from(MOODS), st.integers(0, 1 << 30)),
    st.tuples(st.just("fuse"), st.integers(1, 150), st.sampled_from(CUTS), st.sampled_from((None, *ERRORS))),
)
_scripts = st.lists(_steps, min_size=3, max_size=22)


def lives(base: Path, *, seed: int, examples: int) -> None:
    """So many lives; another seed gives other ones."""
    hypothesis.seed(seed)(
        settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )(given(_scripts)(lambda script: live(base / "town", script)))
    )()


#: Lives in one schedule of the long run.
EXAMPLES = 50


def player(base: Path) -> Callable[[int], None]:
    def play(number: int) -> None:
        lives(base, seed=random.Random(number).getrandbits(32), examples=EXAMPLES)

    return play
