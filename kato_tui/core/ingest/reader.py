"""Reading log files in bounded memory: complete lines only, plain or zstd, any line length, any file size.

A reader starts at a cursor and first hands out the bytes before it, so that the caller can prove that the file is
still the one the cursor was taken in. Opening never follows the log's own idea of a path: only regular files are read.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import zstandard

from kato_tui.core.errors import SourceUnreadable
from kato_tui.core.providers.base import SourceFile

#: Bytes read at a time, which is also about the size of a batch.
CHUNK: Final = 4 << 20
#: Lines are handed out in pieces of about these bytes. What becomes of them is still in the processor's caches when it
#: is written: with a whole chunk at once, translating and encoding took a tenth longer.
PIECE: Final = 256 << 10
#: Lines handed out at a time: a file of nothing but newlines must not become millions of objects at once.
MAX_LINES: Final = 16_384
#: A longer line is not held in memory: its place, length and hash are kept instead.
MAX_LINE: Final = 128 << 20
#: A document has to be parsed whole, so there is an end to what can be read.
MAX_DOCUMENT: Final = 512 << 20
#: How many bytes before the cursor prove the identity of a file.
ANCHOR_LENGTH: Final = 4096
HEAD_LENGTH: Final = 64 << 10
#: Refuses zstd frames that ask for more memory than Codex's own level 3 ever needs.
_MAX_WINDOW: Final = 32 << 20


class Stream(Protocol):
    """Bytes by position; positions only ever move forward."""

    size: int | None

    def read(self, position: int, length: int) -> bytes: ...

    def close(self) -> None: ...


class PlainStream:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.size: int | None = os.fstat(descriptor).st_size

    def read(self, position: int, length: int) -> bytes:
        return os.pread(self._descriptor, length, position)

    def close(self) -> None:
        os.close(self._descriptor)


class ZstdStream:
    """The decompressed content; its size is only known at its end."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self.size: int | None = None
        self._path = path
        self._file = os.fdopen(descriptor, "rb")
        self._reader = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).stream_reader(
            self._file, read_across_frames=True
        )
        self._position = 0

    def read(self, position: int, length: int) -> bytes:
        if position < self._position:
            raise ValueError("a compressed stream cannot be read backwards")
        while self._position < position:
            skipped = self._take(min(CHUNK, position - self._position))
            if not skipped:
                return b""
        return self._take(length)

    def _take(self, length: int) -> bytes:
        try:
            data = self._reader.read(length)
        except zstandard.ZstdError as error:
            raise SourceUnreadable(f"{self._path}: not readable as zstd ({error})") from error
        self._position += len(data)
        return data

    def close(self) -> None:
        self._file.close()


@dataclass(frozen=True, slots=True)
class FileStamp:
    size: int
    mtime_ns: int


def stamp_of(path: Path) -> FileStamp | None:
    """Size and mtime, or None when there is no regular file."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return FileStamp(found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def open_stream(path: Path, *, compressed: bool = False) -> Stream:
    """`path` for reading. O_NONBLOCK keeps a FIFO that took the file's place from hanging the engine."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        raise SourceUnreadable(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise SourceUnreadable(f"{path}: not a regular file")
    return ZstdStream(descriptor, path) if compressed else PlainStream(descriptor)


def read_head(path: Path) -> bytes:
    """The first bytes of a log, decompressed; empty when it cannot be read."""
    try:
        stream = open_stream(path, compressed=path.suffix == ".zst")
    except SourceUnreadable:
        return b""
    try:
        return stream.read(0, HEAD_LENGTH)
    except (SourceUnreadable, OSError):
        return b""
    finally:
        stream.close()


def read_document(path: Path) -> bytes:
    """A whole document; `SourceUnreadable` when it is too large to parse."""
    stream = open_stream(path)
    try:
        if stream.size is not None and stream.size > MAX_DOCUMENT:
            raise SourceUnreadable(f"{path}: {stream.size} bytes is too large for one JSON document")
        parts: list[bytes] = []
        position = 0
        while chunk := stream.read(position, CHUNK):
            parts.append(chunk)
            position += len(chunk)
        return b"".join(parts)
    finally:
        stream.close()


@dataclass(frozen=True, slots=True)
class Oversize:
    length: int
    sha256: str


#: One complete line without its newline, or what stands for content that is not held.
Line = bytes | Oversize


