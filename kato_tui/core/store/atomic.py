"""Whole-file writes that a crash leaves either old or new, never half (spec §2)."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

from kato_tui.core.paths import TEMPORARY_SUFFIX
from kato_tui.core.store.fs import Fs


def write_atomic(fs: Fs, path: Path, data: bytes | Iterator[bytes], *, durable: bool = True) -> None:
    """Replace `path` by `data`, which may come in pieces so that it is never held as a whole.

    `durable=False` is for caches that may be lost, but never torn.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}{TEMPORARY_SUFFIX}")
    fs.unlink(temporary)
    descriptor = fs.open_new(temporary)
    try:
        try:
            for piece in (data,) if isinstance(data, bytes) else data:
                fs.write(descriptor, piece)
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
