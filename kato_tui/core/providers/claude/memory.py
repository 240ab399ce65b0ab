"""The part of a Claude translator that later records depend on: bounded, plain JSON, nothing derived.

Long texts are kept as short hashes, except prompts that wait in the queue: some versions log them nowhere else.
"""

from __future__ import annotations

import zlib
from hashlib import blake2b
from typing import Any, Final

import orjson

from kato_tui.core.providers.base import Record
from kato_tui.core.providers.recent import Recent

#: Lines of one API message are close together, but parallel tools and queue records come between them.
MAX_MESSAGES: Final = 32
MAX_BLOCKS: Final = 48
MAX_OPEN: Final = 32
MAX_DECISIONS: Final = 16
MAX_QUEUED: Final = 16
#: Of waiting prompts altogether: what more there is was shown early, and only its mark is kept.
MAX_MARKED: Final = 64
#: Of one waiting prompt, and of all of them together.
MAX_QUEUED_CHARS: Final = 32 * 1024
MAX_QUEUE_CHARS: Final = 128 * 1024
MAX_DELIVERED: Final = 16
MAX_LINKS: Final = 32
#: Records that a resume writes again, and leaves that a summary names, are among the last few.
MAX_RECENT: Final = 64
MAX_SUMMARIES: Final = 16
#: Records that come late because of parallel tools are late by a few records only.
MAX_RECORDS: Final = 256
MAX_KEY: Final = 128
#: How many records after a prompt left the queue its second copy may come. The same words later are a new prompt.
DELIVERY_REACH: Final = 48
#: A text that an earlier block of the same message starts with is only a cumulative snapshot when it is this long.
MIN_SNAPSHOT: Final = 16


def digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def key(identifier: str) -> str:
    """An id as a key of the state: a hostile log may write megabytes for one."""
    return identifier if len(identifier) <= MAX_KEY else digest(identifier)


