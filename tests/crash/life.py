"""A life of the whole engine, made of anything that can happen in any order, against the simple fold as the model.

The same life is led by a seed (`python -m benchmarks.crash simulate`) and by Hypothesis, which shortens what fails.
"""

from __future__ import annotations

import errno
import random
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from kato_tui.core.errors import KatoError
from kato_tui.core.model.intents import Intent
from kato_tui.core.model.session import Period
from kato_tui.core.record.periods import uncovered
from tests.crash.disk import LOST, MOODS, CrashingDiskFs
from tests.crash.matrix import Lost, ended
from tests.crash.town import CLAUDE, DOCUMENT, GEMINI, SESSIONS, Log, Record, Town, check_state, tokens
from tests.crashing import CUTS, Crash, Cut
from tests.unit import gemini_log
from tests.world import body

#: What happens, and to whom or how.
Step = tuple[Any, ...]

OWN: Final = ("~/notes/{0}-a.md", "~/notes/{0}-b.jsonl", "~/notes/deep/{0}-c.md")
SHARED: Final = "~/notes/shared.jsonl"
WORDS: Final = (
    "",
    "just words",
    *(f"::start {place}" for place in (*OWN, SHARED)),
    *(f"::stop dest:{place}" for place in (*OWN, SHARED)),
    f"::capture {OWN[2]}",
    f"one\n::record {OWN[0]}\ntwo\n::stop dest:{OWN[0]}",
    "::stop",
)
ERRORS: Final = (errno.ENOSPC, errno.EIO, errno.EACCES)
_NUMBER = re.compile(rb"-(\d{5})-")


class Life:
    def __init__(self, base: Path) -> None:
        shutil.rmtree(base, ignore_errors=True)
        self.town = Town(base)
        self.town.begin()
        #: What a log still has to get: its last write was torn.
        self._torn: dict[str, bytes] = {}
        #: Messages that a log lost again: seen or not.
        self._dropped: set[bytes] = set()
        #: Sessions whose recordings were changed from outside the chat: when exactly is not in their logs.
        self._asked: set[str] = set()

    def step(self, what: str, *more: Any) -> None:
        """One thing happens; when the process dies of it, that is all that happens."""
        try:
            getattr(self, f"_{what}")(*more)
        except Crash:
            self.town.die()
        except KatoError:
            # It could not start, said so and ended.
            self.town.die()

    # What assistants do.

    def _say(self, name: str, words: str, tear: int | None = None) -> None:
        log = self._whole(name)
        before = log.path.read_bytes()
        log.turn(words.format(name), "word " * (tear or 0))
        if tear is not None:
            self._tear(log, before, tear)

    def _tear(self, log: Log, before: bytes, tear: int) -> None:
        """The engine may look in the middle of the write."""
        data = log.path.read_bytes()
        start = 0 if log.name == DOCUMENT else len(before)
        cut = start + (len(data) - start) * tear // 100
        log.path.write_bytes(data[:cut])
        self._torn[log.name] = data[cut:]

    def _whole(self, name: str) -> Log:
        log = self.town.logs[name]
        with log.path.open("ab") as file:
            file.write(self._torn.pop(name, b""))
        return log

    def _again(self, name: str) -> None:
        """The same log, as a new file."""
        log = self._whole(name)
        log.rewritten(log.records)

    def _lose(self, name: str, turns: int) -> None:
        """The last turns are gone from the log: a power cut, or a session that was taken back."""
        log = self._whole(name)
        ends = log.ends[: max(1, len(log.ends) - turns)]
        kept = log.records[: ends[-1]]
        self._forget(log, log.records[ends[-1] :])
        log.ends = ends
        log.rewritten(kept)

    def _prune(self, turns: int) -> None:
        """A log whose head is gone, as after a compaction."""
        log = self._whole(CLAUDE)
        cut = log.ends[min(turns, len(log.ends) - 1) - 1] if len(log.ends) > 1 else 0
        self._forget(log, log.records[:cut])
        log.ends = [end - cut for end in log.ends if end > cut]
        log.rewritten(log.records[cut:])

    def _forget(self, log: Log, gone: list[Record]) -> None:
        self._dropped.update(tokens(log.content_of(gone)))

    def _rewind(self) -> None:
        log = self._whole(GEMINI)
        log.add(gemini_log.rewind(f"{log.name}-u{log.number}"))
        log.ends[-1] = len(log.records)

    def _change(self, at: int) -> None:
        """A message of the document gets another part, long after it was written."""
        log = self._whole(DOCUMENT)
        answers = [number for number, record in enumerate(log.records) if record["type"] == "gemini"]
        number = answers[at % len(answers)]
        calls = log.records[number].get("toolCalls", [])
        late = gemini_log.call(f"late-{number}-{len(calls)}", output="found")
        log.records[number] = {**log.records[number], "toolCalls": [*calls, late]}
        log.rewritten(log.records)

    # What the user does.

    def _ask(self, name: str, action: Any, place: str) -> None:
        self._up()
        assert self.town.engine is not None
        self._asked.add(name)
        argument = place.format(name) if action != "stop" else f"dest:{place.format(name)}"
        session = self.town.logs[name].key.partition(":")[2]
        self.town.engine.submit(Intent(action=action, argument=argument, session=session))

    # What the program and the machine do.

    def _up(self) -> None:
        if self.town.engine is None:
            self.town.start()

    def _poll(self) -> None:
        self.town.poll()

    def _wait(self, seconds: int) -> None:
        self._up()
        assert self.town.engine is not None
        self.town.clock.advance(seconds)
        self.town.engine.tick()

    def _restart(self) -> None:
        self._up()
        with suppress(OSError):
            self.town.close()
        self.town.die()

    def _kill(self) -> None:
        self.town.die()

    def _power(self, mood: str, seed: int) -> None:
        self.town.die()
        self.town.disk.cut_power(mood, random.Random(seed))

    def _fuse(self, at: int, cut: Cut, error: int | None) -> None:
        """From now on the process's `at`-th operation kills it, or fails."""
        with suppress(OSError):
            if self.town.engine is not None:
                self.town.close()
        self.town.die()
        self.town.start(CrashingDiskFs(self.town.disk, at, cut, error))

    # What is true at the end.

    def end(self) -> None:
        self.town.die()
        for name in SESSIONS:
            self._whole(name)
        check_state(ended(self.town))
        self.town.disk.cut_power(LOST, random.Random(0))
        for log in self.town.logs.values():
            self._check_twin(log)
        self._check_recordings()

    def _check_twin(self, log: Log) -> None:
        found = tokens(self.town.twin(log.name))
        numbers = [int(match[1]) for token in found if (match := _NUMBER.search(token))]
        assert numbers == sorted(set(numbers)), f"{log.name}: twice or out of order"
        there = set(tokens(log.content()))
        assert there <= set(found), f"{log.name}: lost"
        assert set(found) <= there | self._dropped, f"{log.name}: out of nowhere"

    def _check_recordings(self) -> None:
        shared: list[bytes] = []
        for name in SESSIONS:
            periods: dict[str, list[tuple[int, int | None]]] = {}
            for recording in self.town.recordings(name):
                assert recording.pending is None
                path = Path(recording.destination)
                expected = self.town.expected(name, recording)
                if path.name == "shared.jsonl":
                    shared += expected.splitlines(keepends=True)
                    key = f'"sessionId":"{self.town.events(name)[0]["session"]["sessionId"]}"'.encode()
                    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
                    assert b"".join(line for line in lines if key in line) == expected, path.name
                else:
                    assert (body(path) if path.exists() else b"") == expected, path.name
                periods[path.name] = [(one.started_cursor, one.stopped_cursor) for one in recording.periods]
            if name not in self._asked:
                assert periods == _periods(self.town.events(name)), f"periods of {name}"
        whole = self.town.notes / "shared.jsonl"
        assert sorted(whole.read_bytes().splitlines(keepends=True) if whole.exists() else []) == sorted(shared)


