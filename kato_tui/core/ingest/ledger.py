"""Which commands of a pass are new: each runs once ever, also when its log is rewritten or read again (spec §8)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Final

from kato_tui.core.model.events import USER_COMMAND
from kato_tui.core.providers.base import Draft

#: Different command lines remembered per session; a log with more of them is no conversation.
_MAX_LINES: Final = 1000


class Ledger:
    """The commands that were met so far: how often each line was.

    Lines are counted because a rewritten log has no better names for them. A pass that reads on from a cursor meets
    only new commands. A pass from the start meets the old ones again: the third `::stop` of a rewritten log is the
    third one that was met before, the fourth is new. Where records have ids that last (`by_id`), lines are counted for
    each record, so that what was taken back and typed again is another command.

    `history`: a first pass over a session that was there before. Its commands are noted, and none is run unless it was
    typed after `since`.
    """

    def __init__(
        self, counts: dict[str, int], *, from_start: bool, by_id: bool, history: bool, since: str | None
    ) -> None:
        self._counts = Counter(counts)
        self._known = Counter(counts) if from_start else Counter[str]()
        self._met: Counter[str] = Counter()
        self._by_id = by_id
        self._history = history
        self._since = since

    def new(self, drafts: Iterable[Draft]) -> list[Draft]:
        """Those of `drafts` that are commands to be run now. Every draft of a pass has to come by here, in order."""
        return [draft for draft in drafts if draft.kind == USER_COMMAND and self._is_new(draft)]

    def left_over(self, drafts: Iterable[Draft]) -> list[Draft]:
        """Those of `drafts`, commands that a crash left in the twin before anybody ran them, that are to be run now.

        They count as met: if their log still has them and gives them again in this pass, they are not new.
        """
        found: list[Draft] = []
        for draft in drafts:
            line = self._line(draft)
            self._known[line] += 1
            if self._count(line) and self._may_run(draft):
                found.append(draft)
        return found

    def counts(self) -> dict[str, int]:
        return dict(self._counts)

    def _line(self, draft: Draft) -> str:
        record = f"{draft.event_id}\n" if self._by_id and draft.event_id is not None else ""
        text = f"{record}{draft.payload['line']}".encode("utf-8", "replace")
        return hashlib.blake2b(text, digest_size=8).hexdigest()

    def _is_new(self, draft: Draft) -> bool:
        line = self._line(draft)
        self._met[line] += 1
        if self._met[line] <= self._known[line]:
            return False
        return self._count(line) and self._may_run(draft)

    def _count(self, line: str) -> bool:
        """Note that the line was met once more. False for a past with no room left for its lines: they would look new
        the next time, so none of them is run."""
        if line in self._counts or len(self._counts) < _MAX_LINES:
            self._counts[line] += 1
            return True
        return not self._history

    def _may_run(self, draft: Draft) -> bool:
        return not draft.copied and (not self._history or self._typed_since(draft))

    def _typed_since(self, draft: Draft) -> bool:
        return self._since is not None and draft.timestamp is not None and draft.timestamp >= self._since
