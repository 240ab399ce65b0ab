"""Pasted text inside a prompt: since 2.1.27x it stands between lines that name it to the model."""

from __future__ import annotations

import re
from typing import Final

from kato_tui.core.record import commands

_NAME: Final = "<pasted_content"
_OPENING: Final = re.compile(r'<pasted_content id="([\w-]{1,64})">\n')
_APART: Final = "\n\n"


def unwrap(text: str) -> tuple[str, list[tuple[int, int]]]:
    """`text` without those lines, and where in it stands what was pasted.

    What somebody pastes may hold any text, so its lines are no commands; unless it holds nothing else: then a command
    was copied from somewhere to be run.
    """
    if _NAME not in text:
        return text, []
    out = ""
    quoted: list[tuple[int, int]] = []
    for piece, pasted in _pieces(text):
        if not piece.strip():
            continue
        out += f"{_APART}{piece}" if out else piece
        if pasted and not _only_commands(piece):
            quoted.append((len(out) - len(piece), len(out)))
    return out, quoted


def _pieces(text: str) -> list[tuple[str, bool]]:
    """The text in order, each piece with whether it was pasted. Empty lines around the marks belong to nobody."""
    pieces: list[tuple[str, bool]] = []
    at = 0
    while opening := _OPENING.search(text, at):
        closing = re.compile(rf'\n</pasted_content(?: id="{opening[1]}")?>').search(text, opening.end() - 1)
        if closing is None:
            # Somebody writes about the mark.
            break
        typed = text[at : opening.start()]
        pieces.append((typed.strip("\n") if at else typed.rstrip("\n").removeprefix(_APART), False))
        pieces.append((text[opening.end() : closing.start()], True))
        at = closing.end()
    pieces.append((text[at:].strip("\n") if at else text, False))
    return pieces


def _only_commands(pasted: str) -> bool:
    return all(commands.parse_line(line) is not None for line in pasted.split("\n") if line.strip())
