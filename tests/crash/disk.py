"""A disk that knows what was not synced, so that a power cut can take any of it away again.

The files are real (the engine reads them as ever); beside them the disk keeps, for each file and each folder, what
would be left if the power went now, and the changes since. It is the strictest machine that POSIX allows: a sync of a
file makes its content durable and not its name, a sync of a folder makes its names durable and nothing else, and what
was not synced may be lost, kept, torn, turned to zeros or kept out of order, each change for itself.
"""

from __future__ import annotations

import os
import random
import shutil
import stat
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final

from tests.crashing import CrashingFs, Cut, UnsyncedFs, half

#: How a power cut treats what was not synced: all gone; kept up to some moment; each change for itself.
LOST, PREFIX, ANY = "lost", "prefix", "any"
MOODS: Final = (LOST, PREFIX, ANY)

#: Bytes written at a position, or a cut there (None).
_Change = tuple[int, bytes | None]


@dataclass(slots=True, eq=False)
class _Inode:
    """A file or folder, whatever its names."""

    path: Path
    folder: bool = False
    #: The content at the last sync; None while there are no changes since.
    durable: bytes | None = None
    #: Since then.
    changes: list[_Change] = field(default_factory=list)
    #: Content and mode when its last name went: they may come back with the name.
    buried: tuple[bytes, int] | None = None
    #: A sync failed: what was to be synced is in memory, counts as clean, and will never be on the disk (ATC'20).
    spoilt: bool = False

    def copied(self) -> _Inode:
        return _Inode(self.path, self.folder, self.durable, list(self.changes), self.buried, self.spoilt)


#: What one operation does to the names of a folder: all of it happens, or nothing.
_Names = dict[str, _Inode | None]


@dataclass(slots=True)
class _Folder:
    durable: _Names = field(default_factory=dict)
    changes: list[_Names] = field(default_factory=list)

    def named(self) -> list[_Names]:
        return [self.durable, *self.changes]

    def copied(self, inodes: dict[int, _Inode]) -> _Folder:
        durable, *changes = (
            {name: inode and inodes[id(inode)] for name, inode in names.items()} for names in self.named()
        )
        return _Folder(durable, changes)


