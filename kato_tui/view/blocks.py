"""Texts that are laid out for the width they get: words with what stands before each of their rows. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len, chop_cells

from kato_tui.view.cells import Line, Piece, crop, width

_PARTS: Final = re.compile(r"\s+|\S+")
_LEAST: Final = 8
_BETWEEN: Final = Piece("  ")


@dataclass(frozen=True, slots=True)
class Block:
    """Words that are laid out together."""

    words: Line
    #: What stands before its first row, and before the others: bullets, indents, bars of quotes.
    lead: Line = ()
    hang: Line = ()
    #: Code: broken anywhere, with every blank kept.
    code: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Cells in rows, the names of the columns first."""

    rows: tuple[tuple[Line, ...], ...]
    lead: Line = ()


Item = Block | Table


def lay_out(items: Iterable[Item], size: int) -> list[Line]:
    """The lines of it in `size` cells."""
    lines: list[Line] = []
    for one in items:
        lines += _table(one, size) if isinstance(one, Table) else _rows(one, size)
    return lines


def _rows(block: Block, size: int) -> Iterator[Line]:
    # However deep lists are nested, there is room for words.
    room = max(_LEAST, size - max(width(block.lead), width(block.hang)))
    rows = _chop(block.words, room) if block.code else _wrap(block.words, room)
    for number, row in enumerate(rows):
        yield (*crop(block.hang if number else block.lead, size - room), *row)


def _chop(words: Line, size: int) -> list[Line]:
    rows: list[list[Piece]] = [[]]
    used = 0
    for text, tone in words:
        for part in _cut_up(text, size - used, size):
            length = cell_len(part)
            if used + length > size:
                rows.append([])
                used = 0
            rows[-1].append(Piece(part, tone))
            used += length
    return [tuple(row) for row in rows]


def _cut_up(text: str, first: int, size: int) -> list[str]:
    """The text in parts of at most `size` cells, the first of which fits in `first` where it can."""
    if cell_len(text) <= first:
        return [text]
    head = chop_cells(text, first)[0] if first > 1 else ""
    return [one for one in (head, *chop_cells(text[len(head) :], size)) if one]


def _wrap(words: Line, size: int) -> list[Line]:
    """Words over as many rows as they need; what stands together without a blank stays together."""
    rows: list[list[Piece]] = [[]]
    used = 0
    for group in _groups(words):
        length = sum(cell_len(one.text) for one in group)
        if used and used + length > size:
            rows.append([])
            used = 0
        if group[0].text.isspace() and not used:
            continue
        for number, part in enumerate(_chop(tuple(group), size)):
            if number:
                rows.append([])
                used = 0
            rows[-1] += part
            used += width(part)
    return [tuple(row) for row in rows]


def _groups(words: Line) -> Iterator[list[Piece]]:
    """Words and the blanks between them; a word may have several tones."""
    group: list[Piece] = []
    for text, tone in words:
        for part in _PARTS.findall(text):
            if group and (part.isspace() or group[-1].text.isspace()):
                yield group
                group = []
            group.append(Piece(part, tone))
    if group:
        yield group


def _table(table: Table, size: int) -> list[Line]:
    """Columns as wide as they need, less where the screen is too narrow: then their cells have several rows."""
    count = max(len(row) for row in table.rows)
    widths = [max((width(row[at]) for row in table.rows if at < len(row)), default=1) for at in range(count)]
    room = size - width(table.lead) - width((_BETWEEN,)) * (count - 1)
    fair = max(_LEAST, room // count)
    spare = room - sum(min(one, fair) for one in widths)
    shown = []
    for one in widths:
        extra = max(0, min(one - fair, spare))
        spare -= extra
        shown.append(max(1, min(one, fair) + extra))
    lines: list[Line] = []
    for number, row in enumerate(table.rows):
        lines += (crop((*table.lead, *line), size) for line in _cells(row, shown))
        if number == 0:
            lines.append(crop((*table.lead, Piece("─" * (sum(shown) + 2 * (count - 1)), "muted")), size))
    return lines


def _cells(row: Sequence[Line], widths: Sequence[int]) -> Iterator[Line]:
    wrapped = [_wrap(cell, size) for cell, size in zip(row, widths, strict=False)]
    for number in range(max((len(one) for one in wrapped), default=0)):
        line: list[Piece] = []
        for rows, size in zip(wrapped, widths, strict=False):
            part = rows[number] if number < len(rows) else ()
            line += (*part, Piece(" " * (size - width(part))), _BETWEEN)
        yield tuple(line[:-1])