def _periods(events: list[Record]) -> dict[str, list[tuple[int, int | None]]]:
    """The model: what the commands in a twin make of it, one after the other."""
    files: dict[str, list[tuple[int, int | None]]] = {}
    for event in events:
        if event["kind"] != "user.kato-command":
            continue
        command, raw = event["payload"]["command"], event["payload"].get("rawArgument")
        seq = event["seq"]
        name = str(raw).rpartition("/")[2] if raw else None
        if command == "stop":
            _stop(files, name, seq)
        else:
            _start(files.setdefault(str(name), []), seq, 1 if command == "capture" else seq)
    return files


def _stop(files: dict[str, list[tuple[int, int | None]]], name: str | None, seq: int) -> None:
    for file, periods in files.items():
        if name in (None, file) and periods and periods[-1][1] is None:
            periods[-1] = periods[-1][0], max(seq, periods[-1][0] - 1)


def _start(periods: list[tuple[int, int | None]], seq: int, first: int) -> None:
    gaps = uncovered([Period(started_cursor=one, stopped_cursor=last) for one, last in periods], first)
    if not gaps:
        return
    if periods and periods[-1][1] is None:
        periods[-1] = periods[-1][0], seq - 1
        gaps = [*gaps, (seq, None)]
    periods += gaps


# Drawn by a seed.


def _says(dice: random.Random) -> Step:
    return "say", dice.choice(SESSIONS), dice.choice(WORDS), dice.choice((None, None, None, 0, 40, 99))


_DRAWS: Final[tuple[tuple[int, Callable[[random.Random], Step]], ...]] = (
    (8, _says),
    (8, lambda dice: ("poll",)),
    (1, lambda dice: ("again", dice.choice(SESSIONS))),
    (1, lambda dice: ("lose", dice.choice(SESSIONS), dice.randint(1, 2))),
    (1, lambda dice: ("prune", dice.randint(1, 3))),
    (1, lambda dice: ("rewind",)),
    (1, lambda dice: ("change", dice.randrange(20))),
    (1, lambda dice: ("ask", dice.choice(SESSIONS), dice.choice(("start", "capture", "stop")), dice.choice(OWN))),
    (1, lambda dice: ("wait", dice.choice((1, 90)))),
    (1, lambda dice: ("restart",)),
    (1, lambda dice: ("kill",)),
    (2, lambda dice: ("power", dice.choice(MOODS), dice.randrange(1 << 30))),
    (3, lambda dice: ("fuse", dice.randint(1, 150), dice.choice(CUTS), dice.choice((None, None, *ERRORS)))),
)
_CHOICES: Final = [draw for weight, draw in _DRAWS for _ in range(weight)]


def drawn(seed: int) -> list[Step]:
    dice = random.Random(seed)
    return [dice.choice(_CHOICES)(dice) for _ in range(dice.randint(4, 22))]


def shown(script: list[Step]) -> str:
    return "; ".join(" ".join(getattr(part, "__name__", str(part)) for part in one) for one in script)


def live(base: Path, script: list[Step]) -> None:
    """Lead this life and look at what it came to."""
    life = Life(base)
    try:
        for one in script:
            life.step(*one)
        life.end()
    except Exception as error:
        raise Lost(f"{shown(script)} ({type(error).__name__}: {error})") from error


def player(base: Path) -> Callable[[int], None]:
    return lambda seed: live(base / "town", drawn(seed))
