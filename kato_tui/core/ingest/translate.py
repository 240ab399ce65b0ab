"""Translating a log without keeping anything: the canonical events of one file, and what became of its records."""

from __future__ import annotations

from collections.abc import Iterator

from kato_tui.core import identity
from kato_tui.core.errors import SourceUnreadable
from kato_tui.core.ingest import reader
from kato_tui.core.ingest.dedupe import Identities
from kato_tui.core.providers.base import Draft, Provider, SourceFile
from kato_tui.core.providers.books import Tally
from kato_tui.core.store.twin import LineEncoder


class Translation:
    """The events of one log, as a twin would hold them; `tally` counts every record that was read."""

    def __init__(self, provider: Provider, source: SourceFile) -> None:
        self._provider = provider
        self._source = source
        self._known = Identities(provider)
        self._translator = provider.translator(source)
        self.tally: Tally = {}
        self._translator.tally = self.tally
        self._translator.sieve = self._is_new

    def lines(self) -> Iterator[bytes]:
        """Twin lines, in order."""
        key = identity.session_key(self._provider.name, self._source.provider_session_id)
        session = {
            "provider": self._provider.name,
            "providerSessionId": self._source.provider_session_id,
            "sessionId": identity.session_id(key),
        }
        encoder = LineEncoder(session, self._provider.cursor_kind)
        for seq, draft in enumerate(self.drafts(), start=1):
            yield encoder.encode((draft,), seq, None)

    def drafts(self) -> Iterator[Draft]:
        if self._source.layout == "document":
            drafts = self._translator.feed_document(reader.read_document(self._source.path))
            if drafts is None:
                raise SourceUnreadable(f"{self._source.path}: not a complete JSON document")
            yield from drafts
            return
        lines = reader.LineReader(self._source)
        try:
            yield from self._feed(lines)
        finally:
            lines.close()

    def _feed(self, lines: reader.LineReader) -> Iterator[Draft]:
        by_offset = self._provider.cursor_kind == "byte-offset"
        number = offset = 0
        while batch := lines.batch():
            for line in batch:
                self._known.begin()
                cursor = offset if by_offset else number
                number += 1
                offset += reader.length_of(line)
                if isinstance(line, bytes):
                    yield from self._translator.feed(line, cursor)
                else:
                    yield from self._translator.feed_oversize(cursor, line.length, line.sha256)
        # A log that ends without a newline was copied or cut: here, unlike live, nothing more will come.
        if rest := lines.torn():
            self._known.begin()
            yield from self._translator.feed(rest, lines.offset if by_offset else number)

    def _is_new(self, draft: Draft) -> bool:
        key = self._known.key(draft)
        if draft.check and self._known.holds(key):
            return False
        self._known.add(key)
        return True
