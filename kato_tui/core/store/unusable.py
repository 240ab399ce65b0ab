"""What is said of a state file that cannot be used: which one, why, and the very command that mends it."""

from __future__ import annotations

from pathlib import Path

from kato_tui.core import identity, paths
from kato_tui.core.errors import NeedsRebuild


def unusable(path: Path, problem: str, step: str = "Run") -> NeedsRebuild:
    """For the metadata or the twin of a session; nothing of them has been touched."""
    key = paths.session_of(path)
    session = identity.short_id(identity.session_id(key)) if key is not None else "SESSION"
    return NeedsRebuild(f"{path} {problem}. Nothing was changed. {step} `kato-tui rebuild {session}`")
