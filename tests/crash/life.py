"""A life in a town, made of anything that can happen in any order, against the simple fold as the model.

The same life is led by a seed (`python -m benchmarks.crash simulate`) and by Hypothesis, which shortens what fails.
"""

from __future__ import annotations

import errno
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from kato_tui.core.errors import KatoError
from kato_tui.core.model.intents import Intent
from kato_tui.core.model.session import Period
from kato_tui.core.record.periods import uncovered
from tests.crash.disk import LOST, MOODS, CrashingDiskFs
from tests.crash.edits import EDITS, OTHER, note_for
from tests.crash.matrix import Lost, ended
from tests.crash.town import CLAUDE, DOCUMENT, GEMINI, SESSIONS, Hint, Log, Record, Town, check_state, tokens
from tests.crashing import CUTS, Crash, Cut
from tests.unit import gemini_log
from tests.world import body, fold

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
HINTS: Final[tuple[Hint, ...]] = ("look", "look", "stir", "stat", "everywhere")
ERRORS: Final = (errno.ENOSPC, errno.EIO, errno.EACCES)
_NUMBER = re.compile(rb"-(\d{5})-")


@dataclass
class _Touched:
    """A file that the user edited: what may be true of it besides what was recorded."""

    #: Tokens that the user took away, and those that were under way then: they may come (again).
    gone: Counter[bytes] = field(default_factory=Counter)
    again: Counter[bytes] = field(default_factory=Counter)
    #: How often the user's note stands in it, and whether it begins with another file of the user's.
    notes: int = 0
    other: bool = False
    #: The user rewrote words that were under way: they are not known any more, and what the power left beside them.
    rewrote: bool = False


class Life:
    def __init__(self, town: Town) -> None:
        self.town = town
        #: What the user did to which file.
        self._touched: dict[Path, _Touched] = {}
        #: What a log still has to get: its last write was torn.
        self._torn: dict[str, bytes] = {}
        #: Messages that a log lost again: seen or not.
        self._dropped: set[bytes] = set()
        #: Sessions whose recordings were changed from outside the chat, or began anew since their file was taken
        #: away: when exactly is not in their logs.
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

    def _edit(self, number: int, place: str) -> None:
        edit, path = EDITS[number], self.town.base / place.removeprefix("~/")
        edited = edit(self.town, str(path.relative_to(self.town.notes)))
        if edited is None:
            return
        data = path.read_bytes() if path.exists() else b""
        touched = self._touched.setdefault(path, _Touched())
        touched.gone += Counter(edited.before) - Counter(tokens(data))
        touched.again += Counter(edited.under_way)
        touched.notes = data.count(note_for(path))
        touched.other = OTHER in data
        touched.rewrote |= edited.overwritten in edited.under_way
        if not data:
            self._asked.update(self.town.logs)

    # What the program and the machine do.

    def _up(self) -> None:
        if self.town.engine is None:
            self.town.start()

    def _poll(self) -> None:
        self.town.poll()

    def _hint(self, how: Hint, names: Sequence[str]) -> None:
        self._up()
        assert self.town.engine is not None
        self.town.engine.hint(how, [self.town.logs[name].path for name in names])

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

    def end(self, check: Callable[[Town], None] = check_state) -> None:
        self.town.die()
        for name in self.town.logs:
            self._whole(name)
        check(ended(self.town))
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
        #: By file and session: what all recordings together are to hold of it.
        wanted: dict[Path, dict[str, bytes]] = {}
        for name in self.town.logs:
            events = self.town.events(name)
            periods: dict[str, list[tuple[int, int | None]]] = {}
            for recording in self.town.recordings(name):
                assert recording.pending is None
                path = Path(recording.destination)
                sessions = wanted.setdefault(path, {})
                sessions[name] = sessions.get(name, b"") + fold(recording, events)
                periods[path.name] = [(one.started_cursor, one.stopped_cursor) for one in recording.periods]
            if name not in self._asked:
                assert periods == _periods(events), f"periods of {name}"
        for path, sessions in wanted.items():
            data = body(path) if path.exists() else b""
            if path in self._touched:
                _check_touched(self._touched[path], path, sessions)
            elif path.name == "shared.jsonl":
                _check_shared(data, sessions)
            else:
                assert data == b"".join(sessions.values()), path.name


def _check_shared(data: bytes, sessions: dict[str, bytes]) -> None:
    """Each session's lines in their own order; nothing else."""
    lines = data.splitlines(keepends=True)
    for name, expected in sessions.items():
        mine = set(expected.splitlines(keepends=True))
        assert b"".join(line for line in lines if line in mine) == expected, f"shared.jsonl: {name}"
    assert len(lines) == sum(expected.count(b"\n") for expected in sessions.values()), "shared.jsonl: more"


