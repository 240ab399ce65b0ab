"""Progress of long work: a bar on a terminal, plain lines elsewhere. Always on stderr, so stdout stays output."""

from __future__ import annotations

import sys
import time
from typing import Final, TextIO

from kato_tui.core.summary import Step
from kato_tui.view.words import size

_BAR: Final = 24
_REDRAW_SECONDS: Final = 0.1
_LINE_SECONDS: Final = 5.0


class ProgressView:
    """Call it with every step; it decides what is worth showing."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._terminal = self._stream.isatty()
        self._shown = time.monotonic()
        self._drawn = False

    def __call__(self, step: Step) -> None:
        now = time.monotonic()
        wait = _REDRAW_SECONDS if self._terminal else _LINE_SECONDS
        if now - self._shown < wait and step.done < step.total:
            return
        self._shown = now
        facts = f"{step.done}/{step.total} sessions, {size(step.bytes_read)} read"
        if not self._terminal:
            self._stream.write(f"ingesting: {facts}\n")
        else:
            filled = _BAR * step.done // max(step.total, 1)
            self._stream.write(f"\r\x1b[2K[{'#' * filled}{'.' * (_BAR - filled)}] {facts}")
            self._drawn = True
        self._stream.flush()

    def close(self) -> None:
        """Leave the terminal line clean."""
        if self._drawn:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
