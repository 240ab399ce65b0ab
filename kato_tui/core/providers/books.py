"""The books of a translator: for every record exactly one verdict, and what was told of it until then.

A handler that met an unexpected shape half-way is undone: its drafts, its verdict and what it counted. The sums of the
tally are what `translate --stats` prints, and they add up: nothing that was read vanishes unseen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kato_tui.core.model.facts import Facts

if TYPE_CHECKING:
    from kato_tui.core.providers.base import Draft, Record

#: What damaged or hostile records raise inside a handler that expected another shape.
SHAPE_ERRORS: Final = (TypeError, KeyError, AttributeError, ValueError, IndexError, RecursionError)


@dataclass(slots=True)
class TallyRow:
    """What became of the records of one type. `read` is always the sum of the other counts."""

    read: int = 0
    translated: int = 0
    dropped: int = 0
    repeated: int = 0
    raw: int = 0
    invalid: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)


Tally = dict[str, TallyRow]


class Books:
    """What a translator has told of the record at hand, from `_open` to `_close`."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.tally: Tally | None = None
        #: Decides which drafts are new, for callers that have no twin to compare with but want exact counts.
        self.sieve: Callable[[Draft], bool] | None = None
        self._drafts: list[Draft] = []
        self._cursor = 0
        self._emit_index = 0
        self._type = ""
        self._verdict: str | None = None
        self._reason = ""
        #: What there was before the handler at hand began: drafts, index, verdict, counts of messages and calls.
        self._before: tuple[int, int, str | None, int, int, int] = (0, 0, None, 0, 0, 0)

    def drop(self, reason: str) -> None:
        """Leave the record out; `reason` is its denylist entry."""
        if self._verdict is None:
            self._verdict, self._reason = "dropped", reason

    def repeat(self, reason: str = "already translated") -> None:
        """The record only says again what an earlier one said."""
        if self._verdict is None:
            self._verdict, self._reason = "repeated", reason

    def _open(self, cursor: int) -> None:
        """Begin with the record at `cursor`."""
        self._drafts = []
        self._cursor = cursor
        self._emit_index = 0
        self._verdict = None
        self._reason = ""

    def _mark(self) -> None:
        """Whatever is told and counted from here on can be taken back."""
        facts = self.facts
        self._before = (
            len(self._drafts),
            self._emit_index,
            self._verdict,
            facts.user_messages,
            facts.assistant_messages,
            facts.tool_calls,
        )

    def _take_back(self) -> None:
        """As if the handler had never begun."""
        facts = self.facts
        drafts, self._emit_index, self._verdict, *counts = self._before
        del self._drafts[drafts:]
        facts.user_messages, facts.assistant_messages, facts.tool_calls = counts

    def _tried(self, part: Record, handler: Callable[[Record], None]) -> bool:
        """Whether `handler` could read a part of the record. If not, all that it told and counted is taken back."""
        whole = self._before
        self._mark()
        try:
            handler(part)
        except SHAPE_ERRORS:
            self._take_back()
            return False
        finally:
            self._before = whole
        return True

    def _close(self) -> list[Draft]:
        """What the record came to."""
        if self.tally is not None or self.sieve is not None:
            self._book()
        drafts, self._drafts = self._drafts, []
        return drafts

    def _book(self) -> None:
        """Count the record under its verdict; one whose events the sieve all knows already was a repetition."""
        first = len(self._drafts) - self._emit_index
        if self.sieve is not None and self._emit_index:
            fresh = [draft for draft in self._drafts[first:] if self.sieve(draft)]
            if not fresh and self._verdict == "translated":
                self._verdict, self._reason = "repeated", "already translated"
            self._drafts[first:] = fresh
        if self.tally is None:
            return
        row = self.tally.get(self._type)
        if row is None:
            row = self.tally[self._type] = TallyRow()
        verdict = self._verdict or "raw"
        row.read += 1
        setattr(row, verdict, getattr(row, verdict) + 1)
        if verdict in ("dropped", "repeated"):
            row.reasons[self._reason] += 1
        for draft in self._drafts[first:]:
            row.kinds[draft.kind] += 1
