"""The family of errors that kato-tui raises on purpose. Each message names the thing, the reason and the next step."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Final

#: Where in a document: the keys and numbers that lead there.
Place = tuple[str | int, ...]
#: So much of an error that nobody foresaw is told.
_TOLD: Final = 200


class KatoError(Exception):
    """Base of all: the message is meant for the user."""


class ConfigError(KatoError):
    """The configuration cannot be used as it is: each problem, with the place in the file that it is about."""

    def __init__(self, *problems: tuple[Place, str]) -> None:
        super().__init__("\n".join(text for _, text in problems))
        self.problems = problems


class Fault(KatoError):
    """An error that nobody foresaw, in the work for one session. It must not stop the work for the others."""

    def __init__(self, error: Exception) -> None:
        what = f"{type(error).__name__}: {error}"[:_TOLD]
        super().__init__(f"a fault of kato-tui itself, please report it ({what}). The other sessions go on")


class NeedsRebuild(KatoError):
    """The stored state of one session cannot be trusted or understood; nothing of it has been touched."""


class SourceUnreadable(KatoError):
    """A log cannot be read now; it is tried again when it changes."""


class HomeBusy(KatoError):
    """Another engine owns this home."""


class HomeUnusable(KatoError):
    """State cannot be kept in this home: no permission, no room, no folder."""


class SessionNotFound(KatoError):
    """No session by that name."""


#: What the system says, as people say it, with the next step where there is one.
_WORDS: Final = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the disk is read-only",
    errno.ENOSPC: "the disk is full. Make room",
    errno.EDQUOT: "the disk quota is used up. Make room",
    errno.ENOENT: "no such file or folder",
    errno.ENOTDIR: "a part of the path is not a folder",
    errno.EISDIR: "a folder, not a file",
}
#: These are not about the file that was read or written, but about the disk.
_OF_THE_DISK: Final = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


def in_words(error: BaseException, of: Path | None = None) -> str:
    """An error for people: one of the system names its file, unless it is that `of` which one speaks already, and
    says what happened, without numbers."""
    if not isinstance(error, OSError) or error.errno is None:
        return str(error)
    said = _WORDS.get(error.errno) or str(error.strerror or error)
    named = isinstance(error.filename, str) and error.filename != str(of)
    return f"{error.filename}: {said}" if named else said


def about_log(path: Path, error: Exception) -> str:
    """Why a session is not up to date: for its log's sake, or for that of the disk which keeps what was read."""
    said = in_words(error)
    if not isinstance(error, OSError):
        return said
    if error.errno in _OF_THE_DISK:
        return f"cannot keep what {path} says: {said}"
    return said if error.filename else f"{path}: {said}"
