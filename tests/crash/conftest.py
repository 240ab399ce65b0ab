"""Where the harness works: in memory, since its disks are models of their own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.town import small_pieces

#: The model of the disk follows descriptors to their paths.
linux_only = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc, to follow open files")


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder in memory where there is such a thing."""
    shared = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="kato-crash-", dir=shared if shared.is_dir() else None))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def pieces() -> Iterator[None]:
    with small_pieces():
        yield
