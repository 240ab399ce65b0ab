"""What the same bytes cost without kato-tui: reading them, parsing them, and the programs users would pick instead."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import orjson
import zstandard

from benchmarks.bench import Bench
from benchmarks.corpus import MB, LogFile
from benchmarks.registry import Result, measurement

_BLOCK: Final = 4 << 20
#: The kinds of log that one goal is set for.
GROUPS: Final = {
    "claude": ("claude", "claude-agent"),
    "codex": ("codex-bare", "codex-legacy", "codex-paginated", "codex-zst"),
    "gemini JSONL": ("gemini-jsonl",),
    "gemini JSON": ("gemini-json",),
}


def paths_of(files: list[LogFile]) -> list[str]:
    return [str(file.path) for file in files]


def _blocks(path: str) -> Iterator[bytes]:
    """The bytes of a log, decompressed, cut at line ends; a document comes whole."""
    with Path(path).open("rb") as file:
        if path.endswith(".json"):
            yield file.read()
            return
        stream: io.BufferedReader | zstandard.ZstdDecompressionReader = file
        if path.endswith(".zst"):
            stream = zstandard.ZstdDecompressor().stream_reader(file)
        rest = b""
        while chunk := stream.read(_BLOCK):
            cut = chunk.rfind(b"\n") + 1
            if not cut:
                rest += chunk
                continue
            yield rest + chunk[:cut]
            rest = chunk[cut:]


def read_all(paths: list[str]) -> int:
    return sum(len(block) for path in paths for block in _blocks(path))


def parse_all(paths: list[str], *, stdlib: bool = False) -> float:
    """CPU seconds of the parsing alone: neither reading nor cutting into lines."""
    parse: Callable[[bytes], Any] = json.loads if stdlib else orjson.loads
    spent = 0.0
    for path in paths:
        for block in _blocks(path):
            lines = [block] if path.endswith(".json") else block[:-1].split(b"\n")
            begun = time.process_time()
            for line in lines:
                parse(line)
            spent += time.process_time() - begun
    return spent


@measurement("baselines")
def baselines(bench: Bench) -> Iterator[Result]:
    """Reading the corpus, and parsing every line of it with orjson and with the standard library."""
    everything = paths_of(list(bench.corpus.files))
    size = bench.corpus.size / MB
    read = bench.best(read_all, paths=everything)
    yield Result("reading the bytes", size / read.cpu, "MB/s", detail=f"{read.cpu:.2f} s CPU for {size:.0f} MB")
    for name, kinds in GROUPS.items():
        files = bench.corpus.of(*kinds)
        spent = parsing_cost(bench, files)
        part = sum(file.size for file in files) / MB
        yield Result(f"orjson.loads alone, {name}", part / spent, "MB/s", detail=f"{spent:.2f} s CPU for {part:.0f} MB")
    plain = bench.task(parse_all, paths=everything, stdlib=True)
    yield Result("stdlib json alone", size / plain.value, "MB/s", detail=f"{plain.value:.2f} s CPU")


def parsing_cost(bench: Bench, files: list[LogFile]) -> float:
    """CPU seconds of `orjson.loads` on every line of these files, measured once a run."""
    paths = paths_of(files)
    note = f"orjson {paths}"
    if note not in bench.notes:
        bench.notes[note] = min(bench.task(parse_all, paths=paths).value for _ in range(bench.repeats))
    return bench.notes[note]


@measurement("peers")
def peers(bench: Bench) -> Iterator[Result]:
    """claude-code-log (to Markdown) and ccusage (token sums), where they are installed; Claude's logs only."""
    # They take minutes for a gigabyte: the small corpus tells as much.
    corpus = bench.corpus_of("S") if bench.size in ("M", "L") else bench.corpus
    claude = sum(file.size for file in corpus.of("claude")) / MB
    projects = corpus.home / ".claude" / "projects"
    found = _find(bench, "claude-code-log")
    if found is not None:
        copy = bench.scratch("claude-code-log") / "projects"
        shutil.copytree(projects, copy)
        command = [found, str(copy), "--all-projects", "--format", "md", "--no-individual-sessions"]
        yield _peer("claude-code-log", command, copy.parent, claude, "its logs as Markdown pages, one a project")
    found = _find(bench, "ccusage")
    if found is not None:
        command = [found, "session", "--json", "--offline"]
        yield _peer("ccusage", command, corpus.home, claude, "token sums per session; keeps nothing")


def _find(bench: Bench, name: str) -> str | None:
    if bench.peers is not None:
        for folder in (bench.peers / "bin", bench.peers / "node_modules" / ".bin"):
            if (folder / name).exists():
                return str(folder / name)
    return shutil.which(name)


def _peer(name: str, command: list[str], home: Path, size: float, about: str) -> Result:
    environ = {**os.environ, "HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / ".claude")}
    begun = time.perf_counter()
    process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - begun
    cpu = used.ru_utime + used.ru_stime
    end = "" if process.returncode == 0 else f"; ended with {process.returncode}"
    detail = f"{cpu:.1f} s CPU, {wall:.1f} s wall, {used.ru_maxrss * 1024 // MB} MB for {size:.0f} MB: {about}{end}"
    return Result(name, size / cpu, "MB/s", detail=detail)