def _check_touched(touched: _Touched, path: Path, sessions: dict[str, bytes]) -> None:
    """What the user wrote stands as it is; of what was recorded only that is missing which the user took away."""
    data = path.read_bytes() if path.exists() else b""
    found, wanted = tokens(data), [token for expected in sessions.values() for token in tokens(expected)]
    assert b"\0" not in data or touched.rewrote, f"{path.name}: zeros"
    assert data.count(note_for(path)) == touched.notes, f"{path.name}: notes"
    assert OTHER in data or not touched.other, f"{path.name}: the user's file"
    times, due = Counter(found), Counter(wanted)
    for token in times.keys() | due.keys():
        least = due[token] - touched.gone[token]
        assert least <= times[token] <= max(least, 0) + touched.again[token], f"{path.name}: {token!r}"
    unsure = touched.gone.keys() | touched.again.keys()
    for name in sessions:
        of_session = f"token-{name}-".encode()
        assert [one for one in found if one not in unsure and one.startswith(of_session)] == [
            one for one in wanted if one not in unsure and one.startswith(of_session)
        ], f"{path.name}: order"


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


Draw = Callable[[random.Random, Sequence[str]], Step]


def _says(dice: random.Random, names: Sequence[str]) -> Step:
    return "say", dice.choice(names), dice.choice(WORDS), dice.choice((None, None, None, 0, 40, 99))


def _edits(dice: random.Random, names: Sequence[str]) -> Step:
    return "edit", dice.randrange(len(EDITS)), dice.choice((*OWN, SHARED)).format(dice.choice(names))


def _asks(dice: random.Random, names: Sequence[str]) -> Step:
    return "ask", dice.choice(names), dice.choice(("start", "capture", "stop")), dice.choice(OWN)


def _hints(dice: random.Random, names: Sequence[str]) -> Step:
    """Some are dropped, some come twice, none in order."""
    return "hint", dice.choice(HINTS), tuple(dice.choices(names, k=dice.randint(0, 3)))


def _fuses(dice: random.Random, names: Sequence[str]) -> Step:
    """Soon for the most part: the process may not come to many operations before the next thing happens."""
    at = dice.randint(1, dice.choice((15, 50, 150)))
    return "fuse", at, dice.choice(CUTS), dice.choice((None, None, *ERRORS))


_DRAWS: Final[tuple[tuple[int, Draw], ...]] = (
    (8, _says),
    (6, lambda dice, names: ("poll",)),
    (4, _hints),
    (1, lambda dice, names: ("again", dice.choice(names))),
    (1, lambda dice, names: ("lose", dice.choice(names), dice.randint(1, 2))),
    (1, lambda dice, names: ("prune", dice.randint(1, 3))),
    (1, lambda dice, names: ("rewind",)),
    (1, lambda dice, names: ("change", dice.randrange(20))),
    (1, _asks),
    (3, _edits),
    (1, lambda dice, names: ("wait", dice.choice((1, 90)))),
    (1, lambda dice, names: ("restart",)),
    (1, lambda dice, names: ("kill",)),
    (2, lambda dice, names: ("power", dice.choice(MOODS), dice.randrange(1 << 30))),
    (3, _fuses),
)
_CHOICES: Final = [draw for weight, draw in _DRAWS for _ in range(weight)]
#: What only one assistant does.
_OWN_WAYS: Final = {"prune": CLAUDE, "rewind": GEMINI, "change": DOCUMENT}


def drawn(dice: random.Random, names: Sequence[str] = SESSIONS, most: int = 22) -> list[Step]:
    """So many things at most, in the sessions of these names."""
    steps = [dice.choice(_CHOICES)(dice, names) for _ in range(dice.randint(4, most))]
    return [step for step in steps if _OWN_WAYS.get(step[0], names[0]) in names]


def shown(script: list[Step]) -> str:
    return "; ".join(" ".join(getattr(part, "__name__", str(part)) for part in one) for one in script)


def lead(life: Life, script: list[Step], check: Callable[[Town], None] = check_state) -> None:
    """Lead this life and look at what it came to."""
    try:
        for one in script:
            life.step(*one)
        life.end(check)
    except Exception as error:
        raise Lost(f"{shown(script)} ({type(error).__name__}: {error})") from error


def live(base: Path, script: list[Step]) -> None:
    """This life, in a town of the whole engine."""
    shutil.rmtree(base, ignore_errors=True)
    town = Town(base)
    town.begin()
    lead(Life(town), script)


def player(base: Path) -> Callable[[int], None]:
    return lambda seed: live(base / "town", drawn(random.Random(seed)))
