"""Appending to a file that belongs to the user, exactly once, whatever crashes and whoever edits it meanwhile.

The order is: look where the file ends, write down what is about to be appended (the caller does, durably), append.
After a crash or an error `settle` compares the file with what was written down and completes it. User text is never
cut off or overwritten: the only bytes ever taken back are our own, in the moment we know them to be ours.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from kato_tui.core.record.policy import Allowed, WriteRefused, open_destination, open_folder, refusing
from kato_tui.core.store.fs import Fs, overwrite

#: So much before the place of an append finds it again in an edited file; so little fits in every metadata write.
ANCHOR_LENGTH: Final = 256
_TAIL_LENGTH: Final = 64
_WINDOW: Final = 1 << 20
#: The start of our own bytes, long enough to be recognised when what stood before them is gone.
_OWN_START: Final = 64
#: So many first bytes in common with the chunk are no coincidence.
_OURS_FOR_SURE: Final = 24
#: Lines of events are alike up to here, those of one session even longer than that.
_SEQ: Final = re.compile(rb'"seq":\d+,')


@dataclass(frozen=True, slots=True)
class Spot:
    """Where the next append will begin, what stands before it, and what has to come between the two."""

    base: int
    anchor: bytes


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a file ended after an append, and its last bytes."""

    end: int
    tail: bytes


class NotThere(Exception):
    """Nothing of the pending bytes is in the file: they have to be written down again for its present end."""

    def __init__(self, *, edited: bool) -> None:
        super().__init__()
        #: What stood before them is gone too: not only was something added, the file is another one.
        self.edited = edited


@contextmanager
def _opened(allowed: Allowed) -> Iterator[int]:
    descriptor = open_destination(allowed)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def create(fs: Fs, allowed: Allowed, *, folders: bool) -> None:
    """A new, empty file, never in the place of another one."""
    folder = open_folder(allowed, create=fs if folders else None)
    try:
        with refusing(allowed):
            fs.close(fs.create_in(folder, allowed.path.name))
            fs.sync(folder)
    finally:
        os.close(folder)


def _sync_folder(fs: Fs, allowed: Allowed) -> None:
    folder = open_folder(allowed)
    try:
        fs.sync(folder)
    finally:
        os.close(folder)


def clear_leftovers(fs: Fs, allowed: Allowed) -> None:
    """Remove the copy that a crash in the middle of a rewrite leaves."""
    try:
        folder = open_folder(allowed)
    except WriteRefused:
        return
    try:
        fs.unlink_in(folder, _temporary(allowed))
    finally:
        os.close(folder)


def _temporary(allowed: Allowed) -> str:
    return f".{allowed.path.name[:100]}.kato-tmp"


def read_head(allowed: Allowed, length: int) -> bytes:
    with _opened(allowed) as descriptor:
        return os.pread(descriptor, length, 0)


def replace_head(fs: Fs, allowed: Allowed, old: int, new: bytes) -> None:
    """The file with its first `old` bytes replaced by `new`: a whole new file in its place, the rest untouched."""
    with _opened(allowed) as descriptor:
        _rewrite(fs, allowed, descriptor, (0, 0), new, old)


def spot(allowed: Allowed) -> Spot:
    """Where the file ends now."""
    with _opened(allowed) as descriptor:
        base = os.fstat(descriptor).st_size
        start = max(0, base - ANCHOR_LENGTH)
        return Spot(base, os.pread(descriptor, base - start, start))


def edited(allowed: Allowed, mark: Mark) -> bool:
    """Whether what we wrote last is no longer in the file: somebody edited, cut or replaced it.

    Something inserted before it, such as a line in the frontmatter, only moves it.
    """
    with _opened(allowed) as descriptor:
        if os.pread(descriptor, len(mark.tail), mark.end - len(mark.tail)) == mark.tail:
            return False
        return next(_find(descriptor, mark.tail), None) is None


def append(fs: Fs, allowed: Allowed, chunk: bytes) -> Mark:
    """Append `chunk` and wait until it is on disk. On an error what was written of it is taken back."""
    with _opened(allowed) as descriptor:
        before = os.fstat(descriptor).st_size
        try:
            fs.write(descriptor, chunk)
            end = os.lseek(descriptor, 0, os.SEEK_CUR)
            # A failed sync is not repeated: it would find the pages clean and lie. The bytes are written anew.
            fs.sync(descriptor)
        except OSError:
            _take_back(fs, descriptor, before, chunk)
            raise
    return Mark(end, chunk[-_TAIL_LENGTH:])


