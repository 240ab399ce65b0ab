"""Copies to every clipboard there is, because none of them says whether it worked. Blocks: not for the screen's thread.

The terminal's own (OSC 52) works over SSH but not inside tmux, so tmux is told as well; where there is a desktop,
its clipboard too. The commands are fixed; what is copied goes to their input, never to their arguments.
"""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Callable, Mapping
from typing import Final

_PATIENCE: Final = 2.0


def osc52(text: str) -> str:
    """The sequence that asks the terminal to copy; base64, so nothing of the text can act."""
    return f"\x1b]52;c;{base64.b64encode(text.encode('utf-8', 'replace')).decode()}\x07"


def copy(text: str, environ: Mapping[str, str] = os.environ, system: Callable[[str], bool] | None = None) -> list[str]:
    """The clipboards outside the terminal that took it; the caller writes `osc52` itself, it owns the terminal."""
    taken = []
    if environ.get("TMUX") and _tmux(text):
        taken.append("tmux")
    if not environ.get("SSH_CONNECTION") and (system or _desktop)(text):
        taken.append("desktop")
    return taken


def _tmux(text: str) -> bool:
    try:
        done = subprocess.run(
            ["tmux", "load-buffer", "-w", "-"],
            input=text.encode("utf-8", "replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _desktop(text: str) -> bool:
    import pyperclip

    try:
        pyperclip.copy(text)
    except (pyperclip.PyperclipException, OSError):
        return False
    return True
