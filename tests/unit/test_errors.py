"""Errors of the system as people read them: the file, what happened, and no numbers."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from kato_tui.core.errors import KatoError, about_log, in_words

_LOG = Path("/logs/a.jsonl")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "/x/y"), "/x/y: permission denied"),
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full. Make room"),
        (OSError(errno.EIO, "Input/output error", "/x"), "/x: Input/output error"),
        (OSError("no number"), "no number"),
        (KatoError("as it is"), "as it is"),
    ],
)
def test_errors_are_said_in_words(error: Exception, words: str) -> None:
    assert in_words(error) == words


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left"), "cannot keep what /logs/a.jsonl says: the disk is full. Make room"),
        (OSError(errno.EIO, "Input/output error"), "/logs/a.jsonl: Input/output error"),
        (PermissionError(errno.EACCES, "no", "/logs/a.jsonl"), "/logs/a.jsonl: permission denied"),
        (KatoError("as it is"), "as it is"),
    ],
)
def test_a_full_disk_is_not_blamed_on_the_log(error: Exception, words: str) -> None:
    assert about_log(_LOG, error) == words
