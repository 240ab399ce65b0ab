"""The archive that is measured: made from a seed, as a user's home with all three assistants in it, and kept."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson
import zstandard

from benchmarks.claude_pen import VERSIONS, ClaudePen
from benchmarks.codex_pen import CodexPen, Generation
from benchmarks.gemini_pen import GeminiPen
from benchmarks.words import Words, ident, words

MB: Final = 1_000_000
#: A corpus of another version is made anew.
_VERSION: Final = 2
_LARGEST: Final = 40 * MB
#: A document has to be written, read and parsed whole: real ones stay small.
_LARGEST_DOCUMENT: Final = 4 * MB


@dataclass(frozen=True, slots=True)
class Size:
    size: int
    files: int


SIZES: Final = {
    "XS": Size(MB, 14),
    "many": Size(100 * MB, 5000),
    "S": Size(50 * MB, 70),
    "M": Size(1000 * MB, 2000),
    "L": Size(5000 * MB, 10_000),
}

#: The kinds of log by turns: two thirds of all are Claude Code's, as users have them.
_KINDS: Final = (
    "claude",
    "codex-legacy",
    "claude",
    "gemini-jsonl",
    "claude-agent",
    "codex-paginated",
    "claude",
    "claude-agent",
    "codex-bare",
    "claude",
    "codex-zst",
    "claude",
    "gemini-json",
    "claude-agent",
)


@dataclass(frozen=True, slots=True)
class LogFile:
    path: Path
    kind: str
    #: Bytes of log: more than the file has where that is compressed.
    size: int

    @property
    def provider(self) -> str:
        return self.kind.partition("-")[0]


@dataclass(frozen=True, slots=True)
class Corpus:
    home: Path
    files: tuple[LogFile, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def of(self, *kinds: str) -> list[LogFile]:
        """The files of these kinds; a provider's name stands for all of its kinds."""
        return [file for file in self.files if file.kind in kinds or file.provider in kinds]


def ensure(folder: Path, size: str) -> Corpus:
    """The corpus of that size below `folder`; its manifest is written last, so that half a corpus is made anew."""
    home = folder / f"corpus-{size}-v{_VERSION}"
    manifest = home / "manifest.json"
    if not manifest.exists():
        shutil.rmtree(home, ignore_errors=True)
        files = make(home, SIZES[size])
        listed = [{"path": str(one.path.relative_to(home)), "kind": one.kind, "size": one.size} for one in files]
        manifest.write_bytes(orjson.dumps(listed))
    found = orjson.loads(manifest.read_bytes())
    return Corpus(home, tuple(LogFile(home / one["path"], one["kind"], one["size"]) for one in found))


def make(home: Path, size: Size) -> list[LogFile]:
    """Write the logs. A pure function of the size, but for the times of the files."""
    rng = random.Random(size.files)
    parent = ident(rng)
    files: list[LogFile] = []
    for number, wanted in enumerate(_sizes(size)):
        kind = _KINDS[number % len(_KINDS)]
        session = ident(rng)
        if kind == "claude":
            parent = session
        writer = _Writer(home, kind, session, number, words())
        files.append(writer.write(wanted, parent))
    return files


def _sizes(size: Size) -> Iterator[int]:
    """From large to small as they are on disks: few sessions hold most of the bytes."""
    offset = max(2, size.size / _LARGEST / 7)
    weights = [1 / (number + offset) for number in range(size.files)]
    unit = size.size / sum(weights)
    return (min(_LARGEST, int(weight * unit)) for weight in weights)


@dataclass(frozen=True, slots=True)
class _Writer:
    home: Path
    kind: str
    session: str
    number: int
    words: Words

    def write(self, wanted: int, parent: str) -> LogFile:
        path = self._path(parent)
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.kind == "gemini-json":
            data = GeminiPen(self.session, self.number, self.words).document(min(wanted, _LARGEST_DOCUMENT))
            path.write_bytes(data)
            return LogFile(path, self.kind, len(data))
        written = 0
        with path.open("wb") as file:
            for block in self._lines(wanted, parent):
                file.write(block)
                written += len(block)
        if self.kind == "codex-zst":
            _compress(path)
            path = path.with_name(f"{path.name}.zst")
        return LogFile(path, self.kind, written)

    def _lines(self, wanted: int, parent: str) -> Iterator[bytes]:
        if self.kind == "claude":
            version = VERSIONS[self.number // 2 % len(VERSIONS)]
            return ClaudePen(self.session, self.number, self.words, version=version).lines(wanted)
        if self.kind == "claude-agent":
            return ClaudePen(parent, self.number, self.words, agent=self._agent).lines(wanted)
        if self.kind == "gemini-jsonl":
            return GeminiPen(self.session, self.number, self.words).lines(wanted)
        generations: dict[str, Generation] = {"codex-bare": "bare", "codex-paginated": "paginated"}
        generation = generations.get(self.kind, "legacy")
        return CodexPen(self.session, self.number, self.words, generation=generation).lines(wanted)

    @property
    def _agent(self) -> str:
        return self.session.replace("-", "")[:17]

    def _path(self, parent: str) -> Path:
        number = self.number
        if self.kind.startswith("claude"):
            project = self.home / ".claude" / "projects" / f"-home-dev-projects-app-{number % 40}"
            if self.kind == "claude":
                return project / f"{self.session}.jsonl"
            return project / parent / "subagents" / f"agent-{self._agent}.jsonl"
        if self.kind.startswith("codex"):
            month, day = number // 28 % 5 + 1, number % 28 + 1
            folder = self.home / ".codex" / "sessions" / "2026" / f"{month:02}" / f"{day:02}"
            return folder / f"rollout-2026-{month:02}-{day:02}T10-00-00-{self.session}.jsonl"
        chats = self.home / ".gemini" / "tmp" / f"app-{number % 40}" / "chats"
        ending = "json" if self.kind == "gemini-json" else "jsonl"
        return chats / f"session-2026-05-01T09-{number % 60:02}-{self.session[:8]}.{ending}"


def _compress(path: Path) -> None:
    """As Codex does with rollouts that were not touched for a week."""
    target = path.with_name(f"{path.name}.zst")
    with path.open("rb") as source, target.open("wb") as sink:
        zstandard.ZstdCompressor(level=3).copy_stream(source, sink)
    path.unlink()


def ensure_size(folder: str, size: str) -> int:
    """The bytes of a corpus, for a process that makes it."""
    return ensure(Path(folder), size).size
