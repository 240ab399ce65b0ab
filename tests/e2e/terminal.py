"""A real terminal (a pty) with the program in it: what it writes, what it gets typed, and how it leaves."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

#: Generous: a busy machine is slow, and only a failure ever waits for so long.
PATIENCE: Final = 90.0
_SEQUENCES: Final = re.compile(
    rb"\x1b(?:\[[0-9;?<>=:$]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_].*?\x1b\\|[()].|[=>78cM])"
)
#: What has to be taken back before the shell goes on: other screen, hidden cursor, mouse, bracketed paste.
_BACK: Final = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?2004l")


class Terminal:
    def __init__(
        self, base: Path, *arguments: str, program: Sequence[str] = ("-m", "kato_tui"), **environ: str
    ) -> None:
        self.base = base
        self._ours, theirs = os.openpty()
        self.resize(140, 45)
        self._before = termios.tcgetattr(theirs)
        self._theirs = theirs
        self.written = b""
        self._mark = 0
        self.process = subprocess.Popen(
            [sys.executable, *program, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env={
                "HOME": str(base),
                "PATH": os.environ["PATH"],
                "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
                "LC_ALL": "C.UTF-8",
                "TERM": "xterm-256color",
                **environ,
            },
        )

    def resize(self, width: int, height: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def type(self, text: str) -> None:
        """What is written from here on is what comes of it."""
        self._mark = len(self.written)
        os.write(self._ours, text.encode())

    @property
    def words(self) -> str:
        """What was written since something was typed, without the sequences."""
        return _SEQUENCES.sub(b"", self.written[self._mark :]).decode("utf-8", "replace")

    def see(self, *words: str) -> None:
        self.until(lambda: all(one in self.words for one in words), f"to see {words}")

    def until(self, condition: Callable[[], Any], what: str = "") -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, f"waited in vain {what}; written:\n{self.words[-3000:]}"
            assert self._read() or self.process.poll() is None or condition(), (
                f"it ended; written:\n{self.words[-3000:]}"
            )

    def _read(self) -> bool:
        ready, _, _ = select.select([self._ours], [], [], 0.05)
        if not ready:
            return False
        try:
            data = os.read(self._ours, 1 << 16)
        except OSError:
            return False
        self.written += data
        return bool(data)

    def end(self) -> int:
        """The exit code; everything that was written until then is taken."""
        self.until(lambda: self.process.poll() is not None, "for the end")
        while self._read():
            pass
        return self.process.returncode

    def assert_restored(self) -> None:
        for sequence in _BACK:
            assert sequence in self.written, f"{sequence!r} is missing"
            turned_on = self.written.rfind(sequence[:-1] + (b"h" if sequence.endswith(b"l") else b"l"))
            assert self.written.rfind(sequence) > turned_on, f"{sequence!r} did not come last"
        assert termios.tcgetattr(self._theirs) == self._before

    def close(self) -> None:
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self._ours)
        os.close(self._theirs)


@contextlib.contextmanager
def terminal(base: Path, *arguments: str, **options: Any) -> Iterator[Terminal]:
    opened = Terminal(base, *arguments, **options)
    try:
        yield opened
    finally:
        opened.close()
