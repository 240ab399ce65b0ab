"""The door to a twin: lets each event through once, whatever crash or rewrite came before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kato_tui.core.ingest.dedupe import Identities, Replay, Returning, same_event
from kato_tui.core.model.events import USER_COMMAND
from kato_tui.core.providers.base import Draft, Provider
from kato_tui.core.store.twin import Twin

#: A draft with its place in the twin.
Placed = tuple[int, Draft]


class OutOfStep(Exception):
    """The source no longer gives the events that the twin took from it: it was rewritten during a crash."""


class TwinSink:
    """Writes new drafts to a twin and passes over the ones it has.

    Nearly always every draft is new: cursors see to that. The exceptions:

    - `recovered`: that many events at the twin's end are not in the metadata yet (a crash came between the two). The
      source gives them once more, in the same order, and they are matched one by one.
    - `replaying`: a rewritten source is read from its start, and everything is compared with everything.
    - `returning`: the source was cut, as a file is for a moment that is rewritten in place. Its records may come back;
      the first event that the twin does not have shows that it goes another way.
    - drafts that ask for it (`check`), since their provider writes some records more than once.
    """

    def __init__(
        self,
        twin: Twin,
        provider: Provider,
        *,
        recovered: int = 0,
        replaying: bool = False,
        returning: bool = False,
    ) -> None:
        self.twin = twin
        self.duplicates = 0
        #: Whether the source gave something that the twin did not have.
        self.news = False
        self._returning = returning and not replaying
        self._returned: Returning | None = None
        self._provider = provider
        self._known: Identities | None = None
        self._replay: Replay | None = None
        self._pending: Iterator[dict[str, Any]] | None = None
        self._next: dict[str, Any] | None = None
        self._commands: list[Placed] = []
        if replaying:
            self._known = Identities.of_events(provider, twin.read())
            self._replay = self._known.replay()
        elif recovered:
            self._pending = twin.read(twin.next_seq - recovered)
            self._next = next(self._pending, None)

    @property
    def unmatched(self) -> bool:
        """Whether the twin holds recovered events that the source has not given again."""
        return self._next is not None

    def take(self, records: list[list[Draft]], captured_at: str | None) -> list[Placed]:
        """Stage what is new of `records` (the drafts of each): the twin's `flush` writes it.

        Gives the commands among what the metadata does not know yet, each with its seq.
        """
        fresh: list[Draft] = []
        self._commands = []
        # Nearly always: nothing of what is read can be in the twin, but for drafts that ask to be compared.
        unread = self._known is None and self._next is None and not self._returning
        for drafts in records:
            if self._known is not None:
                self._known.begin()
            for draft in drafts:
                if unread and not draft.check:
                    fresh.append(draft)
                    continue
                # Once one was compared, all that follow are noted for the next comparison.
                unread = False
                if self._take(draft, fresh):
                    fresh.append(draft)
                    self.news = True
                else:
                    self.duplicates += 1
        self.news = self.news or bool(fresh)
        first = self.twin.stage(fresh, captured_at)
        placed = enumerate(fresh, start=first)
        return self._commands + [(seq, draft) for seq, draft in placed if draft.kind == USER_COMMAND]

    def _take(self, draft: Draft, fresh: list[Draft]) -> bool:
        if self._next is not None and same_event(draft, self._next):
            if draft.kind == USER_COMMAND:
                self._commands.append((self._next["seq"], draft))
            self._step_pending()
            return False
        if self._replay is not None:
            return self._take_in_replay(draft, self._replay)
        if self._returning and not self.news and self._came_back(draft):
            return False
        if self._known is None and not draft.check:
            if self._next is not None:
                raise OutOfStep
            return True
        known = self._identities(fresh)
        key = known.key(draft)
        if draft.check and known.holds(key):
            return False
        if self._next is not None:
            raise OutOfStep
        known.add(key)
        return True

    def _came_back(self, draft: Draft) -> bool:
        if self._returned is None:
            self._returned = Returning(self._provider, self._stored())
            self._known = self._returned.known
        return self._returned.holds(draft, self._returned.known.key(draft))

    def _take_in_replay(self, draft: Draft, replay: Replay) -> bool:
        known = self._identities([])
        key = known.key(draft)
        if replay.holds(draft, key):
            return False
        known.add(key)
        return True

    def _identities(self, fresh: list[Draft]) -> Identities:
        """Made at the first draft that may be a repetition: most sessions never need them."""
        if self._known is None:
            self._known = Identities.of_events(self._provider, self._stored())
            for draft in fresh:
                self._known.add(self._known.key(draft))
            self._known.begin()
        return self._known

    def _stored(self) -> Iterator[dict[str, Any]]:
        """All that the twin holds, what was staged included."""
        self.twin.flush()
        return self.twin.read()

    def _step_pending(self) -> None:
        assert self._pending is not None
        self._next = next(self._pending, None)