class Disk:
    """What the machine has in its memory and not yet on the disk. It outlives processes, not the power."""

    def __init__(self) -> None:
        self._inodes: dict[int, _Inode] = {}
        self._folders: dict[Path, _Folder] = {}

    def written(self, descriptor: int, position: int, data: bytes | None) -> None:
        """Before a write of `data` at `position`, or a cut there."""
        facts = os.fstat(descriptor)
        inode = self._inodes.get(facts.st_ino)
        if inode is None:
            inode = self._inodes[facts.st_ino] = _Inode(path_of(descriptor))
        if not inode.changes and not inode.spoilt:
            inode.durable = path_of(descriptor).read_bytes() if facts.st_size else b""
        inode.changes.append((position, data))

    def synced(self, descriptor: int) -> None:
        facts = os.fstat(descriptor)
        if stat.S_ISDIR(facts.st_mode):
            self.synced_folder(path_of(descriptor))
        elif facts.st_ino in self._inodes:
            _settled(self._inodes[facts.st_ino])

    def not_synced(self, descriptor: int) -> None:
        """The disk refused: nobody will be told again that these changes are not there."""
        inode = self._inodes.get(os.fstat(descriptor).st_ino)
        if inode is not None and inode.changes:
            inode.spoilt = True
            inode.changes.clear()

    def synced_folder(self, folder: Path) -> None:
        self._folders.pop(folder, None)

    def made(self, path: Path) -> None:
        """After `path` was made. Inode numbers come again: whatever had this one is gone."""
        facts = path.stat()
        inode = self._inodes[facts.st_ino] = _Inode(path, stat.S_ISDIR(facts.st_mode))
        self._change(path.parent, {path.name: inode}, {path.name: None})

    def renamed(self, source: Path, target: Path) -> None:
        """Before a rename within one folder."""
        moved, replaced = self._at(source), self._bury(target)
        self._change(
            source.parent, {source.name: None, target.name: moved}, {source.name: moved, target.name: replaced}
        )
        assert moved is not None
        moved.path = target

    def removed(self, path: Path) -> None:
        """Before a name goes."""
        self._change(path.parent, {path.name: None}, {path.name: self._bury(path)})

    def saved(self, path: Path) -> None:
        """Somebody else is about to write this file, and saves it for good, with all that its folder holds."""
        inode = self._at(path)
        if inode is not None:
            _settled(inode)
        self._folders.pop(path.parent, None)

    def versions(self, path: Path) -> list[bytes]:
        """What `path` is, and what it was while its folder was not synced: a power cut may bring that back."""
        found = [path.read_bytes()] if path.exists() else []
        known = self._folders.get(path.parent)
        for names in known.named() if known is not None else ():
            inode = names.get(path.name)
            if inode is not None and inode.buried is not None:
                found.append(inode.buried[0])
        return found

    def copied(self) -> Disk:
        """The same state again; the files may have been laid down anew meanwhile, with other inode numbers."""
        named = [inode for known in self._folders.values() for one in known.named() for inode in one.values()]
        changed = [inode for inode in (*named, *self._inodes.values()) if inode is not None]
        copies = {
            id(one): one.copied()
            for one in changed
            if one.durable is not None or one.buried or one.folder or one in named
        }
        twin = Disk()
        for number, one in enumerate(copies.values(), 1):
            there = one.buried is None and one.path.exists()
            twin._inodes[one.path.stat().st_ino if there else -number] = one
        twin._folders = {folder: known.copied(copies) for folder, known in self._folders.items()}
        return twin

    def _at(self, path: Path) -> _Inode | None:
        try:
            return self._inodes.setdefault(path.lstat().st_ino, _Inode(path))
        except FileNotFoundError:
            return None

    def _bury(self, path: Path) -> _Inode | None:
        inode = self._at(path)
        if inode is not None:
            inode.buried = _content(path)
        return inode

    def _change(self, folder: Path, after: _Names, before: _Names) -> None:
        known = self._folders.setdefault(folder, _Folder())
        known.changes.append(after)
        for name, inode in before.items():
            known.durable.setdefault(name, inode)

    def cut_power(self, mood: str, dice: random.Random) -> None:
        """Leave of everything that was not synced what `mood` and `dice` say."""
        left: dict[Path, _Inode | None] = {
            inode.path: inode for inode in self._inodes.values() if inode.durable is not None and inode.buried is None
        }
        for folder, known in self._folders.items():
            names = dict(known.durable)
            for change in _kept_names(known.changes, mood, dice):
                names.update(change)
            left |= {folder / name: inode for name, inode in names.items()}
        contents = {path: _left(inode, mood, dice) for path, inode in left.items() if inode is not None}
        for path in sorted(left, key=lambda one: len(one.parts)):
            _lay_down(path, left[path], contents.get(path))
        self._inodes.clear()
        self._folders.clear()


def _settled(inode: _Inode) -> None:
    inode.durable = _with(inode.durable, inode.changes) if inode.spoilt and inode.durable is not None else None
    inode.changes.clear()


def _with(content: bytes, changes: list[_Change]) -> bytes:
    changed = bytearray(content)
    for position, data in changes:
        if data is None:
            del changed[position:]
        else:
            changed.extend(bytes(max(0, position - len(changed))))
            changed[position : position + len(data)] = data
    return bytes(changed)


def _content(path: Path) -> tuple[bytes, int]:
    return path.read_bytes(), stat.S_IMODE(path.stat().st_mode)


def _kept_names(changes: list[_Names], mood: str, dice: random.Random) -> list[_Names]:
    if mood == LOST:
        return []
    if mood == PREFIX:
        return changes[: dice.randint(0, len(changes))]
    # Each for itself, but what happened to one name happened in its order.
    kept: list[_Names] = []
    stuck: set[str] = set()
    for change in changes:
        if stuck.isdisjoint(change) and dice.random() < 0.5:
            kept.append(change)
        else:
            stuck.update(change)
    return kept


def _left(inode: _Inode, mood: str, dice: random.Random) -> tuple[bytes, int] | None:
    """Content and mode after the cut; None for a folder."""
    if inode.folder:
        return None
    visible, mode = inode.buried or _content(inode.path)
    if inode.durable is None:
        return visible, mode
    return _with(inode.durable, _kept_changes(inode.changes, mood, dice)), mode


def _kept_changes(changes: list[_Change], mood: str, dice: random.Random) -> list[_Change]:
    if mood == LOST:
        return []
    if mood == PREFIX:
        kept = changes[: dice.randint(0, len(changes))]
        torn = changes[len(kept) : len(kept) + 1]
        return kept + [(position, data[: dice.randint(0, len(data))]) for position, data in torn if data is not None]
    return [_spoiled(position, data, dice) for position, data in changes if dice.random() < 0.75]


