"""What a measurement works with: its corpus, scratch folders, and processes whose cost is theirs alone."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from unittest import mock

import orjson

from benchmarks import corpus
from benchmarks.corpus import Corpus
from kato_tui.core.ingest import reader

#: Where corpora are kept and scratch folders are made; the system's folder for temporary files by default.
FOLDER_VARIABLE: Final = "KATO_BENCH_DIR"
_ROOT: Final = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Ran:
    """What a task gave back and what its process cost, start-up and imports left out."""

    value: Any
    cpu: float
    wall: float
    #: Bytes of the process's peak of resident memory, imports included.
    peak: int


def main_folder() -> Path:
    base = Path(os.environ.get(FOLDER_VARIABLE) or tempfile.gettempdir())
    return base / f"kato-bench-{os.getuid()}"


class Bench:
    """One run of the benchmarks: `size` names the corpus; `peers` is a folder with other programs, if there is one."""

    def __init__(
        self, size: str, folder: Path | None = None, peers: Path | None = None, repeats: int | None = None
    ) -> None:
        self.size = size
        self.folder = folder or main_folder()
        self.peers = peers
        self._repeats = repeats
        #: What one measurement found out and a later one compares with.
        self.notes: dict[str, float] = {}
        self._scratch = 0

    @cached_property
    def corpus(self) -> Corpus:
        return self.corpus_of(self.size)

    def corpus_of(self, size: str) -> Corpus:
        """The corpus of a size, made when it is first asked for."""
        return corpus.ensure(self.folder, size)

    @property
    def repeats(self) -> int:
        """Small runs are done more than once and the best counts: their noise is larger than their cost."""
        return self._repeats or (1 if corpus.SIZES[self.size].size > 500 * corpus.MB else 3)

    def scratch(self, name: str) -> Path:
        """A new empty folder on the disk of the corpus."""
        self._scratch += 1
        path = self.folder / f"scratch-{os.getpid()}" / f"{self._scratch}-{name}"
        path.mkdir(parents=True)
        return path

    def close(self) -> None:
        shutil.rmtree(self.folder / f"scratch-{os.getpid()}", ignore_errors=True)

    def task(self, function: Callable[..., Any], **arguments: Any) -> Ran:
        """Call a module's function in a process of its own. Arguments and result are plain JSON values."""
        name = f"{function.__module__}:{function.__qualname__}"
        command = [sys.executable, "-m", "benchmarks.bench", name]
        done = subprocess.run(command, input=orjson.dumps(arguments), stdout=subprocess.PIPE, cwd=_ROOT, check=True)
        return Ran(**orjson.loads(done.stdout))

    def best(self, function: Callable[..., Any], **arguments: Any) -> Ran:
        """The cheapest of as many runs as the size asks for."""
        return min((self.task(function, **arguments) for _ in range(self.repeats)), key=lambda ran: ran.cpu)


def peak_memory(pid: int | str = "self") -> int:
    """The peak of a living process's resident memory. Not from `getrusage`: that remembers its parent's."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit if pid == "self" else 0
    found = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(found[0].split()[1]) * 1024 if found else 0


def children() -> list[int]:
    """The processes that this one started and that still run."""
    found: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = stat.read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if int(parent) == os.getpid():
            found.append(int(stat.parent.name))
    return found


@dataclass(slots=True)
class Reads:
    """Bytes of logs that were read."""

    size: int = 0


@contextmanager
def counted_reads() -> Iterator[Reads]:
    """Counts what is read of logs, by whichever way."""
    reads = Reads()
    plain, packed = reader.PlainStream.read, reader.ZstdStream.read

    def read_plain(self: reader.PlainStream, position: int, length: int) -> bytes:
        data = plain(self, position, length)
        reads.size += len(data)
        return data

    def read_packed(self: reader.ZstdStream, position: int, length: int) -> bytes:
        data = packed(self, position, length)
        reads.size += len(data)
        return data

    with mock.patch.multiple(reader.PlainStream, read=read_plain):  # noqa: SIM117
        with mock.patch.multiple(reader.ZstdStream, read=read_packed):
            yield reads


def main() -> None:
    """The other end of `task`."""
    module, _, name = sys.argv[1].partition(":")
    function = getattr(__import__(module, fromlist=[name]), name)
    arguments = orjson.loads(sys.stdin.buffer.read())
    wall, cpu = time.perf_counter(), time.process_time()
    value = function(**arguments)
    cost = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall, "peak": peak_memory()}
    sys.stdout.buffer.write(orjson.dumps({"value": value, **cost}))


if __name__ == "__main__":
    main()