def _take_back(fs: Fs, descriptor: int, before: int, chunk: bytes) -> None:
    """Cut off what was written, if nothing but our own bytes stands behind `before`."""
    written = os.fstat(descriptor).st_size - before
    if 0 < written <= len(chunk) and os.pread(descriptor, written, before) == chunk[:written]:
        fs.truncate(descriptor, before)


def settle(fs: Fs, allowed: Allowed, base: int, anchor: bytes, chunk: bytes, *, head: int = 0) -> Mark:
    """Make sure that `chunk` is in the file once, after an append that may have come to any end.

    `head` first bytes of it begin a new file and are like nothing else. Raises `NotThere` when the file holds nothing.
    """
    with _opened(allowed) as descriptor:
        # What is visible may still be lost in a power cut, the file's name too: make durable first what the decision
        # is based on.
        fs.sync(descriptor)
        _sync_folder(fs, allowed)
        place = _locate(descriptor, base, anchor, chunk, head)
        mark = _complete(fs, allowed, descriptor, place, chunk, head) if place is not None else None
        if mark is None:
            found = next(_find(descriptor, chunk), None)
            if found is None:
                raise NotThere(edited=place is None and bool(anchor))
            mark = _mark(found, chunk)
    _write_anew(fs, allowed, mark, chunk)
    return mark


def _write_anew(fs: Fs, allowed: Allowed, mark: Mark, chunk: bytes) -> None:
    """The same bytes in the same place once more: after a failed sync they count as clean and are not on the disk."""
    place = mark.end - len(chunk)
    with _opened(allowed) as descriptor:
        if os.pread(descriptor, len(chunk), place) == chunk:
            overwrite(fs, descriptor, chunk, place)
            fs.sync(descriptor)


def _mark(place: int, chunk: bytes) -> Mark:
    return Mark(place + len(chunk), chunk[-_TAIL_LENGTH:])


def _locate(descriptor: int, base: int, anchor: bytes, chunk: bytes, head: int) -> int | None:
    """Where the append began: at the known place, else where the only copy of the anchor or of our start is."""
    if anchor and os.pread(descriptor, len(anchor), base - len(anchor)) == anchor:
        return base
    if not anchor and base == 0 and _begins(os.pread(descriptor, len(chunk), 0), chunk):
        return base
    own = chunk[: min(head, _OWN_START)]
    for needle, offset in ((anchor, len(anchor)), (own, 0)):
        places = _find(descriptor, needle) if needle else iter(())
        first, second = next(places, None), next(places, None)
        if first is not None and second is None:
            return first + offset
    return _torn_at_end(descriptor, chunk)


def _begins(present: bytes, chunk: bytes) -> bool:
    """Whether a new file begins with something of its first append, be it only zeros that a power cut left of it."""
    return present.startswith(b"\0") or _traces(present, chunk)[0] > 0


def _torn_at_end(descriptor: int, chunk: bytes) -> int | None:
    """Where a torn `chunk` begins, or one with zeros in it, that the file ends with; whatever was edited before it."""
    size = os.fstat(descriptor).st_size
    start = max(0, size - len(chunk))
    tail = os.pread(descriptor, size - start, start)
    for place in _places(tail, chunk, _sure(chunk)):
        ours, _ = _traces(tail[place:], chunk)
        if not tail[place + ours :].lstrip(b"\0"):
            return start + place
    # Zeros at the end of a text are the rest of an append, and nobody's words.
    text = len(tail.rstrip(b"\0"))
    return start + text if text < len(tail) else None


def _places(tail: bytes, chunk: bytes, sure: int) -> Iterator[int]:
    """Where in `tail` the chunk may begin: by its first bytes or, when there are zeros in their place, by its last."""
    place = tail.find(chunk[:sure])
    while place >= 0:
        yield place
        place = tail.find(chunk[:sure], place + 1)
    text = tail.rstrip(b"\0")
    last = text[text.rfind(b"\0") + 1 :][-_OURS_FOR_SURE:]
    place = len(text) - len(last) - chunk.find(last)
    if last and chunk.count(last) == 1 and place >= 0 and b"\0" in text[place:]:
        yield place


