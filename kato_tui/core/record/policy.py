"""Where kato-tui may write (spec §8), and the only way to open such a file.

`WritePolicy.check` decides on names; `open_destination` and `open_folder` then walk from the allowed root without ever
following a link, so what was decided is what gets opened, whatever is swapped in between. Nothing here writes content.
"""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kato_tui.core.config import Config
from kato_tui.core.errors import ConfigError, KatoError
from kato_tui.core.paths import Home
from kato_tui.core.record.destination import forbidden_character, shown
from kato_tui.core.store.fs import FILE_MODE, Fs

EXTENSIONS: Final = frozenset({".md", ".markdown", ".txt", ".jsonl"})
#: Linux and macOS file systems refuse longer names, but only once every folder before them exists.
_MAX_NAME_BYTES: Final = 255


@dataclass(frozen=True, slots=True)
class Allowed:
    """`path` may be written: canonical, and to be opened from `root` downwards only."""

    path: Path
    root: Path
    asked: Path
    #: `asked` as people write it, for messages.
    name: str
    reason: str
    code: str = "allowed"

    def audit(self) -> dict[str, str]:
        return _audit("allow", self.code, self.path, self.reason)


@dataclass(frozen=True, slots=True)
class Denied:
    """`path` may not be written; `reason` is the whole message for the user."""

    path: Path
    code: str
    reason: str

    def audit(self) -> dict[str, str]:
        return _audit("deny", self.code, self.path, self.reason)


Decision = Allowed | Denied


class WriteRefused(KatoError):
    """An allowed destination could not be opened as what was allowed; nothing of it was changed."""

    def __init__(self, denied: Denied) -> None:
        super().__init__(denied.reason)
        self.denied = denied

    @property
    def code(self) -> str:
        return self.denied.code


def _audit(decision: str, code: str, path: Path, reason: str) -> dict[str, str]:
    return {"decision": decision, "code": code, "path": shown(str(path)), "reason": reason}


@dataclass(frozen=True, slots=True)
class WritePolicy:
    """The folders and endings that recordings may have. All folders are absolute."""

    allowed_roots: tuple[Path, ...]
    #: Exempt from the dot-directory rule, being inside `~/.kato`.
    recordings_folder: Path
    extensions: frozenset[str] = EXTENSIONS
    #: Never written although inside a root (kato-tui's own state, providers' logs), except in a root deeper inside.
    protected: tuple[Path, ...] = ()
    #: Only for messages.
    user_home: Path | None = None
    config_file: Path | None = None

    def __post_init__(self) -> None:
        for folder in (*self.allowed_roots, self.recordings_folder, *self.protected):
            if not folder.is_absolute():
                problem = f"cannot use the folder {folder}: it is relative. Write it in full in {self.config_shown()}"
                raise ConfigError((("allowedWriteRoots",), problem))

    def check(self, path: Path) -> Decision:
        """May `path` be written? Reads only names and facts of files, never content."""
        asked = _Asked(self, path)
        for rule in _RULES:
            verdict = rule(asked)
            if verdict is not None:
                code, reason = verdict
                return Denied(path, code, f"cannot record to {self._named(asked)}: {reason}")
        folder = asked.folder
        assert folder is not None  # the rule `_inside_a_root` has passed
        # Kato-tui's own folder is made anew when it is gone; any other missing root may be a disk that is not mounted.
        root = folder.parent if not folder.exists() and folder == canonical(self.recordings_folder) else folder
        return Allowed(asked.path, root, path, self.tilde(path), f"inside {self.tilde(folder)}")

    def tilde(self, path: Path) -> str:
        """`path` as people write it."""
        if self.user_home is not None and path.is_relative_to(self.user_home):
            below = path.relative_to(self.user_home)
            return "~" if below == Path() else shown(f"~/{below}")
        return shown(str(path))

    def bases(self) -> list[Path]:
        """Canonical folders that a destination may lie in, the deepest first: the deepest one decides."""
        found = {root: canonical(root) for root in (*self.allowed_roots, self.recordings_folder)}
        recordings = found[self.recordings_folder]
        roots = [found[root] for root in self.allowed_roots]
        if recordings not in roots and any(recordings.is_relative_to(root) for root in roots):
            roots.append(recordings)
        return sorted(roots, key=lambda root: len(root.parts), reverse=True)

    def _named(self, asked: _Asked) -> str:
        name = self.tilde(asked.asked)
        moved = asked.asked.is_absolute() and asked.path != Path(os.path.normpath(asked.asked))
        return f"{name} (which leads to {self.tilde(asked.path)})" if moved else name

    def config_shown(self) -> str:
        return self.tilde(self.config_file) if self.config_file is not None else "~/.kato/config.toml"


