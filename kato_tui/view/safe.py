"""The border between data and terminal: no control character of a log passes it."""

from __future__ import annotations

import re
from typing import Final

#: C0, DEL, C1, line separators, bidirectional controls, tag characters, lone surrogates. Joiners stay: scripts
#: and emoji need them.
_ACTIVE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
_PICTURES: Final = 0x2400


def safe(text: str, limit: int = 2000) -> str:
    """`text` on one line with control characters made visible; cut before it is looked at."""
    cut = text[:limit]
    shown = _ACTIVE.sub(_visible, cut)
    return shown if len(text) <= limit else shown + "…"


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(_PICTURES + code)
    return "\u2421" if code == 0x7F else "\ufffd"
