"""Telling an event from its repetition (spec §4).

Append-only sources with stable offsets need none of this. It serves records that come again: re-appended messages,
documents that are written whole every time, and sources that were rewritten and are read from the start.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

from kato_tui.core.providers.base import Draft, Provider


class Key(NamedTuple):
    """A draft's identity: by its provider id (None without one) and by its content.

    `nth` tells equal parts of one record apart (two blocks "ok").
    """

    by_id: int | None
    content: int
    nth: int = 1


class Identities:
    """What a twin already holds, as hashes. Made for one pass over a session; keys must be taken in draft order."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        #: How often the twin holds each: stored parts are counted, so that a twin read again gives the same answers.
        self._ids: Counter[int] = Counter()
        self._contents: Counter[int] = Counter()
        self._idless: Counter[int] = Counter()
        self._in_record: Counter[int] = Counter()
        self._record: tuple[int, str | None] = (-1, None)
        self._parts: Counter[int] = Counter()

    @classmethod
    def of_events(cls, provider: Provider, stored: Iterable[dict[str, Any]]) -> Identities:
        """The identities of the whole twin."""
        known = cls(provider)
        for event in stored:
            known.add(known.key(as_draft(event)))
        known.begin()
        return known

    def __len__(self) -> int:
        return len(self._ids) + len(self._contents)

    def begin(self) -> None:
        """Start of a record, or of a document: equal contents are counted from here."""
        self._in_record = Counter()
        self._record = (-1, None)

    def key(self, draft: Draft) -> Key:
        """The identity of the next draft. Equal parts of one record (one cursor, one provider id) are numbered."""
        content = _number(draft.kind, "", "", _canonical(draft.payload))
        if draft.event_id is None:
            return Key(None, content)
        record = (draft.cursor, draft.event_id)
        if self._record != record:
            self._record, self._parts = record, Counter()
        part = _canonical(self._provider.identity_payload(draft.kind, draft.payload))
        base = _number(draft.kind, draft.event_type, draft.event_id, part)
        self._parts[base] += 1
        return Key(base, content, self._parts[base])

    def add(self, key: Key) -> None:
        self._contents[key.content] += 1
        if key.by_id is None:
            self._idless[key.content] += 1
        else:
            self._ids[key.by_id] += 1

    def holds(self, key: Key) -> bool:
        """Whether a draft that may be a repetition (`check`) is one; without an id, content decides."""
        if key.by_id is not None:
            return key.nth <= self._ids[key.by_id]
        self._in_record[key.content] += 1
        return self._in_record[key.content] <= self._contents[key.content]

    def replay(self) -> Replay:
        if self._provider.stable_ids:
            return Replay(self, self._ids, self._idless, ids_decide=True)
        return Replay(self, self._ids, self._contents, ids_decide=False)


class Returning:
    """For a source that was cut and grows again: which of its records are those that it had before.

    A record has come back when the twin has its id, or the same words from the same place in the file.
    """

    def __init__(self, provider: Provider, stored: Iterable[dict[str, Any]]) -> None:
        self.known = Identities(provider)
        self._places: set[tuple[int, int, int]] = set()
        for event in stored:
            draft = as_draft(event)
            key = self.known.key(draft)
            self.known.add(key)
            self._places.add((draft.cursor, draft.emit_index, key.content))
        self.known.begin()

    def holds(self, draft: Draft, key: Key) -> bool:
        if key.by_id is not None and self.known.holds(key):
            return True
        return (draft.cursor, draft.emit_index, key.content) in self._places


class Replay:
    """Reading a rewritten source from its start: what the twin already has is passed over, the rest is new.

    Events without an id are matched as a multiset: the third "yes" of the source is the third "yes" of the twin.
    Where ids are not stable across rewrites, that goes for all events.
    """

    def __init__(self, known: Identities, ids: Counter[int], contents: Counter[int], *, ids_decide: bool) -> None:
        self._known = known
        self._ids_decide = ids_decide
        self._ids = ids
        self._contents = Counter(contents)
        self._seen: Counter[int] = Counter()

    def holds(self, draft: Draft, key: Key) -> bool:
        if draft.check and key.by_id is None:
            return self._known.holds(key)
        if key.by_id is not None and self._ids_decide:
            return key.nth <= self._ids[key.by_id]
        self._seen[key.content] += 1
        if key.by_id is not None and key.nth <= self._ids[key.by_id]:
            return True
        return self._seen[key.content] <= self._contents[key.content]


def as_draft(event: dict[str, Any]) -> Draft:
    """A stored event as the draft it was."""
    source = event["source"]
    return Draft(
        event["kind"],
        event["payload"],
        source["providerEventType"],
        source.get("providerEventId"),
        cursor=source["cursor"]["value"],
        emit_index=source["emitIndex"],
    )


def same_event(draft: Draft, event: dict[str, Any]) -> bool:
    """Whether a stored event is exactly this draft, times aside."""
    stored = as_draft(event)
    return (
        draft.kind == stored.kind
        and draft.cursor == stored.cursor
        and draft.emit_index == stored.emit_index
        and draft.event_type == stored.event_type
        and draft.event_id == stored.event_id
        and _canonical(draft.payload) == _canonical(stored.payload)
    )


def _canonical(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _number(kind: str, event_type: str, event_id: str, content: bytes) -> int:
    head = orjson.dumps([kind, event_type, event_id])
    return int.from_bytes(hashlib.blake2b(head + content, digest_size=8).digest(), "big")
