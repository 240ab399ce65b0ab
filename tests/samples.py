"""Real logs that developers of kato-tui have beside the checkout; users do not, so tests with them skip cleanly."""

from __future__ import annotations

from pathlib import Path

import pytest

_CHECKOUT = Path(__file__).resolve().parents[1]
#: Beside the checkout, or beside the folder that holds its worktrees.
_PLACES = [folder / "shared" / "samples" for folder in _CHECKOUT.parents[:2]]
SAMPLES = next((place for place in _PLACES if place.is_dir()), _PLACES[0])

needs_samples = pytest.mark.skipif(not SAMPLES.is_dir(), reason="no ../shared/samples beside this checkout")


def sample_files() -> list[Path]:
    """Every log among the samples."""
    folders = [SAMPLES / name for name in ("claude", "codex", "gemini", "synthetic", "series")]
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sorted(path for path in found if path.name.endswith((".jsonl", ".json", ".jsonl.zst")))


def provider_of(path: Path) -> str:
    """The samples are sorted by provider: by folder, or by the first word of the name."""
    name = str(path.relative_to(SAMPLES)).replace("synthetic/", "").replace("series/", "")
    return name.replace("-", "/").split("/")[0]
