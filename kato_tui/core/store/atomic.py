"""Whole-file writes that a crash leaves either old or new, never half (spec §2)."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from kato_tui.core.paths import TEMPORARY_SUFFIX
from kato_tui.core.store.fs import Fs


def write_atomic(fs: Fs, path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace `path` by `data`. `durable=False` is for caches that may be lost, but never torn."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}{TEMPORARY_SUFFIX}")
    fs.unlink(temporary)
    descriptor = fs.open_new(temporary)
    try:
        try:
            fs.write(descriptor, data)
            if durable:
                fs.sync(descriptor)
        finally:
            fs.close(descriptor)
        fs.replace(temporary, path)
    except BaseException:
        fs.unlink(temporary)
        raise
    if durable:
        fs.sync_folder(path.parent)
