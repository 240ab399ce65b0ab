"""All targets by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from tests.fuzz import stores, wire, words
from tests.fuzz.corpus import FORMS
from tests.fuzz.logs import IngestTarget, LogTarget, ReaderTarget, ZstdTarget
from tests.fuzz.target import Target

_OTHERS: Final[tuple[type[Target], ...]] = (
    ReaderTarget,
    ZstdTarget,
    IngestTarget,
    *words.TARGETS,
    *stores.TARGETS,
    *wire.TARGETS,
)
TARGETS: Final[dict[str, Callable[[Path], Target]]] = {
    **{form.name: partial(LogTarget, form=form) for form in FORMS},
    **{target.name: target for target in _OTHERS},
}
WEIGHTS: Final = {
    **dict.fromkeys((form.name for form in FORMS), LogTarget.weight),
    **{target.name: target.weight for target in _OTHERS},
}
