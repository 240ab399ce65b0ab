"""All files below a folder, taken into memory and laid out again as they were."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Stored:
    #: Content, mode and time of change.
    files: dict[Path, tuple[bytes, int, int]]
    folders: list[Path]


def stored(base: Path) -> Stored:
    files: dict[Path, tuple[bytes, int, int]] = {}
    folders: list[Path] = []
    for folder, _, names in os.walk(base):
        folders.append(Path(folder))
        for name in names:
            path = Path(folder, name)
            facts = path.stat()
            files[path] = path.read_bytes(), facts.st_mode & 0o777, facts.st_mtime_ns
    return Stored(files, folders)


def lay_out(base: Path, content: Stored) -> None:
    """Times stay: an unchanged log must not look changed."""
    shutil.rmtree(base, ignore_errors=True)
    for folder in content.folders:
        folder.mkdir(mode=0o700)
    for path, (data, mode, changed) in content.files.items():
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, mode)
        os.write(descriptor, data)
        os.close(descriptor)
        os.utime(path, ns=(changed, changed))