def _spoiled(position: int, data: bytes | None, dice: random.Random) -> _Change:
    """A write as it may be found: whole, with a torn end, or with zeros where a part of it did not get to the disk."""
    fate = dice.random()
    if data is None or fate < 0.3:
        return position, data
    first, last = sorted(dice.randint(0, len(data)) for _ in range(2))
    if fate < 0.5:
        return position, data[:first]
    return position, data[:first] + bytes(last - first) + data[last:]


def _lay_down(path: Path, inode: _Inode | None, content: tuple[bytes, int] | None) -> None:
    """Make `path` what it is after the cut, always as a new inode: nothing may be recognised by its stamp."""
    if content is None:
        if inode is None and path.is_dir():
            shutil.rmtree(path)
        elif inode is None:
            path.unlink(missing_ok=True)
        elif path.parent.is_dir():
            path.mkdir(exist_ok=True)
        return
    if not path.parent.is_dir():
        return
    path.unlink(missing_ok=True)
    path.write_bytes(content[0])
    path.chmod(content[1])


def path_of(descriptor: int) -> Path:
    return _path(os.readlink(f"/proc/self/fd/{descriptor}"))  # noqa: PTH115 - a Path for the link takes as long again


@lru_cache(maxsize=4096)
def _path(name: str) -> Path:
    return Path(name)


class DiskFs(UnsyncedFs):
    """One process's way to the disk. With `folders` or `files` off it does not ask for that kind of sync."""

    def __init__(self, disk: Disk, *, folders: bool = True, files: bool = True) -> None:
        super().__init__()
        self.disk = disk
        self._folders = folders
        self._files = files

    def open_append(self, path: Path) -> int:
        new = not path.exists()
        descriptor = super().open_append(path)
        if new:
            self.disk.made(path)
        return descriptor

    def open_new(self, path: Path) -> int:
        descriptor = super().open_new(path)
        self.disk.made(path)
        return descriptor

    def write(self, descriptor: int, data: bytes) -> None:
        self.disk.written(descriptor, _end(descriptor), bytes(data))
        super().write(descriptor, data)

    def write_at(self, descriptor: int, data: bytes, position: int) -> None:
        self.disk.written(descriptor, position, bytes(data))
        super().write_at(descriptor, data, position)

    def truncate(self, descriptor: int, length: int) -> None:
        self.disk.written(descriptor, length, None)
        super().truncate(descriptor, length)

    def sync(self, descriptor: int) -> None:
        wanted = self._folders if stat.S_ISDIR(os.fstat(descriptor).st_mode) else self._files
        if wanted:
            self.disk.synced(descriptor)

    def sync_folder(self, folder: Path) -> None:
        if self._folders:
            self.disk.synced_folder(folder)

    def replace(self, source: Path, target: Path) -> None:
        self.disk.renamed(source, target)
        super().replace(source, target)

    def unlink(self, path: Path) -> None:
        if path.exists():
            self.disk.removed(path)
        super().unlink(path)

    def create_in(self, folder: int, name: str) -> int:
        descriptor = super().create_in(folder, name)
        self.disk.made(path_of(descriptor))
        return descriptor

    def replace_in(self, folder: int, source: str, target: str) -> None:
        base = path_of(folder)
        self.disk.renamed(base / source, base / target)
        super().replace_in(folder, source, target)

    def unlink_in(self, folder: int, name: str) -> None:
        path = path_of(folder) / name
        if path.exists():
            self.disk.removed(path)
        super().unlink_in(folder, name)

    def make_folder(self, folder: Path) -> None:
        super().make_folder(folder)
        self.disk.made(folder)

    def make_folder_in(self, folder: int, name: str) -> None:
        super().make_folder_in(folder, name)
        self.disk.made(path_of(folder) / name)


class CrashingDiskFs(CrashingFs, DiskFs):
    """A process that dies, or fails, at its operation number `at`."""

    def __init__(
        self,
        disk: Disk,
        at: int | None = None,
        cut: Cut = half,
        error: int | None = None,
        *,
        folders: bool = True,
        files: bool = True,
    ) -> None:
        DiskFs.__init__(self, disk, folders=folders, files=files)
        CrashingFs.__init__(self, at, cut, error)


def _end(descriptor: int) -> int:
    """Where a write through this descriptor goes: all of them append, or fill a new file from its start."""
    return os.fstat(descriptor).st_size