def length_of(line: Line) -> int:
    """The bytes that a line takes in its file, newline included."""
    return (len(line) if isinstance(line, bytes) else line.length) + 1


def _held(line: bytes) -> Line:
    if len(line) > MAX_LINE:
        return Oversize(len(line), hashlib.sha256(line).hexdigest())
    return line


class LineReader:
    """Complete lines of one file from `offset` on, a bounded batch at a time."""

    def __init__(self, source: SourceFile, offset: int = 0) -> None:
        self._stream = open_stream(source.path, compressed=source.compressed)
        self.offset = offset
        start = max(0, offset - ANCHOR_LENGTH)
        try:
            self._recent = self._stream.read(start, offset - start) if offset else b""
        except BaseException:
            self._stream.close()
            raise
        self._complete = len(self._recent) == offset - start
        self._position = offset
        #: Complete lines that were read, and how far they were given out.
        self._ready = b""
        self._given = 0
        #: What follows them: a line without its end.
        self._parts: list[bytes] = []
        self._held = 0

    def anchor(self) -> tuple[int, str]:
        """Length and hash of the bytes just before the cursor."""
        return len(self._recent), hashlib.sha256(self._recent).hexdigest()

    def reaches_cursor(self) -> bool:
        """False when the file ends before the cursor: it was cut or replaced."""
        return self._complete

    def batch(self) -> list[Line]:
        """The next complete lines, from where `offset` was; empty when there are none (yet).

        A torn last line waits for its newline. Bare bytes, for there are hundreds of thousands of them.
        """
        if self.ready:
            return self._lines()
        while True:
            chunk = self._stream.read(self._position, CHUNK)
            if not chunk:
                return []
            self._position += len(chunk)
            cut = chunk.rfind(b"\n") + 1
            if cut:
                self._hold(b"".join([*self._parts, chunk[:cut]]) if self._parts else chunk[:cut], chunk[cut:])
                return self._lines()
            self._parts.append(chunk)
            self._held += len(chunk)
            if self._held > MAX_LINE:
                return self._oversize_line()

    @property
    def at_end(self) -> bool:
        """Whether all is read that the file held when it was opened; not known of a compressed one."""
        return not self.ready and self._stream.size is not None and self._position >= self._stream.size

    @property
    def ready(self) -> bool:
        """Whether more complete lines are in memory already."""
        return self._given < len(self._ready)

    def torn(self) -> bytes:
        """What stands after the last newline: no record yet, as far as a live log goes."""
        return b"".join(self._parts)

    def close(self) -> None:
        self._stream.close()

    def _lines(self) -> list[Line]:
        ready, start = self._ready, self._given
        cut = ready.find(b"\n", start + PIECE) + 1 or len(ready)
        lines = ready[start:cut].split(b"\n", MAX_LINES)
        self._given = end = cut - len(lines.pop())
        self._advance(self.offset + end - start, ready[max(start, end - ANCHOR_LENGTH) : end])
        if end == len(ready) or end - start > CHUNK:
            # A line of a hundred megabytes is not held twice for what follows it.
            self._ready, self._given = ready[end:], 0
        if end - start > MAX_LINE:
            return [_held(line) for line in lines]
        return [*lines]

    def _oversize_line(self) -> list[Line]:
        digest = hashlib.sha256()
        length = 0
        for part in self._parts:
            digest.update(part)
            length += len(part)
        self._parts = []
        while chunk := self._stream.read(self._position, CHUNK):
            self._position += len(chunk)
            cut = chunk.find(b"\n")
            if cut < 0:
                digest.update(chunk)
                length += len(chunk)
                self._recent = chunk
                continue
            digest.update(chunk[:cut])
            length += cut
            self._advance(self.offset + length + 1, self._recent + chunk[: cut + 1])
            # What came in the same chunk as the end of an oversize line is given out next.
            rest = chunk[cut + 1 :]
            cut = rest.rfind(b"\n") + 1
            self._hold(rest[:cut], rest[cut:])
            return [Oversize(length, digest.hexdigest())]
        return []

    def _hold(self, ready: bytes, rest: bytes) -> None:
        self._ready, self._given = ready, 0
        self._parts = [rest] if rest else []
        self._held = len(rest)

    def _advance(self, offset: int, consumed: bytes) -> None:
        self.offset = offset
        self._recent = (self._recent + consumed[-ANCHOR_LENGTH:])[-ANCHOR_LENGTH:]
