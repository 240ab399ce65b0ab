"""What a chat's translator remembers of the messages it met, so that a message told again is told once.

JSONL appends a message again in full whenever it changes, and `$set.messages` repeats the whole list, partly under
new ids and times. Bounded: the last few hundred messages as short hashes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from kato_tui.core.providers.gemini.content import digest

#: Compaction and syncs keep the newest messages; far older ones are left to the twin's own comparison.
MAX_MESSAGES: Final = 256
MAX_CALLS: Final = 256

#: own: under its own id. unsure: too old to be told from a copy, so without id and time. copy: an old message
#: under a new id, whose text is not told again.
How = Literal["own", "unsure", "copy"]


@dataclass(frozen=True, slots=True)
class Entry:
    #: Fingerprint of the text as it was sent, "" for a message without any.
    key: str
    how: How
    #: Whether its text is in the message counts already.
    counted: bool

    def told_as(self, key: str) -> How:
        """How the message is told when it comes again: a copy that has changed since is told in its own right."""
        return "own" if self.how == "copy" and self.key != key else self.how


class Seen:
    def __init__(self, state: dict[str, Any]) -> None:
        self._messages: dict[str, Entry] = {
            ident: Entry(key, how, counted) for ident, key, how, counted in state.get("messages", [])
        }
        self._calls: dict[str, None] = dict.fromkeys(state.get("calls", []))
        #: Once messages were forgotten, an unknown id no longer proves a new message.
        self.forgot: bool = state.get("forgot", False)

    def save(self) -> dict[str, Any]:
        return {
            "messages": [[ident, entry.key, entry.how, entry.counted] for ident, entry in self._messages.items()],
            "calls": list(self._calls),
            "forgot": self.forgot,
        }

    def get(self, message_id: str | None) -> Entry | None:
        return self._messages.get(digest(message_id)) if message_id is not None else None

    def remember(self, message_id: str | None, entry: Entry) -> None:
        if message_id is None:
            return
        ident = digest(message_id)
        self._messages.pop(ident, None)
        self._messages[ident] = entry
        if len(self._messages) > MAX_MESSAGES:
            del self._messages[next(iter(self._messages))]
            self.forgot = True

    def new_call(self, call_id: str) -> bool:
        """Whether this tool call is met for the first time (as far as is remembered)."""
        ident = digest(call_id)
        new = ident not in self._calls
        self._calls.pop(ident, None)
        self._calls[ident] = None
        if len(self._calls) > MAX_CALLS:
            del self._calls[next(iter(self._calls))]
        return new

    def rewind(self, message_id: str) -> None:
        """What was undone can be said again: its words no longer mark a later message as a copy."""
        idents = list(self._messages)
        ident = digest(message_id)
        for undone in idents[idents.index(ident) if ident in self._messages else 0 :]:
            self._messages[undone] = replace(self._messages[undone], key="")

    def listing(self, message_ids: list[str | None]) -> Listing:
        """Ready to judge the messages of a `$set.messages` list."""
        known = {ident: entry for ident in message_ids if ident and (entry := self.get(ident)) is not None}
        pool = Counter(entry.key for entry in self._messages.values() if entry.key and entry.how != "copy")
        pool.subtract(entry.key for entry in known.values() if entry.key)
        return Listing(known, pool, self.forgot)


@dataclass(slots=True)
class Listing:
    """One `$set.messages` list: which of its messages are known, copies, or new.

    A known id is the known message. An unknown id with the words of a known message is a copy of it; equal words are
    matched one to one. The rest is new, unless old messages were forgotten and nothing known stands before it in the
    list: then it may be one of them, and is told without id and time, for the twin to compare.
    """

    known: dict[str, Entry]
    pool: Counter[str]
    forgot: bool
    anchored: bool = False

    def entry(self, message_id: str | None) -> Entry | None:
        return self.known.get(message_id) if message_id else None

    def judge(self, message_id: str | None, key: str) -> How:
        entry = self.entry(message_id)
        if entry is not None:
            self.anchored = True
            return entry.told_as(key)
        if key and self.pool[key] > 0:
            self.pool[key] -= 1
            self.anchored = True
            return "copy"
        return "unsure" if self.forgot and not self.anchored else "own"
