"""Lines of a screen as plain values: pieces of clean text, each with a tone. Widths are terminal cells, never `len`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rich.cells import cell_len, set_cell_size

from kato_tui.view.safe import safe

#: What a piece of text is, from which the theme decides how it looks.
Tone = Literal[
    "text",
    "muted",
    "strong",
    "accent",
    "good",
    "warn",
    "bad",
    "claude",
    "codex",
    "gemini",
    "user",
    "assistant",
    "tool",
    "thinking",
    "key",
    "brand",
    "match",
    "emphasis",
    "code",
]
#: How the line stands out that a piece is on: not at all, under the cursor, under it in a list without the focus.
Row = Literal["", "cursor", "blurred"]


class Piece(NamedTuple):
    text: str
    tone: Tone = "text"


Line = tuple[Piece, ...]


def piece(text: object, tone: Tone = "text", limit: int = 2000) -> Piece:
    """Text that may come from a log, made harmless."""
    return Piece(safe(str(text), limit), tone)


def width(line: Iterable[Piece]) -> int:
    return sum(cell_len(one.text) for one in line)


def plain(line: Iterable[Piece]) -> str:
    return "".join(one.text for one in line)


def cut(text: str, size: int) -> str:
    """`text` in at most `size` cells, with an ellipsis where something is missing."""
    if size <= 0:
        return ""
    # A cell count of a long text costs more than the text that can be shown.
    text = text[: size * 4]
    if cell_len(text) <= size:
        return text
    return set_cell_size(text, size - 1).rstrip() + "…"


def pad(text: str, size: int, *, right: bool = False) -> str:
    """`text` in exactly `size` cells."""
    short = cut(text, size)
    blank = " " * (size - cell_len(short))
    return blank + short if right else short + blank


def crop(line: Iterable[Piece], size: int) -> Line:
    """The line in at most `size` cells."""
    kept: list[Piece] = []
    left = size
    for one in line:
        length = cell_len(one.text)
        if length > left:
            if left > 0:
                kept.append(Piece(cut(one.text, left), one.tone))
            break
        kept.append(one)
        left -= length
    return tuple(kept)


def spread(left: Line, right: Line, size: int) -> Line:
    """One line with `right` at its far end; `left` gives way when there is no room for both."""
    room = size - width(right)
    if room < 1:
        return crop(right, size)
    shown = crop(left, room)
    return (*shown, Piece(" " * (room - width(shown))), *right)


def wrap(text: str, size: int, lines: int) -> list[str]:
    """Words over at most `lines` lines of `size` cells; the last is cut."""
    if size < 4:
        return [cut(text, size)]
    found: list[str] = []
    rest = text[: size * lines * 4].strip()
    while rest and len(found) < lines:
        if len(found) == lines - 1 or cell_len(rest) <= size:
            found.append(cut(rest, size))
            break
        head = set_cell_size(rest, size)
        # A wide character that does not fit is replaced by a blank.
        head = head if rest.startswith(head) else head[:-1]
        end = len(head)
        space = head.rfind(" ")
        if not rest[end : end + 1].isspace() and space > size // 3:
            head = head[:space]
        found.append(head.rstrip())
        rest = rest[len(head) :].lstrip()
    return found or [""]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table. `flex` columns share what the fixed ones leave; it is shown from `least` cells on."""

    name: str
    size: int
    flex: int = 0
    right: bool = False
    #: The pane must be this wide for the column to be worth its room.
    least: int = 0


def layout(columns: Sequence[Column], size: int) -> list[tuple[Column, int]]:
    """The columns that fit in `size` cells, with their widths. Pure arithmetic, the same for header and rows."""
    shown = [one for one in columns if size >= one.least]
    spare = max(0, size - sum(one.size for one in shown) - (len(shown) - 1))
    shares = sum(one.flex for one in shown)
    widths: list[tuple[Column, int]] = []
    for one in shown:
        # Of what is left, so that the last one gets the rest.
        extra = spare * one.flex // shares if one.flex else 0
        spare, shares = spare - extra, shares - one.flex
        widths.append((one, one.size + extra))
    return widths


def table_line(cells: dict[str, Line], columns: Sequence[tuple[Column, int]]) -> Line:
    """One row of a table: every cell cut and padded to its column."""
    made: list[Piece] = []
    for number, (column, size) in enumerate(columns):
        if number:
            made.append(Piece(" "))
        shown = crop(cells.get(column.name, ()), size)
        blank = Piece(" " * (size - width(shown)))
        made += [blank, *shown] if column.right else [*shown, blank]
    return tuple(made)


def header_line(columns: Sequence[tuple[Column, int]]) -> Line:
    return table_line({column.name: (Piece(column.name, "muted"),) for column, _ in columns}, columns)
