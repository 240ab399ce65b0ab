"""The real program as a process: with a home of its own, in a terminal where it needs one, and its cost from /proc."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import orjson

from benchmarks.corpus import Corpus
from kato_tui.core.client import NotRunning
from kato_tui.core.link import RemoteLink
from kato_tui.core.paths import Home

KATO: Final = (sys.executable, "-m", "kato_tui")
_PATIENCE: Final = 120.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")


class Place:
    """A user's home in which kato-tui runs."""

    def __init__(self, base: Path, *, twins: bool = False) -> None:
        self.base = base
        self.home = Home(base / ".kato")
        self.home.root.mkdir(parents=True)
        self.home.config.write_text(f"globalAutoGenerateSnapshots = {str(twins).lower()}\n")
        self.environ = {
            "HOME": str(base),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(Path(__file__).parents[1]),
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
        }

    def link(self, corpus: Corpus) -> None:
        """Put the corpus's logs here, without copying them."""
        for file in corpus.files:
            path = self.base / file.path.relative_to(corpus.home)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.hardlink_to(file.path)

    def run(self, *arguments: str) -> float:
        """One command; the seconds it took."""
        begun = time.perf_counter()
        subprocess.run(
            [*KATO, *arguments], env=self.environ, stdout=subprocess.DEVNULL, check=True, stderr=subprocess.DEVNULL
        )
        return time.perf_counter() - begun

    def connect(self) -> RemoteLink:
        deadline = time.monotonic() + _PATIENCE
        while True:
            with contextlib.suppress(NotRunning):
                return RemoteLink(self.home)
            assert time.monotonic() < deadline, "the engine does not answer"
            time.sleep(0.002)

    @contextlib.contextmanager
    def engine(self) -> Iterator[tuple[Program, RemoteLink]]:
        """`kato-tui --no-ui`, and a connection to it."""
        process = subprocess.Popen(
            [*KATO, "--no-ui"], env=self.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        program = Program(process.pid)
        link = self.connect()
        try:
            yield program, link
        finally:
            link.close()
            process.terminate()
            process.wait(_PATIENCE)

    def log(self) -> Log:
        return Log(self.base / ".claude" / "projects" / "-w")


class Log:
    """A session that is being talked in."""

    def __init__(self, folder: Path) -> None:
        self.session = str(uuid.uuid4())
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{self.session}.jsonl"

    def say(self, *texts: str) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with self.path.open("ab") as file:
            file.write(b"".join(self._record(text, now) for text in texts))

    def _record(self, text: str, now: str) -> bytes:
        record = {
            "parentUuid": None,
            "isSidechain": False,
            "type": "user",
            "uuid": str(uuid.uuid4()),
            "timestamp": now,
            "cwd": "/w",
            "sessionId": self.session,
            "version": "2.1.252",
            "gitBranch": "main",
            "message": {"role": "user", "content": text},
        }
        return orjson.dumps(record) + b"\n"


class Program:
    """A process and those that it started: what they cost."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def cpu(self, *, children: bool = True) -> float:
        """CPU seconds so far."""
        pids = [self.pid, *(self._children() if children else ())]
        return sum(_cpu(pid) for pid in pids)

    def _children(self) -> list[int]:
        with contextlib.suppress(OSError):
            return [
                int(pid)
                for task in Path(f"/proc/{self.pid}/task").iterdir()
                for pid in (task / "children").read_text().split()
            ]
        return []

    def memory(self) -> int:
        """Resident bytes."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def read(self) -> int:
        """Bytes that were read from files so far, from the disk or from memory."""
        lines = Path(f"/proc/{self.pid}/io").read_text().splitlines()
        return int(lines[0].partition(":")[2])

    def share(self, seconds: float, *, children: bool = True) -> float:
        """Percent of a core over the next seconds."""
        before = self.cpu(children=children)
        time.sleep(seconds)
        return 100 * (self.cpu(children=children) - before) / seconds

    def settle(self) -> None:
        """Wait until it does nothing."""
        deadline = time.monotonic() + _PATIENCE
        while self.share(1.5) > 2 and time.monotonic() < deadline:
            pass


def _cpu(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


class Terminal(Program):
    """A program in a terminal of its own: what it writes is read as it comes."""

    def __init__(self, command: list[str], environ: dict[str, str], rows: int = 40, columns: int = 140) -> None:
        self.begun = time.perf_counter()
        pid, self._master = pty.fork()
        if pid == 0:
            os.execve(command[0], command, environ)
        super().__init__(pid)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.ended = False

    def until(self, text: str, timeout: float = _PATIENCE) -> float:
        """Read until `text` was written; the seconds since the program was started."""
        wanted, seen = text.encode(), b""
        deadline = time.perf_counter() + timeout
        while wanted not in seen:
            left = deadline - time.perf_counter()
            assert left > 0, f"{text!r} was not written"
            seen = seen[-len(wanted) :] + self._take(left)
        return time.perf_counter() - self.begun

    def drain(self, seconds: float) -> None:
        """Read what is written in the next seconds."""
        deadline = time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0:
            self._take(left)

    @contextlib.contextmanager
    def read_on(self) -> Iterator[None]:
        """Another process reads what is written meanwhile: a program whose terminal is full stands still."""
        reader = os.fork()
        if reader == 0:
            self.drain(3600)
        try:
            yield
        finally:
            os.kill(reader, signal.SIGKILL)
            os.waitpid(reader, 0)

    def press(self, key: str, shows: str) -> float:
        """Press a key; the seconds until `shows` was written."""
        begun = time.perf_counter()
        os.write(self._master, key.encode())
        self.until(shows, 10)
        return time.perf_counter() - begun

    def _take(self, timeout: float) -> bytes:
        ready, _, _ = select.select([self._master], [], [], timeout)
        if not ready:
            return b""
        try:
            return os.read(self._master, 1 << 16)
        except OSError:
            self.ended = True
            return b""

    def close(self) -> float:
        """End it as a closed terminal would; the seconds that took."""
        begun = time.perf_counter()
        os.kill(self.pid, signal.SIGTERM)
        while not self.ended:
            self._take(1.0)
        os.waitpid(self.pid, 0)
        os.close(self._master)
        return time.perf_counter() - begun


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