def _complete(fs: Fs, allowed: Allowed, descriptor: int, place: int, chunk: bytes, head: int) -> Mark | None:
    """Write what is missing of `chunk` at `place`; None when what stands there is not ours."""
    ours, holes = _traces(os.pread(descriptor, len(chunk), place), chunk)
    size = os.fstat(descriptor).st_size
    zeros = _zeros(descriptor, place + ours, size)
    if ours == len(chunk) and not holes and not zeros:
        return _mark(place, chunk)
    if place + ours + zeros == size:
        if not ours and not zeros:
            # Exactly where it should go on, and nothing of it there: the plain case of a kill before the write.
            fs.write(descriptor, chunk)
        else:
            _fill(fs, descriptor, place, chunk, [*holes, (ours, len(chunk))])
        fs.sync(descriptor)
        return _mark(place, chunk)
    if ours < max(_sure(chunk), head) and not holes and not zeros:
        # The user's own text may begin with a line break or a heading too: and an older file of
        # this recording with a head like ours: better a fragment left than text torn.
        return None
    _rewrite(fs, allowed, descriptor, (0, place), chunk, place + ours + zeros)
    return _mark(place, chunk)


def _sure(chunk: bytes) -> int:
    """How many first bytes of `chunk` have to be there before they count as ours: fewer could be anybody's."""
    seq = _SEQ.search(chunk) if chunk.lstrip(b"\n").startswith(b"{") else None
    return seq.end() if seq is not None else _OURS_FOR_SURE


def _traces(present: bytes, chunk: bytes) -> tuple[int, list[tuple[int, int]]]:
    """How far what is `present` is ours, and the stretches of zeros in it.

    A power cut may lose an earlier page of an append and keep a later one. Behind a hole a few equal bytes are a
    coincidence, unless nothing follows them but the next hole.
    """
    reach = _shared(present, chunk)
    holes: list[tuple[int, int]] = []
    while reach < len(present):
        after = len(present) - len(present[reach:].lstrip(b"\0"))
        more = _shared(present[after:], chunk[after:])
        if after == reach or not more:
            break
        if more < _OURS_FOR_SURE and present[after + more : after + more + 1].strip(b"\0"):
            break
        holes.append((reach, after))
        reach = after + more
    return reach, holes


def _fill(fs: Fs, descriptor: int, place: int, chunk: bytes, holes: list[tuple[int, int]]) -> None:
    """Write over zeros that a power cut left within our bytes and at their end, and on behind them."""
    for start, end in holes:
        overwrite(fs, descriptor, chunk[start:end], place + start)
    if os.fstat(descriptor).st_size > place + len(chunk):
        # More zeros than bytes: the rest of the hole is nobody's text.
        fs.truncate(descriptor, place + len(chunk))


def _shared(present: bytes, chunk: bytes) -> int:
    """How many first bytes the two have in common."""
    if present == chunk[: len(present)]:
        return len(present)
    low, high = 0, len(present)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if present[:middle] == chunk[:middle] else (low, middle - 1)
    return low


def _zeros(descriptor: int, position: int, size: int) -> int:
    """How many zero bytes stand at `position`."""
    count = 0
    while position + count < size:
        window = os.pread(descriptor, min(_WINDOW, size - position - count), position + count)
        rest = window.lstrip(b"\0")
        count += len(window) - len(rest)
        if rest or not window:
            break
    return count


def _find(descriptor: int, needle: bytes) -> Iterator[int]:
    """Every place of `needle` in the file, read in bounded pieces."""
    start = 0
    held = b""
    while window := os.pread(descriptor, _WINDOW + len(needle), start + len(held)):
        held += window
        found = held.find(needle)
        while found >= 0:
            yield start + found
            found = held.find(needle, found + 1)
        keep = max(len(held) - len(needle) + 1, 0)
        start, held = start + keep, held[keep:]


def _rewrite(fs: Fs, allowed: Allowed, descriptor: int, head: tuple[int, int], middle: bytes, rest: int) -> None:
    """A new file in place of the open one: its `head` span, then `middle`, then everything from `rest` on."""
    folder = open_folder(allowed)
    name = _temporary(allowed)
    facts = os.fstat(descriptor)
    try:
        fs.unlink_in(folder, name)
        copy = fs.create_in(folder, name)
        try:
            os.fchmod(copy, facts.st_mode & 0o777)
            _copy(fs, descriptor, copy, *head)
            fs.write(copy, middle)
            _copy(fs, descriptor, copy, rest, facts.st_size)
            fs.sync(copy)
        finally:
            fs.close(copy)
        fs.replace_in(folder, name, allowed.path.name)
        fs.sync(folder)
    except OSError:
        fs.unlink_in(folder, name)
        raise
    finally:
        os.close(folder)


def _copy(fs: Fs, source: int, target: int, start: int, end: int) -> None:
    while start < end:
        window = os.pread(source, min(_WINDOW, end - start), start)
        if not window:
            return
        fs.write(target, window)
        start += len(window)
