"""`python -m benchmarks.load`: the real program under more than anybody's load. Nothing may be lost, little be needed.

Each scenario runs `kato-tui --no-ui` in a home of its own, writes logs as assistants do, and compares every twin and
recording with what was written. `--scale` makes all of it smaller.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import orjson

from kato_tui.core.clock import stamp
from kato_tui.core.ingest.translate import Translation
from kato_tui.core.link import RemoteLink
from kato_tui.core.providers.registry import PROVIDERS, detect
from tests.e2e.running import Running
from tests.machine import uncaptured
from tests.unit import claude_log

_TICK: Final = 0.1
#: Seconds after the last record in which everything has to be on disk.
_PATIENCE: Final = 600.0
#: What the program may need at most, workers and all, whatever the load.
_MEMORY: Final = 1 << 30
_WORD: Final = re.compile(rb"\bs\d+r\d+\b")


@dataclass(slots=True)
class Figures:
    """What a scenario came to; `lost` names every session that is not as it was written."""

    rows: list[tuple[str, str]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def tell(self, what: str, value: str) -> None:
        self.rows.append((what, value))


class Watch:
    """Memory and processor time of a process and its workers, looked at every half second."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.peak = 0
        self.cpu = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(0.5):
            found = [_usage(pid) for pid in _family(self._pid)]
            self.peak = max(self.peak, sum(memory for memory, _ in found))
            self.cpu = max(self.cpu, sum(cpu for _, cpu in found))


def _family(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(one for child in children for one in _family(int(child)))]


def _usage(pid: int) -> tuple[int, float]:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (OSError, IndexError):
        return 0, 0.0
    return pages * os.sysconf("SC_PAGE_SIZE"), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Writers:
    """Claude sessions that say `s<session>r<record>`, so that what is missing, doubled or out of order is seen."""

    def __init__(self, running: Running, count: int) -> None:
        self.running = running
        self.said = [0] * count
        for number in range(count):
            self.path(number).parent.mkdir(parents=True, exist_ok=True)
            self.say(number, 1)

    def session(self, number: int) -> str:
        return f"0f0f0f0f-0000-4000-8000-{number:012x}"

    def path(self, number: int) -> Path:
        return self.running.base / f".claude/projects/-w{number % 40}/{self.session(number)}.jsonl"

    def say(self, number: int, records: int, filler: str = "") -> None:
        with self.path(number).open("ab") as log:
            log.write(self.lines(number, records, filler))

    def lines(self, number: int, records: int, filler: str = "") -> bytes:
        first = self.said[number] + 1
        self.said[number] += records
        now, session = stamp_now(), self.session(number)
        return claude_log.lines(
            *(
                claude_log.typed(f"s{number}r{record} {filler}", f"{number}-{record}", sessionId=session, timestamp=now)
                for record in range(first, first + records)
            )
        )

    def rewrite(self, number: int) -> None:
        """As a sync or a migration does: the same records, less the oldest, and a new one, by rename."""
        path = self.path(number)
        kept = path.read_bytes().splitlines(keepends=True)[1:]
        other = path.with_suffix(".tmp")
        other.write_bytes(b"".join(kept) + self.lines(number, 1))
        other.replace(path)

    def missing(self, number: int) -> str | None:
        """What is wrong with the session's twin: every record once, in its order."""
        words = self.running.words(self.session(number))
        wanted = [f"s{number}r{record}" for record in range(1, self.said[number] + 1)]
        found = [word.split()[0] for word in words]
        return None if found == wanted else f"{self.session(number)}: {len(found)} of {len(wanted)} records"

    def untrue(self, number: int) -> str | None:
        """What is wrong with the twin of a log that was never rewritten: it is what one pass over the log gives."""
        found = detect(self.path(number), PROVIDERS["claude"])
        assert found is not None
        twin = self.running.home.twin(f"claude:{self.session(number)}").read_bytes()
        same = uncaptured(twin) == uncaptured(b"".join(Translation(*found).lines()))
        return None if same else f"{self.session(number)}: not what one pass over its log gives"

    def settle(self) -> float:
        """Wait until every twin holds what was said; the seconds it took."""
        begun = time.monotonic()
        waiting = list(range(len(self.said)))
        while waiting and time.monotonic() - begun < _PATIENCE:
            waiting = [number for number in waiting if not self._holds_last(number)]
            if waiting:
                time.sleep(0.2)
        return time.monotonic() - begun

    def _holds_last(self, number: int) -> bool:
        twin = self.running.home.twin(f"claude:{self.session(number)}")
        try:
            with twin.open("rb") as file:
                file.seek(max(0, twin.stat().st_size - 4096))
                return b'"s%dr%d ' % (number, self.said[number]) in file.read()
        except OSError:
            return False


