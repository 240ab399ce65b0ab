"""The lines at the edges of the screen: what the engine is at, the tabs, and the keys. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from kato_tui.view.cells import Line, Piece, Tone, crop, piece, spread, width
from kato_tui.view.words import Json, amount, counted

Phase = Literal["starting", "running", "attached", "gone"]

_PHASES: Final[dict[str, tuple[str, Tone]]] = {
    "starting": ("◌ starting", "warn"),
    "running": ("● watching", "good"),
    "attached": ("● attached", "good"),
    "gone": ("✗ no engine", "bad"),
}
_BAR: Final = 10
_GAP: Final = Piece(" · ", "muted")


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything the status bar may say."""

    phase: Phase
    title: str
    engine: Json
    sessions: int
    recordings: int
    behind: int
    rate: float
    progress: Json
    cpu: float | None = None
    rss: int | None = None
    asking: int = 0


def status(facts: Facts, size: int) -> Line:
    """One line. What does not fit is left out from its middle: the engine and its load stay."""
    left = [_brand(facts), _phase(facts), _roots(facts), _counts(facts), _asking(facts)]
    right = [_progress(facts), _behind(facts), _rate(facts), _latency(facts), _load(facts)]
    while True:
        line_left, line_right = _join(left, lead=True), _join(right)
        if width(line_left) + width(line_right) + 2 <= size or not (right or len(left) > 2):
            return spread(line_left, (*line_right, Piece(" ")), size)
        if len(right) > 1:
            right.pop()
        elif len(left) > 2:
            left.pop(2)
        else:
            right = []


def _join(parts: Sequence[Line], *, lead: bool = False) -> Line:
    line: list[Piece] = []
    for part in (one for one in parts if one):
        if line:
            line.append(Piece("  ") if lead and len(line) == 1 else _GAP)
        line += part
    return tuple(line)


def _brand(facts: Facts) -> Line:
    return (piece(f" {facts.title} ", "brand", 40),)


def _phase(facts: Facts) -> Line:
    words, tone = _PHASES[facts.phase]
    if facts.phase == "attached" and facts.engine.get("pid"):
        words += f" to {facts.engine['pid']}"
    elif facts.phase == "running" and facts.engine.get("watching") == "polling":
        words += " (polling)"
    return (Piece(words, tone),)


def _roots(facts: Facts) -> Line:
    roots = facts.engine.get("roots") or ()
    there = sum(1 for one in roots if one.get("exists"))
    if not roots:
        return ()
    return (Piece(counted(there, "root"), "text" if there else "warn"),)


def _counts(facts: Facts) -> Line:
    if facts.phase == "starting" and not facts.sessions:
        return ()
    line: list[Piece] = [Piece(counted(facts.sessions, "session"))]
    if facts.recordings:
        line += [_GAP, Piece(f"● {facts.recordings} recording", "accent")]
    return tuple(line)


def _asking(facts: Facts) -> Line:
    if not facts.asking:
        return ()
    return (Piece(f"◆ {facts.asking} ask{'s' if facts.asking == 1 else ''} you", "warn"),)


def _progress(facts: Facts) -> Line:
    done, total = int(facts.progress.get("done", 0)), int(facts.progress.get("total", 0))
    if done >= total or total - done < 2:
        return ()
    filled = round(_BAR * done / total)
    return (
        Piece("━" * filled, "accent"),
        Piece("━" * (_BAR - filled), "muted"),
        Piece(f" {done}/{total} {amount(facts.progress.get('bytes', 0))}B"),
    )


def _behind(facts: Facts) -> Line:
    return (Piece(f"{amount(facts.behind)}B behind", "warn"),) if facts.behind else (Piece("up to date", "muted"),)


def _rate(facts: Facts) -> Line:
    return (Piece(f"{amount(facts.rate)} ev/s", "text" if facts.rate >= 1 else "muted"),)


def _latency(facts: Facts) -> Line:
    found = facts.engine.get("latencyMs")
    if found is None:
        return ()
    slow = float(found) > 1000
    words = f"{found / 1000:.1f} s" if slow else f"{found:.0f} ms"
    return (Piece(words, "warn" if slow else "muted"),)


def _load(facts: Facts) -> Line:
    if facts.cpu is None or facts.rss is None:
        return ()
    return (Piece(f"{facts.cpu:.0f}% cpu", "muted"), _GAP, Piece(f"{facts.rss / 1e6:.0f} MB", "muted"))


def tabs(names: Sequence[tuple[str, str]], current: str, size: int) -> tuple[Line, list[tuple[int, int, str]]]:
    """The tab line, and where each tab is, for the mouse."""
    line: list[Piece] = []
    places: list[tuple[int, int, str]] = []
    at = 0
    for number, (name, words) in enumerate(names, start=1):
        chosen = name == current
        part: Line = (Piece(f" {number} ", "key"), piece(f"{words} ", "strong" if chosen else "muted", 40))
        part = (Piece("▌", "accent"), *part) if chosen else (Piece(" "), *part)
        places.append((at, at + width(part), name))
        at += width(part)
        line += part
    return crop(line, size), places


def keys(hints: Sequence[tuple[str, str, str]], size: int) -> tuple[Line, list[tuple[int, int, str]]]:
    """The footer of `(key, words, action id)`, and where each is. What has no room is left out: `?` shows all."""
    line: list[Piece] = [Piece(" ")]
    places: list[tuple[int, int, str]] = []
    at = 1
    for key, words, action in hints:
        part: Line = (Piece(key, "key"), Piece(f" {words}", "muted"), Piece("  "))
        length = width(part)
        if at + length - 2 > size:
            continue
        if action:
            places.append((at, at + length - 2, action))
        line += part
        at += length
    return crop(line[:-1], size), places
