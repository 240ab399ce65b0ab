"""The fixtures of the crash harness serve here too."""

from __future__ import annotations

from tests.crash.conftest import memory, pieces

__all__ = ["memory", "pieces"]