class _Asked:
    """One question to the policy, with what the rules have in common worked out once."""

    def __init__(self, policy: WritePolicy, asked: Path) -> None:
        self.policy = policy
        self.asked = asked
        usable = asked.is_absolute() and forbidden_character(str(asked)) is None
        self.path = canonical(asked) if usable else asked
        bases = policy.bases() if usable else []
        self.folder = next((base for base in bases if self.path.is_relative_to(base)), None)

    @property
    def below(self) -> tuple[str, ...]:
        """The names below the folder that decides: what the user, or a log, has chosen."""
        return self.path.relative_to(self.folder).parts if self.folder is not None else ()


Verdict = tuple[str, str] | None

_NOT_A_FILE: Final = ("not-a-file", "it is a folder, link, pipe, socket or device. Choose a plain file or a new name")


def _absolute(asked: _Asked) -> Verdict:
    if asked.asked.is_absolute():
        return None
    return "not-absolute", "it is not a full path. Write it from / or ~ on"


def _characters(asked: _Asked) -> Verdict:
    character = forbidden_character(str(asked.asked)) or forbidden_character(str(asked.path))
    return ("bad-character", f"its name holds the character {character}. Choose another name") if character else None


def _name_length(asked: _Asked) -> Verdict:
    if all(len(part.encode()) <= _MAX_NAME_BYTES for part in asked.path.parts):
        return None
    return "name-too-long", f"a name in it is longer than {_MAX_NAME_BYTES} bytes. Choose a shorter one"


def _inside_a_root(asked: _Asked) -> Verdict:
    if asked.folder is not None:
        return None
    policy = asked.policy
    roots = ", ".join(policy.tilde(root) for root in policy.allowed_roots) or "none"
    return "outside", f"outside the allowed folders ({roots}). Change allowedWriteRoots in {policy.config_shown()}"


def _not_protected(asked: _Asked) -> Verdict:
    depth = len(asked.folder.parts) if asked.folder is not None else 0
    for folder in map(canonical, asked.policy.protected):
        if len(folder.parts) >= depth and _folded(asked.path).is_relative_to(_folded(folder)):
            return "protected", f"{asked.policy.tilde(folder)} belongs to a program. Choose another folder"
    return None


def _not_hidden(asked: _Asked) -> Verdict:
    hidden = [part for part in asked.below if _bare_name(part).startswith(".")]
    if not hidden:
        return None
    if hidden == [asked.path.name]:
        return "dot-file", "it is a hidden file. Choose a name that does not begin with a dot"
    return (
        "dot-directory",
        f"inside the hidden folder {shown(hidden[0])}. Choose a folder that does not begin with a dot",
    )


def _extension(asked: _Asked) -> Verdict:
    suffix = asked.path.suffix
    # Lower case alone would take "K" (the Kelvin sign) for "k".
    if suffix.isascii() and suffix.lower() in asked.policy.extensions:
        return None
    known = " ".join(sorted(asked.policy.extensions))
    what = f"{shown(suffix)} is not an allowed extension" if suffix else "it has no extension"
    return "extension", f"{what}. Use one of {known}"


def _existing(asked: _Asked) -> Verdict:
    """A new file, or one that is the user's own and has no other name; never the root itself, even if it is missing."""
    if not asked.below:
        return _NOT_A_FILE
    try:
        facts = asked.path.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        return _from_errno(error)
    return _unfit(facts)


#: In this order: each rule may rely on those before it.
_RULES: Final[tuple[Callable[[_Asked], Verdict], ...]] = (
    _absolute,
    _characters,
    _name_length,
    _inside_a_root,
    _not_protected,
    _not_hidden,
    _extension,
    _existing,
)


def _unfit(facts: os.stat_result) -> Verdict:
    """Why a file with these facts may not be written; asked of the name before and of the open file after."""
    if not stat.S_ISREG(facts.st_mode):
        return _NOT_A_FILE
    if facts.st_uid != os.geteuid():
        return "other-owner", "the file belongs to another user. Choose a file of your own or a new name"
    if facts.st_nlink > 1:
        return (
            "hard-link",
            "the file has another name (a hard link) that may lie elsewhere. Copy it to a new name first",
        )
    if facts.st_nlink == 0:
        return "missing", "the file was deleted just now. Start again to make a new one"
    return None


#: What the system says -> code and message. Anything else is passed on in the system's own words.
_ERRNO: Final[dict[int, tuple[str, str]]] = {
    errno.ELOOP: ("changed", "a link stands where there was none, or links run in a circle. Replace the link"),
    errno.EMLINK: ("changed", "a link stands where there was none. Replace the link"),
    errno.ENOTDIR: ("changed", "a part of it is not a plain folder. Move away the file or link that is in its place"),
    errno.ENOENT: ("missing", "the file or its folder is gone. Start again to make it anew"),
    errno.EEXIST: ("exists", "it exists already. Choose a new name"),
    errno.EISDIR: _NOT_A_FILE,
    errno.ENXIO: _NOT_A_FILE,
    errno.EACCES: ("permission", "no permission. Change the permissions of the file or its folder"),
    errno.EPERM: ("permission", "no permission. Change the permissions of the file or its folder"),
    errno.EROFS: ("permission", "the disk is read-only. Choose another folder"),
    errno.ENOSPC: ("disk-full", "the disk is full. Make room"),
    errno.EDQUOT: ("disk-full", "the disk quota is used up. Make room"),
    errno.ENAMETOOLONG: ("name-too-long", "the path is too long. Choose a shorter one"),
}


