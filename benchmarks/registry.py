"""The measurements there are. A module adds its own by decorating a function, and its name to `MODULES`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from benchmarks.bench import Bench

#: Run in this order: the baselines first, since ratios are taken to them.
MODULES: Final = (
    "benchmarks.baselines",
    "benchmarks.catchup",
    "benchmarks.workers",
    "benchmarks.starts",
    "benchmarks.giants",
    "benchmarks.one_event",
    "benchmarks.exporting",
    "benchmarks.processes",
    "benchmarks.latency",
    "benchmarks.screen",
)


@dataclass(frozen=True, slots=True)
class Goal:
    sign: Literal["<=", ">="]
    bound: float

    def met(self, value: float) -> bool:
        return value <= self.bound if self.sign == "<=" else value >= self.bound


@dataclass(frozen=True, slots=True)
class Result:
    """One number of the table; `detail` says how it came about."""

    what: str
    value: float
    unit: str
    goal: Goal | None = None
    detail: str = ""

    @property
    def met(self) -> bool | None:
        return self.goal.met(self.value) if self.goal is not None else None


Measure = Callable[[Bench], Iterator[Result]]


@dataclass(frozen=True, slots=True)
class Measurement:
    name: str
    about: str
    measure: Measure


_FOUND: dict[str, Measurement] = {}


def measurement(name: str) -> Callable[[Measure], Measure]:
    """Register a measurement under `name`; the first line of its docstring is what `--list` says of it."""

    def register(measure: Measure) -> Measure:
        _FOUND[name] = Measurement(name, (measure.__doc__ or "").strip().split("\n")[0], measure)
        return measure

    return register


def at_most(bound: float) -> Goal:
    return Goal("<=", bound)


def at_least(bound: float) -> Goal:
    return Goal(">=", bound)


def measurements() -> dict[str, Measurement]:
    """By name, in the order of `MODULES`."""
    for module in MODULES:
        importlib.import_module(module)
    return dict(_FOUND)
