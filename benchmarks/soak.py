"""`python -m benchmarks.soak`: days of work with all assistants, played as fast as they go, in one engine.

What may not grow with the days: memory, open files, and the work for each new event (file operations, bytes written,
bytes of logs read, passes over twins). Sessions get longer every day, so whatever looks at old bytes shows.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from kato_tui.core.clock import stamp
from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.model.intents import Intent
from kato_tui.core.paths import Home
from kato_tui.core.providers.registry import PROVIDERS
from kato_tui.core.store.twin import TwinReader
from tests.conftest import ManualClock
from tests.crashing import CrashingFs
from tests.machine import Traffic, counted_reads
from tests.unit import claude_log, codex_log, gemini_log

Record = dict[str, Any]

_BEGUN: Final = datetime(2026, 11, 18, tzinfo=UTC)
#: Steps of a day, and the seconds from one to the next.
_STEPS: Final = 96
_PAUSE: Final = 900.0
#: The first third of the days fills what is bounded (a translator remembers its last 256 messages). Of the others, the
#: last may not be dearer than those before by more than this.
_TOLERANCE: Final = 1.25
_MEMORY: Final = 24 << 20


class CountingFs(CrashingFs):
    """Counts operations and the bytes that are written."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def write(self, descriptor: int, data: bytes) -> None:
        self.bytes += len(data)
        # The list of writes is for crash tests; kept for days, it would be the leak that is looked for.
        self.writes.clear()
        super().write(descriptor, data)


@dataclass(frozen=True, slots=True)
class Day:
    """What one day came to; work is per event."""

    number: int
    events: int
    memory: int
    handles: int
    operations: float
    written: float
    read: float
    #: Bytes of twins that were read again.
    twin: float


class Person:
    """Somebody who talks to one assistant all day, in one session that grows."""

    def __init__(self, base: Path, provider: str, number: int) -> None:
        self.provider = provider
        self.number = number
        self.said = 0
        self.session = f"0f0f0f0f-0000-4000-8000-{number:012x}"
        names = {
            "claude": f".claude/projects/-w{number % 4}/{self.session}.jsonl",
            "codex": f".codex/sessions/2026/05/01/rollout-2026-05-01T10-00-00-{self.session}.jsonl",
            "gemini": f".gemini/tmp/app{number % 3}/chats/session-{number}.jsonl",
        }
        self.path = base / names[provider]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        heads = {"claude": [], "codex": [codex_log.meta(self.session)], "gemini": [gemini_log.header(self.session)]}
        self.path.write_bytes(claude_log.lines(*heads[provider]))

    def talk(self, rng: Random, command: str = "") -> None:
        """A prompt, an answer, a call and its result."""
        self.said += 1
        at = self.said
        text = f"{self.session} {at} {'word ' * rng.randint(1, 40)}" + (f"\n{command}" if command else "")
        with self.path.open("ab") as log:
            # Times go on as they do in real logs: what goes back in time may be a copy, and is compared with the twin.
            when = stamp(_BEGUN + timedelta(minutes=at))
            records = getattr(self, f"_{self.provider}")(text, at)
            log.write(claude_log.lines(*(one | {"timestamp": when} if "timestamp" in one else one for one in records)))

    def _claude(self, text: str, at: int) -> list[Record]:
        name = f"{self.number}-{at}"
        return [
            claude_log.typed(text, f"u{name}", at),
            claude_log.assistant(claude_log.text(f"re {text}"), uuid=f"a{name}", message=f"m{name}"),
            claude_log.assistant(claude_log.call(f"t{name}", command=text), uuid=f"b{name}", message=f"m{name}"),
            claude_log.result("out", f"t{name}", f"r{name}"),
        ]

    def _codex(self, text: str, at: int) -> list[Record]:
        reply = [codex_log.assistant_item(f"re {text}"), codex_log.agent_event(f"re {text}")]
        call = [codex_log.call(f"c{at}", arguments={"cmd": text}), codex_log.output(f"c{at}", "out")]
        return [
            codex_log.started(),
            *codex_log.prompt(text),
            *reply,
            *call,
            codex_log.tokens(at * 10),
            codex_log.done(),
        ]

    def _gemini(self, text: str, at: int) -> list[Record]:
        answer = gemini_log.gemini(f"re {text}", f"g{at}", at % 60, toolCalls=[gemini_log.call(f"c{at}")])
        return [gemini_log.user(text, f"u{at}", at % 60), answer, gemini_log.updated(at % 60)]