class Memory:
    """State across records. Every collection has a bound; the oldest entry leaves first."""

    def __init__(self, state: Record) -> None:
        #: message id -> {"usage": [input, output, cache read, cache write], "blocks": [[kind, length, hash], …]}
        self.messages: dict[str, Record] = state.get("messages", {})
        #: tool call id -> [tool name, since]
        self.open: dict[str, list[Any]] = state.get("open", {})
        #: tool call id -> what was asked, see decisions.py
        self.decisions: dict[str, Record] = state.get("decisions", {})
        #: prompts waiting in the queue, see prompt_queue.py
        self.queue: list[Record] = state.get("queue", [])
        #: prompts that left the queue and have not come as a user line or an attachment yet
        self.left: list[Record] = state.get("left", [])
        #: prompts shown when they left the queue: [length, hash, record number]
        self.delivered: list[list[Any]] = state.get("delivered", [])
        self.links: list[str] = state.get("links", [])
        #: the last records: hash of the uuid -> checksum of what it says
        self.recent: dict[str, int] = state.get("recent", {})
        #: hash of a leaf's uuid -> title that waits for this leaf
        self.summaries: dict[str, str] = state.get("summaries", {})
        self.high_water: str | None = state.get("highWater")
        self.boundary: str | None = state.get("boundary")
        self.records: int = state.get("records", 0)
        #: the record in which the assistant last spoke
        self.answered: int = state.get("answered", 0)
        #: uuids of the newest records
        self.newest = Recent(MAX_RECORDS, state.get("newest"))

    def save(self) -> Record:
        return {
            "messages": {
                name: {"usage": list(entry["usage"]), "blocks": [list(block) for block in entry["blocks"]]}
                for name, entry in self.messages.items()
            },
            "open": {name: list(value) for name, value in self.open.items()},
            "decisions": dict(self.decisions),
            "queue": [dict(entry) for entry in self.queue],
            "left": [dict(entry) for entry in self.left],
            "delivered": [list(entry) for entry in self.delivered],
            "links": list(self.links),
            "recent": dict(self.recent),
            "summaries": dict(self.summaries),
            "highWater": self.high_water,
            "boundary": self.boundary,
            "records": self.records,
            "answered": self.answered,
            "newest": self.newest.save(),
        }

    def met(self, ident: str, time: str) -> bool:
        """Whether a record (by the hash of its uuid) may have been met before; it is remembered."""
        return not self.newest.meet(ident, time)

    def message(self, message_id: str) -> Record | None:
        """What is known of this API message, or None when this is its first line as far as memory reaches."""
        return self.messages.get(key(message_id))

    def begin_message(self, message_id: str) -> Record:
        entry: Record = {"usage": [0, 0, 0, 0], "blocks": []}
        self.messages[key(message_id)] = entry
        if len(self.messages) > MAX_MESSAGES:
            _trim(self.messages, MAX_MESSAGES)
        return entry

    def open_tool(self, call_id: str, name: str, since: str | None) -> None:
        self.open[key(call_id)] = [name[:MAX_KEY], since]
        if len(self.open) > MAX_OPEN:
            _trim(self.open, MAX_OPEN)

    def close_tool(self, call_id: str) -> str:
        """The name of the tool whose result has come, or nothing when its call is not known."""
        return str(self.open.pop(key(call_id), [""])[0])

    def asked(self, call_id: str) -> Record | None:
        return self.decisions.get(key(call_id)) if self.decisions else None

    def remember_decision(self, call_id: str, asked: Record) -> None:
        self.decisions[key(call_id)] = asked
        _trim(self.decisions, MAX_DECISIONS)

    def saw_link(self, link: str) -> bool:
        """Whether this link was told before; it is remembered."""
        if link in self.links:
            return True
        self.links.append(link)
        del self.links[:-MAX_LINKS]
        return False

    def saw_record(self, ident: str, substance: Any) -> bool:
        """Whether the same record, whatever its time, was among the last ones; it is remembered.

        A checksum will do where the uuid is the same, and costs a quarter of a hash.
        """
        mark = zlib.crc32(orjson.dumps(substance))
        recent = self.recent
        if recent.get(ident) == mark:
            return True
        recent[ident] = mark
        if len(recent) > MAX_RECENT:
            del recent[next(iter(recent))]
        return False

    def title_at(self, ident: str) -> str | None:
        """The summary that waited for this record, if one did."""
        return self.summaries.pop(ident, None) if self.summaries else None

    def is_own_leaf(self, leaf: str, title: str) -> bool:
        """Whether a summary's leaf is one of the last records; otherwise its title waits for that record."""
        mark = digest(leaf)
        if mark in self.recent:
            return True
        self.summaries[mark] = title
        _trim(self.summaries, MAX_SUMMARIES)
        return False

    def deliver(self, mark: list[Any]) -> None:
        """Remember a prompt (its length and hash) that was shown from the queue: a second copy may follow."""
        self.delivered.append([*mark, self.records])
        del self.delivered[:-MAX_DELIVERED]

    def arrived(self, text: str, *, human: bool = True) -> None:
        """A user line came: it is what left the queue, one prompt or several, words may be added or replaced.

        Only a prompt that the queue gave up for a line of its own may have come in other words.
        """
        waiting = [entry for entry in self.left if entry["text"] not in text]
        if human and len(waiting) == len(self.left):
            turn = next((index for index, entry in enumerate(waiting) if not entry.get("absorbed")), len(waiting))
            del waiting[turn : turn + 1]
        self.left = waiting

    def without_delivered(self, text: str, *, line: bool = True) -> str:
        """`text` less the prompts that were already shown; several queued prompts may be joined into one line.

        The second copy in a user line comes before the assistant speaks again: later the same words are a new prompt.
        """
        self.delivered = [entry for entry in self.delivered if self.records - entry[2] <= DELIVERY_REACH]
        found = True
        while found and text:
            found = False
            for index, (length, mark, shown) in enumerate(self.delivered):
                if line and shown < self.answered:
                    continue
                if text[length : length + 1] in ("", "\n") and digest(text[:length]) == mark:
                    text = text[length:].lstrip("\n")
                    del self.delivered[index]
                    found = True
                    break
        return text


def _trim(entries: dict[str, Any], limit: int) -> None:
    while len(entries) > limit:
        del entries[next(iter(entries))]


def new_part(entry: Record, known: int, kind: str, text: str) -> str:
    """What `text` adds to the first `known` blocks of its message; remembers it.

    A few old versions logged cumulative snapshots of one message: the same block again, or the same text grown.
    Only blocks of one kind are compared: models do say word for word what they just thought.
    """
    blocks: list[list[Any]] = entry["blocks"]
    rest = text
    for block_kind, length, mark in blocks[:known]:
        if block_kind != kind:
            continue
        whole = length == len(text)
        if (whole or MIN_SNAPSHOT <= length < len(text)) and digest(text[:length]) == mark:
            rest = min(rest, text[length:], key=len)
    if rest and len(blocks) < MAX_BLOCKS:
        blocks.append([kind, len(text), digest(text)])
    return rest
