"""What users do to a recording while kato-tui is down, and what must be true of it afterwards (reliability §2.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from tests.crash.town import Town, tokens

NOTE: Final = b"\nMy own note, which is *mine*.\n"
#: As like to our own lines as can be.
_LINE: Final = b'\n{"schemaVersion":1,"session":{"provider":"mine"},"seq":1,"kind":"note"}\n'
OTHER: Final = b"# Another file of mine\n\nIt has nothing to do with any session.\n"
_WORDS: Final = b"words of the user instead"


@dataclass(frozen=True)
class Edited:
    """What was done, and what the file held before."""

    name: str
    path: Path
    before: list[bytes]
    #: The token that the user wrote over.
    overwritten: bytes | None = None
    #: Tokens of the bytes that were on their way into the file.
    under_way: frozenset[bytes] = frozenset()


#: What is done to the file of this name.
Edit = Callable[[Town, str], Edited | None]

#: What may be edited, if it is there: files of one session each.
FILES: Final = ("a.md", "a.md", "deep/b.jsonl", "r.jsonl")


def nothing(town: Town, file: str) -> Edited | None:
    return None


def note_for(path: Path) -> bytes:
    return _LINE if path.suffix == ".jsonl" else NOTE


def _edit(name: str, town: Town, file: str, change: Callable[[Path, bytes], bytes | None]) -> Edited | None:
    """The user's program saves: what it writes, and the name, are safe."""
    path = town.notes / file
    if not path.is_file():
        return None
    data = path.read_bytes()
    town.disk.saved(path)
    changed = change(path, data)
    if changed is None:
        path.unlink()
    elif changed != data:
        path.write_bytes(changed)
    return Edited(name, path, tokens(data), under_way=_under_way(town, path))


def _under_way(town: Town, path: Path) -> frozenset[bytes]:
    """As the metadata says, and as it may say again after a power cut."""
    found: set[bytes] = set()
    for log in town.logs.values():
        for data in town.disk.versions(town.home.meta(log.key)):
            for recording in orjson.loads(data)["recordings"]:
                pending = recording.get("pending")
                if recording["destination"] == str(path) and pending is not None:
                    aside = town.home.pending(log.key, recording["recordingId"], pending["sha256"])
                    found.update(tokens(pending["chunk"].encode() if "chunk" in pending else aside.read_bytes()))
    return frozenset(found)


def append(town: Town, file: str) -> Edited | None:
    return _edit("append", town, file, lambda path, data: data + note_for(path))


def head(town: Town, file: str) -> Edited | None:
    return _edit("head", town, file, lambda path, data: note_for(path) + data)


def inside(town: Town, file: str) -> Edited | None:
    """The user rewrites the last words that stand in the file."""
    words: list[bytes] = []

    def change(_: Path, data: bytes) -> bytes:
        words.extend(tokens(data)[-1:])
        return data.replace(words[0], _WORDS) if words else data

    done = _edit("inside", town, file, change)
    return done if done is None or not words else Edited("inside", done.path, done.before, words[0], done.under_way)


def delete(town: Town, file: str) -> Edited | None:
    return _edit("delete", town, file, lambda path, data: None)


def rename(town: Town, file: str) -> Edited | None:
    def change(path: Path, data: bytes) -> None:
        (path.parent / "moved.md").write_bytes(data)

    return _edit("rename", town, file, change)


def replace(town: Town, file: str) -> Edited | None:
    """Another file comes to stand in its place, as a new inode."""

    def change(path: Path, _: bytes) -> bytes:
        copy = path.with_name("copy.md")
        copy.write_bytes(OTHER)
        copy.replace(path)
        return OTHER

    return _edit("replace", town, file, change)


EDITS: Final[tuple[Edit, ...]] = (append, head, inside, delete, rename, replace)


def check_edited(town: Town, edited: Edited) -> None:
    """Every event that was to be in the file is there once and in order, and the user's text is as the user left it."""
    data = edited.path.read_bytes() if edited.path.exists() else b""
    found = tokens(data)
    wanted = _wanted(town, edited.path)
    # Words that were under way and that the user rewrote are not known any more, and what the power left beside them.
    assert b"\0" not in data or edited.overwritten in edited.under_way
    if edited.name in ("append", "head"):
        assert data.count(note_for(edited.path)) == 1, "the note"
        assert found == wanted, "tokens"
    elif edited.name == "inside":
        _check_overwritten(edited, data, found, wanted)
    else:
        # What the user took away stays away; only what was under way may come again.
        kept = [token for token in wanted if token not in edited.before]
        assert [token for token in found if token not in edited.under_way] == [
            token for token in kept if token not in edited.under_way
        ], "tokens"
        assert len(set(found)) == len(found), "twice"
    if edited.name == "rename":
        assert tokens((edited.path.parent / "moved.md").read_bytes()) == edited.before
    if edited.name == "replace":
        assert data.startswith(OTHER) or OTHER in data, "the user's file"
    for token in edited.under_way:
        assert token in found or token in edited.before or token == edited.overwritten, "lost"


def _check_overwritten(edited: Edited, data: bytes, found: list[bytes], wanted: list[bytes]) -> None:
    """Undecidable by content: bytes on their way that the user rewrote come once more, visibly; nothing is lost."""
    if edited.overwritten is None:
        assert found == wanted
        return
    again = edited.under_way if edited.overwritten in edited.under_way else frozenset()
    assert data.count(_WORDS) == 1, "the user's words"
    for token in wanted:
        times = found.count(token)
        most = 2 if token in again else 1
        assert (0 if token == edited.overwritten else 1) <= times <= most, f"{token!r} {times} times"
    once = [token for token in found if token not in again]
    assert once == [token for token in wanted if token not in again and token != edited.overwritten], "order"


def _wanted(town: Town, path: Path) -> list[bytes]:
    return [
        token
        for name in town.logs
        for recording in town.recordings(name)
        if recording.destination == str(path)
        for token in tokens(town.expected(name, recording))
    ]
