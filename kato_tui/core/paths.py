"""Every path kato-tui uses under its home. Nothing else joins paths (spec §2)."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

_WINDOWS: Final = os.name == "nt"
_UNSAFE = re.compile(rb"[^A-Za-z0-9_.+@=" + (b"" if _WINDOWS else b":") + rb"-]")
#: File systems take 255 bytes a name; the provider, the suffix and a temporary ending need their share.
_MAX_NAME: Final = 180
_KEPT_OF_LONG: Final = 120

#: What `set_aside` names a file.
_ASIDE = re.compile(r"\.(?:torn|before-rebuild)-\d+$")

META_SUFFIX: Final = ".meta.json"
TWIN_SUFFIX: Final = ".twin.jsonl"
PENDING_SUFFIX: Final = ".pending"
TEMPORARY_SUFFIX: Final = ".tmp"


def safe_name(text: str) -> str:
    """`text` as one file name: reversible percent-encoding, with a hash instead of the end when it is too long.

    A log chooses its session id, so the result may never be a path, a dot name or a name with control characters.
    """
    data = text.encode("utf-8", "surrogatepass")
    name = _UNSAFE.sub(lambda m: b"%%%02X" % m[0][0], data).decode("ascii")
    if not name.strip("."):
        name = "".join(f"%{ord(char):02X}" for char in name) or "%"
    if len(name) > _MAX_NAME:
        import hashlib  # rare, and slow to load for a command that only looks for the socket

        # "~" never comes out of the encoding, so a cut name cannot meet a whole one.
        name = f"{name[:_KEPT_OF_LONG]}~{hashlib.sha256(data).hexdigest()[:32]}"
    return name


#: Inode, size and mtime.
Stamp = tuple[int, int, int]


class Home:
    """The one folder that holds kato-tui's state: `~/.kato`, or `KATO_HOME`."""

    # No dataclass: loading what makes those takes a third of the time of a `status`.
    __slots__ = ("root", "sessions")

    def __init__(self, root: Path) -> None:
        self.root = root
        self.sessions = root / "sessions"

    @classmethod
    def from_environ(cls, environ: Mapping[str, str], user_home: Path) -> Home:
        chosen = environ.get("KATO_HOME")
        return cls(Path(chosen).expanduser().absolute() if chosen else user_home / ".kato")

    @property
    def config(self) -> Path:
        return self.root / "config.toml"

    @property
    def index(self) -> Path:
        return self.root / "daemon-control.json"

    @property
    def recordings(self) -> Path:
        return self.root / "recordings"

    @property
    def run(self) -> Path:
        return self.root / "run"

    @property
    def lock(self) -> Path:
        return self.run / "engine.lock"

    @property
    def socket(self) -> Path:
        return self.run / "control.sock"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def operational_log(self) -> Path:
        return self.logs / "operational.jsonl"

    @property
    def audit_log(self) -> Path:
        return self.logs / "audit.jsonl"

    def folders(self) -> list[Path]:
        return [self.root, self.sessions, self.recordings, self.run, self.logs]

    def meta(self, session_key: str) -> Path:
        return _inside(self.sessions, _key_name(session_key) + META_SUFFIX)

    def twin(self, session_key: str) -> Path:
        return _inside(self.sessions, _key_name(session_key) + TWIN_SUFFIX)

    def pending(self, session_key: str, recording_id: str, digest: str) -> Path:
        """Where bytes lie that are about to be appended to a recording and are too many for the metadata.

        Named by their hash: the next bytes are written down while the metadata still speaks of these.
        """
        return (
            self.sessions
            / f"{_key_name(session_key)}.{safe_name(recording_id)}.{safe_name(digest[:16])}{PENDING_SUFFIX}"
        )

    def session_files(self, session_key: str) -> list[Path]:
        """All files of one session: metadata, twin, bytes about to be appended, and what was set aside of them."""
        stem = _key_name(session_key)
        starts = (stem + META_SUFFIX, stem + TWIN_SUFFIX)
        return [
            path
            for path in _files(self.sessions)
            if path.name.startswith(starts) or (path.name.startswith(stem + ".") and path.name.endswith(PENDING_SUFFIX))
        ]

    def temporary_files(self) -> list[Path]:
        """Files that were to take the place of others, and whose process died before that."""
        return [*_files(self.root, TEMPORARY_SUFFIX), *_files(self.sessions, TEMPORARY_SUFFIX)]

    def pending_files(self) -> list[Path]:
        """Bytes about to be appended to recordings, of all sessions."""
        return _files(self.sessions, PENDING_SUFFIX)

    def set_aside_files(self) -> list[Path]:
        """Torn tails and what was there before a rebuild, of all sessions."""
        return [path for path in _files(self.sessions) if _ASIDE.search(path.name)]

    def log_files(self) -> list[Path]:
        """The operational and audit logs with their rotated predecessors."""
        names = (self.operational_log.name, self.audit_log.name)
        return [path for path in _files(self.logs) if path.name.startswith(names)]

    def stored_metas(self) -> dict[str, Stamp]:
        """Every metadata file there is, by name, with its stamp: what the index is compared with."""
        found: dict[str, Stamp] = {}
        try:
            with os.scandir(self.sessions) as entries:
                for entry in entries:
                    if entry.name.endswith(META_SUFFIX):
                        with contextlib.suppress(OSError):
                            found[entry.name] = _stamp(entry.stat())
        except FileNotFoundError:
            return {}
        return dict(sorted(found.items()))

    @staticmethod
    def stamp(path: Path) -> Stamp | None:
        """Inode, size and mtime of a state file: unchanged, it need not be read again.

        The clock of mtimes ticks in milliseconds, but every atomic write makes a new inode.
        """
        try:
            return _stamp(path.stat())
        except OSError:
            return None


def _stamp(facts: os.stat_result) -> Stamp:
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _files(folder: Path, suffix: str = "") -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = (one.name for one in entries if one.name.endswith(suffix) and one.is_file(follow_symlinks=False))
            return [folder / name for name in sorted(names)]
    except FileNotFoundError:
        return []


@lru_cache(maxsize=512)
def _inside(folder: Path, name: str) -> Path:
    """Joining is slow, and asked for the same few names several times a batch."""
    return folder / name


@lru_cache(maxsize=1024)
def _key_name(session_key: str) -> str:
    provider, _, provider_session_id = session_key.partition(":")
    return f"{safe_name(provider)}{'%3A' if _WINDOWS else ':'}{safe_name(provider_session_id)}"


def session_of(path: Path) -> str | None:
    """The key of the session whose metadata or twin this is; None where the name holds only a part of it."""
    from urllib.parse import unquote  # rare, and slow to load for a command that only looks for the socket

    name = path.name.removesuffix(META_SUFFIX).removesuffix(TWIN_SUFFIX)
    return None if "~" in name else unquote(name, errors="surrogatepass")


def set_aside(path: Path, why: str) -> Path:
    """A free name beside `path` for state that is moved out of the way, never overwritten."""
    number = 1
    while (free := path.with_name(f"{path.name}.{why}-{number}")).exists():
        number += 1
    return free