def _from_errno(error: OSError) -> tuple[str, str]:
    return _ERRNO.get(error.errno or 0) or ("system", f"{error.strerror or error}. It is tried again")


def canonical(path: Path) -> Path:
    """Links and `..` resolved as far as the path exists; the rest as written. A circle of links stays as it is."""
    return Path(os.path.realpath(path))


def _folded(path: Path) -> Path:
    """For comparing with folders that must not be hit: some file systems take case and composition as equal."""
    return Path(unicodedata.normalize("NFC", str(path)).casefold())


def _bare_name(part: str) -> str:
    """`part` without the invisible characters that HFS+ ignores, so that they cannot hide a leading dot."""
    return "".join(char for char in part if unicodedata.category(char) != "Cf")


_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
#: O_NONBLOCK: opening a pipe that was swapped in must not hang. Never O_TRUNC.
_FILE_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


def open_destination(allowed: Allowed, *, create: Fs | None = None) -> int:
    """A descriptor for appending to the allowed file: a new one with `create`, else the existing one.

    Raises `WriteRefused` when the file is not, or no longer, what was allowed; `create` never opens an existing file.
    """
    folder = open_folder(allowed, create=create)
    try:
        with refusing(allowed):
            flags = _FILE_FLAGS | (os.O_CREAT | os.O_EXCL if create is not None else 0)
            descriptor = os.open(allowed.path.name, flags, FILE_MODE, dir_fd=folder)
            try:
                verdict = _unfit_opened(descriptor, folder, allowed.path.name)
            except BaseException:
                os.close(descriptor)
                raise
    finally:
        os.close(folder)
    if verdict is not None:
        os.close(descriptor)
        raise _refused(allowed, *verdict)
    return descriptor


def _unfit_opened(descriptor: int, folder: int, name: str) -> Verdict:
    """Why what was opened may not be written.

    The open file alone does not tell: a hard link that was removed again right after the opening leaves its victim
    with one name, as if it were ours. One look at the name tells both: that it is this file's, and its only one.
    """
    opened = os.fstat(descriptor)
    verdict = _unfit(opened)
    if verdict is not None:
        return verdict
    named = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if (named.st_dev, named.st_ino) != (opened.st_dev, opened.st_ino):
        return "changed", "another file took its place just now. It is tried again"
    return _unfit(named)


def open_folder(allowed: Allowed, *, create: Fs | None = None) -> int:
    """A descriptor of the allowed file's folder, for making or replacing names in it with `dir_fd`.

    Missing folders below the root are made by `create`, private to the user.
    """
    with refusing(allowed):
        descriptor = os.open(allowed.root, _FOLDER_FLAGS)
        for name in allowed.path.relative_to(allowed.root).parts[:-1]:
            try:
                inner = _enter(descriptor, name, create)
            finally:
                os.close(descriptor)
            descriptor = inner
        return descriptor


def _enter(folder: int, name: str, create: Fs | None) -> int:
    if create is not None:
        # Whether what is there is a plain folder is seen on opening.
        with suppress(FileExistsError):
            create.make_folder_in(folder, name)
        # A power cut must not leave a recording that is synced in a folder that is not; also when the folder was
        # there, whoever made it may have died before this.
        create.sync(folder)
    return os.open(name, _FOLDER_FLAGS, dir_fd=folder)


@contextmanager
def refusing(allowed: Allowed) -> Iterator[None]:
    """What the system says about the allowed file, in words for the user."""
    try:
        yield
    except OSError as error:
        raise _refused(allowed, *_from_errno(error)) from error


def _refused(allowed: Allowed, code: str, reason: str) -> WriteRefused:
    return WriteRefused(Denied(allowed.asked, code, f"cannot record to {allowed.name}: {reason}"))


def write_policy(config: Config, home: Home, user_home: Path) -> WritePolicy:
    """Where recordings may go: as configured, else the home folder; never among kato-tui's own state."""
    chosen = config.allowed_write_roots
    roots = [Path(root).expanduser() for root in chosen] if chosen is not None else [user_home]
    return WritePolicy(
        (*roots, home.recordings),
        home.recordings,
        protected=(home.root,),
        user_home=user_home,
        config_file=home.config,
    )