def status_of(running: Running) -> dict[str, Any]:
    """By a connection of its own: one over which nothing was said for minutes is closed."""
    link = running.connect()
    try:
        return link.status()
    finally:
        link.close()


def stamp_now() -> str:
    from datetime import UTC, datetime

    return stamp(datetime.now(UTC))


def growing(base: Path, options: argparse.Namespace, figures: Figures) -> None:
    """Many sessions grow at once, some are recorded, some rewritten over and over."""
    scale: float = options.scale
    count, recorded, rewritten = (max(3, int(number * scale)) for number in (2000, 50, 200))
    rate = max(10, int(1000 * scale))
    running = Running(base)
    writers = Writers(running, count + rewritten)
    for number in range(count, count + rewritten):
        # Long enough that what a rewrite leaves out was read before: what never was, nobody can keep.
        writers.say(number, 100)
    rng = Random(1)
    with _engine(running, figures) as link:
        figures.tell("first look at all", f"{writers.settle():.1f} s")
        for number in range(recorded):
            intent = {"action": "start", "argument": f"~/notes/{number}.md", "session": writers.session(number)}
            outcome = link.submit(intent)
            assert outcome["severity"] != "error", outcome
        said_before = list(writers.said)
        delays = _grow(writers, options.minutes * 60, rate, count, rewritten, rng)
        figures.tell("caught up after the end", f"{writers.settle():.1f} s")
        _wait_for_recordings(running, writers, said_before, recorded)
        counters = status_of(running)["engine"]["counters"]
    delays.sort()
    figures.tell("sessions, recordings", f"{count + rewritten:,}, {recorded}")
    figures.tell("records", f"{sum(writers.said):,}")
    figures.tell("rewrites met", f"{counters.get('rewrites', 0):,}")
    marks = [delays[min(len(delays) - 1, int(len(delays) * part))] * 1000 for part in (0.5, 0.95, 1.0)]
    figures.tell("append to twin, p50 / p95 / most", " / ".join(f"{mark:,.0f}" for mark in marks) + " ms")
    figures.lost += [wrong for number in range(count + rewritten) if (wrong := writers.missing(number))]
    figures.lost += [wrong for number in range(count) if (wrong := writers.untrue(number))]
    for number in range(recorded):
        found = _WORD.findall(_recorded(running, number))
        wanted = [b"s%dr%d" % (number, record) for record in range(said_before[number] + 1, writers.said[number] + 1)]
        if found != wanted:
            figures.lost.append(f"recording {number}: {len(found)} of {len(wanted)} records")


def _grow(writers: Writers, seconds: float, rate: int, count: int, rewritten: int, rng: Random) -> list[float]:
    """Write at the rate for so long. Gives how long single records took to their twins, looked at by a thread."""
    delays: list[float] = []
    over = threading.Event()
    probed: list[tuple[int, int, float]] = []
    prober = threading.Thread(target=_probe, args=(writers, probed, delays, over), daemon=True)
    prober.start()
    begun, written, rewrites = time.monotonic(), 0, 0.0
    while (elapsed := time.monotonic() - begun) < seconds:
        while written < elapsed * rate:
            number = rng.randrange(count)
            records = rng.randint(1, 5)
            writers.say(number, records, "word " * rng.randint(5, 60))
            written += records
            if len(probed) < 8 and rng.random() < 0.02:
                probed.append((number, writers.said[number], time.monotonic()))
        if rewrites < elapsed * 200 / 60 * rewritten / 200:
            writers.rewrite(count + rng.randrange(rewritten))
            rewrites += 1
        time.sleep(_TICK)
    over.set()
    prober.join()
    return delays or [0.0]


