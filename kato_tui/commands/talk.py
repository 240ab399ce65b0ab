"""How commands speak: output to stdout, talk to stderr, and what an outcome ends with (spec §12)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final

from kato_tui.core.errors import KatoError
from kato_tui.exit_codes import DONE, FAILED, NOT_FOUND, USAGE
from kato_tui.view.safe import safe

#: Outcomes that mean "I do not know whom you mean", and the one that means "you did not say".
_CODES: Final = {"not-found": NOT_FOUND, "ambiguous": NOT_FOUND, "too-short": NOT_FOUND, "no-session": USAGE}


class UsageError(KatoError):
    """The arguments contradict one another, or are not enough."""


def say(text: str) -> None:
    """Talk to the user: errors may quote paths and ids, which logs choose."""
    sys.stderr.write("".join(f"kato-tui: {safe(line)}\n" for line in text.splitlines()))


def put(line: str) -> None:
    """One line of output. Callers clean what came from a log before they lay it out."""
    sys.stdout.write(line + "\n")


def put_json(value: Any, *, indent: bool = True) -> None:
    """Machine-readable output; what a terminal would act on is escaped, so that `--json` is safe to look at."""
    import json

    text = json.dumps(value, ensure_ascii=True, indent=2 if indent else None)
    # JSON escapes everything outside ASCII here, and C0 anyway; DEL is the one active character left.
    sys.stdout.write(text.replace("\x7f", "\\u007f") + "\n")


def exit_code(outcome: Mapping[str, Any]) -> int:
    """The exit code of an outcome and everything told along with it."""
    for one in (outcome, *outcome.get("also", ())):
        if one["severity"] == "error":
            return _CODES.get(one["code"], FAILED)
    return DONE