class Soak:
    def __init__(self, base: Path, people: int, seed: int, steps: int = _STEPS) -> None:
        self.rng = Random(seed)
        self._base = base
        self._steps = steps
        self._twin_bytes = 0
        self.people = [Person(base, ("claude", "codex", "gemini")[number % 3], number) for number in range(people)]
        self.fs, self.clock = CountingFs(), ManualClock()
        self.engine = Engine(
            Home(base / ".kato"), Config(global_auto_generate_snapshots=True), PROVIDERS, {}, base, self.clock, self.fs
        )
        self.engine.start()

    def days(self, count: int) -> Iterator[Day]:
        raw_lines = TwinReader._raw_lines

        def counting(twin: TwinReader, offset: int, end: int | None = None) -> Iterator[bytes]:
            for line in raw_lines(twin, offset, end):
                self._twin_bytes += len(line)
                yield line

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(TwinReader, "_raw_lines", counting)
            with counted_reads() as traffic:
                for number in range(count):
                    yield self._day(number, traffic)

    def close(self) -> None:
        self.engine.close()

    def check(self) -> None:
        """Everything that was said is in its twin once and in order, and nothing went wrong on the way."""
        assert self.engine.totals.problems == {}
        assert not [one.code for one in self.engine.notices if one.severity == "error"]
        for person in self.people:
            prompts = [f"{person.session} {at} " for at in range(1, person.said + 1)]
            twin = self.engine.home.twin(f"{person.provider}:{person.session}").read_text()
            found = [line for line in twin.splitlines() if '"kind":"user.message"' in line]
            assert len(found) == len(prompts), (person.session, len(found), len(prompts))
            assert all(prompt in line for prompt, line in zip(prompts, found, strict=True))

    def _day(self, number: int, traffic: Traffic) -> Day:
        before = (self.engine.totals.events, self.fs.count, self.fs.bytes, traffic.log_bytes, self._twin_bytes)
        for step in range(self._steps):
            self._step(number, step)
        events, operations, written, read, twin = (
            now - then
            for now, then in zip(
                (self.engine.totals.events, self.fs.count, self.fs.bytes, traffic.log_bytes, self._twin_bytes),
                before,
                strict=True,
            )
        )
        gc.collect()
        return Day(
            number + 1,
            events,
            memory(),
            len(list(Path("/proc/self/fd").iterdir())),
            operations / events,
            written / events,
            read / events,
            twin / events,
        )

    def _step(self, day: int, step: int) -> None:
        """Some people talk; now and then one starts or stops a recording; the engine follows."""
        for person in self.rng.sample(self.people, max(1, len(self.people) // 3)):
            person.talk(self.rng)
        if step == 1:
            for person in self.people[: len(self.people) // 2]:
                name = f"~/notes/{person.number}-{day % 3}.md"
                self._ask("record", name, person)
        if step == self._steps - 2:
            self.engine.submit(Intent(action="stop"))
        if step % 8 == 0:
            self.engine.discover()
        else:
            self.engine.stat(set(self.engine.sessions))
        self.engine.bring_up_to_date()
        self.engine.tick()
        self.clock.advance(_PAUSE)

    def _ask(self, action: Any, argument: str, person: Person) -> None:
        key = f"{person.provider}:{person.session}"
        if key in self.engine.sessions:
            self.engine.submit(Intent(action=action, argument=argument, session=key))


def memory() -> int:
    """Resident now, which a peak would hide."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def grown(days: list[Day]) -> list[str]:
    """What grew that may not: nothing, if all is well."""
    third = max(1, len(days) // 3)
    first, last = days[third : 2 * third], days[2 * third :]
    found = []
    if max(day.memory for day in last) > max(day.memory for day in first) + _MEMORY:
        found.append(f"memory: {max(d.memory for d in first) >> 20} MB, later {max(d.memory for d in last) >> 20} MB")
    if max(day.handles for day in last) > max(day.handles for day in first):
        found.append("open files")
    for name in ("operations", "written", "read", "twin"):
        early = max(getattr(day, name) for day in first)
        late = max(getattr(day, name) for day in last)
        if late > early * _TOLERANCE:
            found.append(f"{name} per event: {early:.2f}, later {late:.2f}")
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--people", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    days: list[Day] = []
    with tempfile.TemporaryDirectory(prefix="kato-soak-") as folder:
        soak = Soak(Path(folder), options.people, options.seed)
        print("day    events  memory  files  operations  written     read    twin: per event")
        for day in soak.days(options.days):
            days.append(day)
            print(
                f"{day.number:>3} {day.events:>9,} {day.memory >> 20:>4} MB {day.handles:>6} {day.operations:>11.2f}"
                f" {day.written:>8.0f} {day.read:>8.0f} {day.twin:>7.0f}",
                flush=True,
            )
        soak.check()
        soak.close()
    found = grown(days)
    print("\n".join(f"GREW {one}" for one in found) or f"nothing grew over {len(days)} days")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
