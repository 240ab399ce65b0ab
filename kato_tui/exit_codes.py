"""What the program ends with, as `--help` tells it."""

from __future__ import annotations

from typing import Final

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3
INTERRUPTED: Final = 130