def _probe(writers: Writers, probed: list[tuple[int, int, float]], delays: list[float], over: threading.Event) -> None:
    while not over.is_set():
        for one in list(probed):
            number, record, at = one
            twin = writers.running.home.twin(f"claude:{writers.session(number)}")
            with twin.open("rb") as file:
                file.seek(max(0, twin.stat().st_size - 16_384))
                if b'"s%dr%d ' % (number, record) in file.read() or writers.said[number] > record + 20:
                    delays.append(time.monotonic() - at)
                    probed.remove(one)
        time.sleep(0.01)


def _wait_for_recordings(running: Running, writers: Writers, before: list[int], recorded: int) -> None:
    deadline = time.monotonic() + 60
    for number in range(recorded):
        last = b"s%dr%d" % (number, writers.said[number])
        grew = writers.said[number] > before[number]
        while grew and last not in _recorded(running, number) and time.monotonic() < deadline:
            time.sleep(0.1)


def _recorded(running: Running, number: int) -> bytes:
    """The text of a recording; there is no file before there is something to write."""
    path = running.base / f"notes/{number}.md"
    return path.read_bytes().partition(b"\n---\n")[2] if path.exists() else b""


class _Engine:
    """The program, running, with somebody who watches what it needs."""

    def __init__(self, running: Running, figures: Figures) -> None:
        self._running = running
        self._figures = figures

    def __enter__(self) -> RemoteLink:
        self._begun = time.monotonic()
        self._link = self._running.start()
        assert self._running.process is not None
        self._watch = Watch(self._running.process.pid)
        return self._link

    def __exit__(self, *_: object) -> None:
        problems = [one["code"] for one in status_of(self._running)["warnings"] if one["severity"] == "error"]
        self._link.close()
        self._watch.end()
        code, seconds = self._running.end()
        self._figures.tell("end after SIGTERM", f"{seconds:.1f} s, exit code {code}")
        self._figures.tell("memory at most", f"{self._watch.peak >> 20} MB")
        self._figures.tell("processor time", f"{self._watch.cpu:.0f} s of {time.monotonic() - self._begun:.0f} s")
        self._figures.lost += [f"notice {code}" for code in problems]
        if self._watch.peak > _MEMORY:
            self._figures.lost.append(f"memory: {self._watch.peak >> 20} MB")


def _engine(running: Running, figures: Figures) -> _Engine:
    return _Engine(running, figures)


def _once(running: Running, figures: Figures, what: str) -> None:
    """`--no-ui --once`, measured as a process."""
    begun = time.monotonic()
    with (running.base / "once.txt").open("ab") as out:
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "kato_tui", "--no-ui", "--once"],
            running.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1), (os.POSIX_SPAWN_DUP2, out.fileno(), 2)],
        )
        _, status, usage = os.wait4(pid, 0)
    cpu = usage.ru_utime + usage.ru_stime
    figures.tell(what, f"{time.monotonic() - begun:.1f} s, {cpu:.1f} s of processor, {usage.ru_maxrss >> 10} MB")
    if os.waitstatus_to_exitcode(status):
        figures.lost.append((running.base / "once.txt").read_text()[-500:])
    if usage.ru_maxrss << 10 > _MEMORY:
        figures.lost.append(f"memory: {usage.ru_maxrss >> 10} MB")


def file(base: Path, options: argparse.Namespace, figures: Figures) -> None:
    """One log of 2 GB."""
    running = Running(base)
    size = int((2 << 30) * options.scale)
    writers = Writers(running, 1)
    filler = "word " * 800
    with writers.path(0).open("ab") as log:
        while log.tell() < size:
            log.write(writers.lines(0, 500, filler))
    figures.tell("log", f"{writers.path(0).stat().st_size / 1e9:.2f} GB, {writers.said[0]:,} records")
    _once(running, figures, "read to a twin")
    _check_stream(running, writers, figures)
    writers.say(0, 1)
    _once(running, figures, "one more record")
    _check_stream(running, writers, figures)


