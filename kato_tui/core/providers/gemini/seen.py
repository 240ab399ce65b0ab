"""What a chat's translator remembers of the messages it met, so that a message told again is told once.

JSONL appends a message again in full whenever it changes, and `$set.messages` repeats the whole list, partly under
new ids and times. Bounded: the last few hundred messages and calls as short hashes, each with what was told of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from kato_tui.core.providers.gemini.content import digest, fingerprint, moment_after, name_of
from kato_tui.core.providers.recent import Recent

#: Compaction and syncs keep the newest messages; far older ones are left to the twin's own comparison.
MAX_MESSAGES: Final = 256
MAX_CALLS: Final = 256
#: What a message or call tells beyond this many events is compared with the twin.
MAX_TOLD: Final = 8
#: Stands before the events of one that may have been met before, and forgotten.
_MET: Final = "?"
#: Before every time: a document without times proves nothing.
_NO_TIME: Final = "0"

#: own: under its own id. unsure: too old to be told from a copy, so without id and time. copy: an old message
#: under a new id, whose text is not told again.
How = Literal["own", "unsure", "copy"]
_HOWS: Final[dict[str, How]] = {"own": "own", "unsure": "unsure", "copy": "copy"}

#: Whether an event has to be told: no (it was), yes (it is new), or only the twin knows.
Verdict = Literal["told", "new", "ask"]


@dataclass(slots=True)
class Entry:
    #: Fingerprint of the text as it was sent, "" for a message without any.
    key: str
    how: How
    #: Whether its text is in the message counts already.
    counted: bool
    #: Hashes of the events it gave so far.
    told: tuple[str, ...] = ()

    def told_as(self, key: str) -> How:
        """How the message is told when it comes again: a copy that has changed since is told in its own right."""
        return "own" if self.how == "copy" and self.key != key else self.how

    def words(self) -> tuple[str, ...]:
        return (self.key, self.how, "1" if self.counted else "0", *self.told)

    @classmethod
    def of(cls, words: list[str]) -> Entry:
        key, how, counted, *told = words
        return cls(key, _HOWS[how], counted == "1", tuple(told))


class Ledger:
    """What one message or call has told, while it tells again."""

    def __init__(self, told: list[str] | tuple[str, ...] | None, *, new: bool) -> None:
        self.told = list(told) if told is not None else [] if new else [_MET]
        self._counts: dict[str, int] = {}

    def judge(self, kind: str, identity: bytes) -> Verdict:
        """Whether the event is to be told; it is noted as told. Equal parts of one message are counted."""
        mark = fingerprint(kind.encode() + b"\0" + identity)
        count = self._counts[mark] = self._counts.get(mark, 0) + 1
        if count > 1:
            mark = digest(mark, str(count))
        if mark in self.told:
            return "told"
        if len(self.told) >= MAX_TOLD:
            return "ask"
        self.told.append(mark)
        return "ask" if self.told[0] == _MET else "new"


class Seen:
    def __init__(self, state: dict[str, Any]) -> None:
        self._messages = Recent(MAX_MESSAGES, state.get("messages"))
        self._calls = Recent(MAX_CALLS, state.get("calls"))
        #: The latest time of any message.
        self._latest: str | None = state.get("latest")
        #: What is not later than this may be in the twin already, from the document that this file goes on with.
        self._before: str | None = state.get("before")
        #: While the CLI writes its history anew: until when, and the words that are expected to come again.
        self._reciting: str | None = state.get("reciting")
        self._expected: Counter[str] = Counter(state.get("expected", {}))
        #: The calls as they were before the record at hand told of one.
        self._calls_before: Recent | None = None

    def save(self) -> dict[str, Any]:
        return {
            "messages": self._messages.save(),
            "calls": self._calls.save(),
            "latest": self._latest,
            "before": self._before,
            "reciting": self._reciting,
            "expected": dict(self._expected),
        }

    def successor(self) -> Seen:
        """For the JSONL that goes on with a document and repeats it: all that is not later may be in the twin."""
        return Seen({"before": self._latest or _NO_TIME})

    def get(self, message_id: str | None) -> Entry | None:
        words = self._messages.get(name_of(message_id)) if message_id is not None else None
        return Entry.of(words) if words is not None else None

    def ledger(self, message_id: str, time: str | None) -> Ledger:
        """What was told of a message so far."""
        ident = name_of(message_id)
        words = self._messages.get(ident)
        if words is not None:
            return Ledger(Entry.of(words).told, new=False)
        return Ledger(None, new=self._proves_new(self._messages, ident, time))

    def _proves_new(self, recent: Recent, ident: str, time: str | None) -> bool:
        later = self._before is None or (time is not None and time > self._before)
        return later and recent.proves_new(ident, time)

    def was_forgotten(self, message_id: str | None, time: str | None) -> bool:
        """Whether this file must have told the message before, too long ago to be remembered: messages come in the
        order of time."""
        return message_id is not None and name_of(message_id) not in self._messages and self._messages.predates(time)

    def remember(self, message_id: str | None, time: str | None, entry: Entry) -> None:
        if time and (self._latest is None or time > self._latest):
            self._latest = time
        if message_id is None:
            return
        self._messages.put(name_of(message_id), time, *entry.words())

    def new_call(self, call_id: str) -> bool:
        """Whether this tool call is met for the first time (as far as is remembered)."""
        return name_of(call_id) not in self._calls

    def judge_call(self, call_id: str, time: str | None, kind: str, part: str, *, trusted: bool) -> Verdict:
        """Whether an event of a tool call is to be told. `time` is its message's, `trusted` where that proves news."""
        if self._calls_before is None:
            self._calls_before = self._calls.copy()
        ident = name_of(call_id)
        ledger = Ledger(self._calls.get(ident), new=self._proves_new(self._calls, ident, time if trusted else None))
        verdict = ledger.judge(kind, part.encode("utf-8", "replace"))
        self._calls.put(ident, time, *ledger.told)
        return verdict

    def begin(self) -> None:
        """A record begins that may turn out to be damaged."""
        self._calls_before = None

    def take_back(self) -> None:
        """The calls that the record told of were not told."""
        if self._calls_before is not None:
            self._calls = self._calls_before

    def rewind(self, message_id: str) -> None:
        """What was undone can be said again: its words no longer mark a later message as a copy."""
        idents = self._messages.idents()
        ident = name_of(message_id)
        for undone in idents[idents.index(ident) if ident in self._messages else 0 :]:
            entry = Entry.of(self._messages.get(undone) or [])
            self._messages.replace(undone, *replace(entry, key="").words())

    def listing(self, message_ids: list[str | None]) -> Listing:
        """Ready to judge the messages of a `$set.messages` list."""
        known = {ident: entry for ident in message_ids if ident and (entry := self.get(ident)) is not None}
        pool = self._words()
        pool.subtract(entry.key for entry in known.values() if entry.key)
        return Listing(known, pool, self._messages.forgot)

    def _words(self) -> Counter[str]:
        """The words of all messages, as often as they were said."""
        entries = [Entry.of(self._messages.get(ident) or []) for ident in self._messages.idents()]
        return Counter(entry.key for entry in entries if entry.key and entry.how != "copy")

    def begin_recital(self, time: str | None) -> None:
        """The CLI may begin to write its history anew: only where there is a history, and only for a moment."""
        if time and self._messages.idents():
            self._reciting, self._expected = moment_after(time), self._words()

    def end_recital(self) -> None:
        self._reciting, self._expected = None, Counter()

    def recited(self, time: str | None, key: str) -> How:
        """How a message under a new id is told. In a recital nobody types: what is not recognised is left to the
        twin, and no command in it runs."""
        if self._reciting is None:
            return "own"
        if time is None or time > self._reciting:
            self.end_recital()
            return "own"
        if self._expected[key] <= 0:
            return "unsure"
        self._expected[key] -= 1
        return "copy"


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
