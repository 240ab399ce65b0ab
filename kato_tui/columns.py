"""How wide the terminal is. The standard library's own answer loads archives of all sorts along with it."""

from __future__ import annotations

import os
import sys
from typing import Final

_USUAL: Final = 80


def columns() -> int:
    """As `shutil.get_terminal_size` has it: what COLUMNS says, else the terminal, else the usual width."""
    try:
        told = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        told = 0
    if told > 0:
        return told
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _USUAL
    except (OSError, ValueError, AttributeError):
        return _USUAL
