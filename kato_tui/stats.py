"""The table of `kato-tui translate --stats`: what became of every record, so that nothing vanishes unseen."""

from __future__ import annotations

from typing import Any, Final

from kato_tui.core.providers.books import Tally, TallyRow
from kato_tui.view.safe import safe

_COUNTS: Final = ("read", "translated", "dropped", "repeated", "raw", "invalid")


def merge(into: Tally, tally: Tally) -> None:
    """Add the counts of one file to those of the others."""
    for record_type, row in tally.items():
        total = into.setdefault(record_type, TallyRow())
        for name in _COUNTS:
            setattr(total, name, getattr(total, name) + getattr(row, name))
        total.kinds.update(row.kinds)
        total.reasons.update(row.reasons)


def as_json(tally: Tally) -> dict[str, Any]:
    return {
        record_type: {
            **{name: getattr(row, name) for name in _COUNTS},
            "kinds": dict(row.kinds),
            "reasons": dict(row.reasons),
        }
        for record_type, row in sorted(tally.items())
    }


def table(provider: str, tally: Tally) -> str:
    """One row a record type; `read` is the sum of the five columns after it."""
    rows = [[f"{provider} record type", *_COUNTS, "became"]]
    total = TallyRow()
    for record_type, row in sorted(tally.items()):
        merge({"": total}, {"": row})
        rows.append([safe(record_type, 60), *_numbers(row), _became(row)])
    rows.append(["total", *_numbers(total), _became(total, reasons=False)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    return "\n".join(_line(row, widths) for row in rows) + "\n"


def _numbers(row: TallyRow) -> list[str]:
    return [str(getattr(row, name)) for name in _COUNTS]


def _became(row: TallyRow, *, reasons: bool = True) -> str:
    kinds = [f"{kind} {count}" for kind, count in row.kinds.most_common()]
    why = [f"({count}x {safe(reason, 80)})" for reason, count in row.reasons.most_common(3)] if reasons else []
    return ", ".join(kinds + why)


def _line(row: list[str], widths: list[int]) -> str:
    cells = [row[0].ljust(widths[0])]
    cells += [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:], strict=True)]
    return "  ".join([*cells, row[-1]]).rstrip()
