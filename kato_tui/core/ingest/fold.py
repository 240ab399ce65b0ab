"""One pass over a session's files from a cursor: bounded pieces in, the drafts of each record out.

Knows files, cursors and anchors; knows neither twin nor metadata.
"""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

from kato_tui.core.errors import SourceUnreadable
from kato_tui.core.ingest import reader
from kato_tui.core.model.facts import Facts
from kato_tui.core.model.session import Anchor, IngestCursor
from kato_tui.core.providers.base import Draft, Provider, SourceFile, Translator


class Rewritten(Exception):
    """The source is no longer the file that the cursor was taken in."""


class HalfWritten(SourceUnreadable):
    """A document that is being written right now; the next change of the file brings it."""


class Fold:
    """Reads `sources` in order from `cursor` on. Call `advance` until it gives None."""

    def __init__(
        self,
        provider: Provider,
        sources: list[SourceFile],
        cursor: IngestCursor | None = None,
        state: dict[str, Any] | None = None,
        facts: Facts | None = None,
    ) -> None:
        self._provider = provider
        self._sources = sources
        self._at = self._find(cursor.generation) if cursor is not None else 0
        self._cursor = cursor if cursor is not None else start_of(provider, sources[0])
        #: Lines up to here, where that is further than `_cursor`, which is only brought up when it is asked for.
        self._number: int | None = None
        self._translator = self._begin(state if cursor is not None else None, facts if cursor is not None else None)
        self._reader: reader.LineReader | None = None
        #: How a document was taken up again: `resume`, `resync` (its anchor had moved) or `replay`.
        self.document_resume: str | None = None
        self.bytes_read = 0
        self._folded_document = False

    def advance(self, until: IngestCursor | None = None) -> list[list[Draft]] | None:
        """The drafts of the next records, or None at the end (or at `until`)."""
        while not self._reached(until):
            records = self._document() if self._source.layout == "document" else self._lines(until)
            if records is not None:
                return records
            if self._at + 1 >= len(self._sources):
                return None
            self._next_source()
        return None

    def at_end(self, until: IngestCursor | None = None) -> bool:
        """Whether the pass is known to be at its end without asking `advance` once more.

        What is appended from now on is for the next pass.
        """
        if self._at + 1 < len(self._sources):
            return False
        if self._source.layout == "document":
            return self._folded_document
        return self._reached(until) or (self._reader is not None and self._reader.at_end)

    @property
    def ready(self) -> bool:
        """Whether the next records are in memory already."""
        return self._reader is not None and self._reader.ready

    @property
    def cursor(self) -> IngestCursor:
        """Just after the last record given out."""
        if self._number is not None and self._reader is not None:
            self._cursor = self._line_cursor(self._reader, self._number)
            self._number = None
        return self._cursor

    @property
    def source(self) -> SourceFile:
        return self._source

    def state(self) -> dict[str, Any]:
        return _copied(self._translator.save())

    def facts(self) -> Facts:
        return self._translator.facts.copy()

    def close(self) -> None:
        if self._reader is not None:
            self._cursor = self.cursor
            self._reader.close()
            self._reader = None

    @property
    def _source(self) -> SourceFile:
        return self._sources[self._at]

    def _find(self, generation: str) -> int:
        for number, source in enumerate(self._sources):
            if source.generation == generation:
                return number
        raise Rewritten

    def _begin(self, state: dict[str, Any] | None, facts: Facts | None) -> Translator:
        own = _copied(state) if state is not None else None
        return self._provider.translator(self._source, own, facts.copy() if facts is not None else None)

    def _reached(self, until: IngestCursor | None) -> bool:
        if until is None or self._cursor.generation != until.generation:
            return False
        if self._source.layout == "document":
            # What follows a document is beyond `until`. A document that changed since is folded by both passes.
            return self._folded_document or (until.anchor is not None and self._cursor.anchor == until.anchor)
        return self.cursor.byte_offset >= until.byte_offset

    def _next_source(self) -> None:
        """Open the next file. A log that continues another one takes over its translator's state; one that follows a
        document tells again what that said, and starts with what the document leaves for it (`successor_state`)."""
        carry = self._source.layout == "lines"
        state, facts = (self.state(), self.facts()) if carry else (self._translator.successor_state(), None)
        self.close()
        self._at += 1
        self._cursor = start_of(self._provider, self._source)
        self._translator = self._begin(state, facts)

    def _open(self) -> reader.LineReader:
        found = reader.LineReader(self._source, self._cursor.byte_offset)
        anchor = self._cursor.anchor
        length, digest = found.anchor()
        if not found.reaches_cursor() or (anchor is not None and (anchor.length, anchor.sha256) != (length, digest)):
            found.close()
            raise Rewritten
        return found

    def _lines(self, until: IngestCursor | None) -> list[list[Draft]] | None:
        if self._reader is None:
            self._reader = self._open()
        begun = offset = self._reader.offset
        lines = self._reader.batch()
        if not lines:
            return None
        by_offset = self._provider.cursor_kind == "byte-offset"
        number = self._number if self._number is not None else self._cursor.line_hint
        limit = until.byte_offset if until is not None and until.generation == self._cursor.generation else None
        records: list[list[Draft]] = []
        feed = self._translator.feed
        for line in lines:
            if limit is not None and offset >= limit:
                # The rest was already folded by the pass that this one catches up with.
                self._cursor, self._number = until or self._cursor, None
                return records
            at = offset if by_offset else number
            if isinstance(line, bytes):
                drafts = feed(line, at)
                offset += len(line) + 1
            else:
                drafts = self._translator.feed_oversize(at, line.length, line.sha256)
                offset += line.length + 1
            number += 1
            if drafts:
                records.append(drafts)
        self.bytes_read += self._reader.offset - begun
        self._number = number
        return records

    def _line_cursor(self, lines: reader.LineReader, number: int) -> IngestCursor:
        length, digest = lines.anchor()
        return self._cursor.model_copy(
            update={
                "value": lines.offset if self._provider.cursor_kind == "byte-offset" else number,
                "byte_offset": lines.offset,
                "line_hint": number,
                "anchor": Anchor(length=length, sha256=digest),
            }
        )

    def _document(self) -> list[list[Draft]] | None:
        """A document is always folded whole: messages change in place, long after they were written."""
        data = reader.read_document(self._source.path)
        digest = hashlib.sha256(data).hexdigest()
        anchor = self._cursor.anchor
        if anchor is not None and anchor.sha256 == digest:
            return None
        translator = self._begin(None, None)
        drafts = translator.feed_document(data)
        if drafts is None and self._at + 1 < len(self._sources):
            # Nobody writes it any more: the file that went on with it holds all of it.
            return None
        if drafts is None:
            raise HalfWritten(f"{self._source.path}: not a complete JSON document yet")
        self._translator = translator
        self._folded_document = True
        self.bytes_read += len(data)
        self.document_resume = _resume(anchor, self._cursor.value, translator.item_ids)
        ids = translator.item_ids
        self._cursor = self._cursor.model_copy(
            update={
                "value": len(ids),
                "byte_offset": len(data),
                "line_hint": len(ids),
                "anchor": Anchor(length=len(data), sha256=digest, message_id=ids[-1] if ids else None),
            }
        )
        return [drafts]


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    """Plain JSON is copied through its text, ten times as fast as object by object."""
    copied: dict[str, Any] = orjson.loads(orjson.dumps(state))
    return copied


def start_of(provider: Provider, source: SourceFile) -> IngestCursor:
    """The cursor at the very beginning of a source."""
    return IngestCursor(kind=provider.cursor_kind, value=0, byte_offset=0, line_hint=0, generation=source.generation)


def _resume(anchor: Anchor | None, index: int, ids: list[str]) -> str | None:
    if anchor is None or anchor.message_id is None:
        return None
    if 0 < index <= len(ids) and ids[index - 1] == anchor.message_id:
        return "resume"
    return "resync" if anchor.message_id in ids else "replay"
