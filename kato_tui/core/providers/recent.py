"""A bounded memory of ids that still proves most new records new.

The log writers append roughly in the order of time. When the memory forgets an id it notes how late that id was met:
a record with an unknown id and a later time cannot be a forgotten one. Only where neither memory nor time decides has
the twin to be asked, which costs a reading of all of it.
"""

from __future__ import annotations

from typing import Any, Final

#: Before every time, so that a forgotten id without one only spoils the proof for others without one.
_NO_TIME: Final = "0"


class Recent:
    """The newest ids (hashed short by their provider), each with a few short words that are remembered about it."""

    def __init__(self, limit: int, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self._limit = limit
        #: id -> [time, *words]
        self._entries: dict[str, list[str]] = {}
        for entry in state.get("entries", []):
            ident, *rest = entry.split(" ")
            self._entries[ident] = rest
        #: The latest time of an id that was forgotten, "" while none was.
        self._until: str = state.get("until", "")

    def save(self) -> dict[str, Any]:
        """One string an entry: metadata is written indented, and a list would take a line for each word."""
        return {"entries": [" ".join((ident, *rest)) for ident, rest in self._entries.items()], "until": self._until}

    def __contains__(self, ident: str) -> bool:
        return ident in self._entries

    @property
    def forgot(self) -> bool:
        return self._until != ""

    def idents(self) -> list[str]:
        """Oldest first, by when they were last met."""
        return list(self._entries)

    def get(self, ident: str) -> list[str] | None:
        """The words remembered about an id."""
        found = self._entries.get(ident)
        return found[1:] if found is not None else None

    def put(self, ident: str, time: str | None, *words: str) -> None:
        """Remember an id as the newest, with the latest time it was met at."""
        entries = self._entries
        before = entries.pop(ident, None)
        newest = time or _NO_TIME
        if before is not None and before[0] > newest:
            newest = before[0]
        entries[ident] = [newest, *words]
        if len(entries) > self._limit:
            self.forget(entries.pop(next(iter(entries)))[0])

    def meet(self, ident: str, time: str) -> bool:
        """Whether an id is certainly new; it is remembered."""
        entries = self._entries
        if ident in entries:
            self.put(ident, time)
            return False
        new = time > self._until
        entries[ident] = [time]
        if len(entries) > self._limit:
            self.forget(entries.pop(next(iter(entries)))[0])
        return new

    def replace(self, ident: str, *words: str) -> None:
        """Other words about a known id, which keeps its place."""
        self._entries[ident] = [self._entries[ident][0], *words]

    def copy(self) -> Recent:
        made = Recent(self._limit)
        made._entries, made._until = dict(self._entries), self._until
        return made

    def forget(self, time: str | None) -> None:
        """Ids up to `time` may have been met without being remembered."""
        self._until = max(self._until, time or _NO_TIME)

    def predates(self, time: str | None) -> bool:
        """Whether `time` is before that of an id that was forgotten."""
        return time is not None and time < self._until

    def proves_new(self, ident: str, time: str | None) -> bool:
        """Whether an id cannot have been met before. Times of one writer have one form and compare as text."""
        return ident not in self._entries and (not self._until or (time is not None and time > self._until))