def _check_stream(running: Running, writers: Writers, figures: Figures) -> None:
    """A twin too large to hold: every record in its order, line by line."""
    twin = running.home.twin(f"claude:{writers.session(0)}")
    record = 0
    with twin.open("rb") as lines:
        for record, line in enumerate(lines, 1):
            event = orjson.loads(line)
            if event["seq"] != record or not event["payload"]["text"].startswith(f"s0r{record} "):
                figures.lost.append(f"event {record}")
                return
    if record != writers.said[0]:
        figures.lost.append(f"{record} of {writers.said[0]} records")


def line(base: Path, options: argparse.Namespace, figures: Figures) -> None:
    """A line of 100 MB, and one of 200 MB, which is too long to hold."""
    running = Running(base)
    writers = Writers(running, 1)
    sizes = [int((number << 20) * options.scale) for number in (100, 200)]
    for size in sizes:
        _long_line(writers, size)
        writers.say(0, 1)
    _once(running, figures, "lines of 100 and 200 MB")
    twin = running.home.twin(f"claude:{writers.session(0)}")
    with twin.open("rb") as events:
        kinds = [orjson.loads(one) for one in events]
    whole = [len(one["payload"]["text"]) for one in kinds if one["kind"] == "user.message"]
    figures.tell("events", f"{len(kinds)}, of them {len(kinds) - len(whole)} by place, length and hash alone")
    if len(kinds) != writers.said[0] or max(whole) < sizes[0] >> 10 << 10:
        figures.lost.append(f"{len(kinds)} events, the longest {max(whole)} characters")


def _long_line(writers: Writers, size: int) -> None:
    """In pieces: what this process holds would be counted as the program's, which begins as its copy."""
    before, _, after = writers.lines(0, 1, "@").partition(b"@")
    with writers.path(0).open("ab") as log:
        log.write(before)
        for _ in range(size >> 10):
            log.write(b"x" * 1024)
        log.write(after)


def many(base: Path, options: argparse.Namespace, figures: Figures) -> None:
    """50,000 logs."""
    running = Running(base)
    count = max(10, int(50_000 * options.scale))
    writers = Writers(running, count)
    figures.tell("sessions", f"{count:,}")
    _once(running, figures, "all to twins")
    _once(running, figures, "start again, nothing changed")
    with _engine(running, figures):
        for number in range(0, count, max(1, count // 100)):
            writers.say(number, 1)
        figures.tell("100 of them grow while it runs: all in their twins after", f"{writers.settle():.1f} s")
    figures.lost += [wrong for number in range(count) if (wrong := writers.missing(number))]


Scenario = Callable[[Path, argparse.Namespace, Figures], None]
SCENARIOS: Final[dict[str, Scenario]] = {"growing": growing, "file": file, "line": line, "many": many}


def run(names: list[str], options: argparse.Namespace) -> Iterator[tuple[str, Figures]]:
    for name in names:
        base = Path(tempfile.mkdtemp(prefix="kato-load-", dir=options.folder))
        figures = Figures()
        try:
            SCENARIOS[name](base, options, figures)
            yield name, figures
        finally:
            shutil.rmtree(base, ignore_errors=True)


def parsed(arguments: list[str] | None = None) -> Any:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="0.1: a tenth of all sizes, counts and rates")
    parser.add_argument("--minutes", type=float, default=5.0, help="of `growing`")
    parser.add_argument("--only", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    parser.add_argument("--folder", type=Path, help="where homes and logs are made; they take up to 5 GB")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parsed(arguments)
    lost = 0
    for name, figures in run(options.only, options):
        print(f"{name}")
        for what, value in figures.rows:
            print(f"  {what:<58} {value}")
        print(f"  {'lost, doubled, out of order, or wrong':<58} {len(figures.lost)}", flush=True)
        for wrong in figures.lost[:10]:
            print(f"    {wrong}")
        lost += len(figures.lost)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
