"""How much of the machine the engine takes: CPU share and memory of its process. Reads /proc where there is one."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path


class Meter:
    def __init__(self, pid: int | None = None) -> None:
        self._pid = pid or os.getpid()
        self._own = self._pid == os.getpid()
        self._before = (time.monotonic(), self._used())

    def read(self) -> tuple[float | None, int | None]:
        """Percent of one core since the last reading, and resident bytes; None where the system does not tell."""
        now, used = time.monotonic(), self._used()
        then, before = self._before
        self._before = (now, used)
        share = None if used is None or before is None or now <= then else 100 * (used - before) / (now - then)
        return share, self._resident()

    def _used(self) -> float | None:
        if self._own:
            return time.process_time()
        try:
            fields = Path(f"/proc/{self._pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, IndexError):
            return None

    def _resident(self) -> int | None:
        try:
            pages = int(Path(f"/proc/{self._pid}/statm").read_text("ascii").split()[1])
            return pages * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError, IndexError):
            return _peak() if self._own else None


def _peak() -> int | None:
    """Where there is no /proc, the most it ever was: better than nothing."""
    try:
        import resource
    except ImportError:
        return None
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size * 1024
