"""A first look at a session: title and agent state from the head and the tail of its log, never from all of it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import Final

from kato_tui.core.errors import SourceUnreadable
from kato_tui.core.ingest import reader
from kato_tui.core.ingest.discover import FoundSession
from kato_tui.core.model.facts import AgentState, Facts
from kato_tui.core.providers.base import Provider, SourceFile, Translator

_HEAD: Final = 64 << 10
#: Instructions, a pasted image or a list of skills may stand before the first prompt: it is looked for this far.
_MAX_HEAD: Final = 512 << 10
_TAIL: Final = 64 << 10
#: A last record larger than the tail (an image, a long output) is looked for this far back.
_MAX_TAIL: Final = 1 << 20
#: Documents cannot be read in part; larger ones are left to the full pass.
_MAX_DOCUMENT: Final = 4 << 20
#: Looks that are remembered. Once a session is read, it is known better.
_KEPT: Final = 1024


class Glimpses:
    """First looks, each taken once for every state of a log."""

    def __init__(self) -> None:
        self._taken: OrderedDict[str, tuple[reader.FileStamp, Facts]] = OrderedDict()

    def holds(self, session: FoundSession) -> bool:
        taken = self._taken.get(session.key)
        return taken is not None and taken[0] == session.stamp

    def of(self, session: FoundSession) -> Facts:
        """The facts of a glimpse, for reading only."""
        if not self.holds(session):
            self._taken.pop(session.key, None)
            self._taken[session.key] = session.stamp, _of_all(session)
            while len(self._taken) > _KEPT:
                self._taken.popitem(last=False)
        return self._taken[session.key][1]


def _of_all(session: FoundSession) -> Facts:
    """The newest log tells how a session stands; where it goes on from older ones, the oldest names it."""
    last = glimpse(session.provider, session.sources[-1])
    return last if len(session.sources) == 1 else _joined(glimpse(session.provider, session.sources[0]), last)


def glimpse(provider: Provider, source: SourceFile) -> Facts:
    """What the ends of a log tell. Totals (usage, counts) are left out: only a full pass knows them."""
    try:
        if source.layout == "document":
            return _document(provider, source)
        return _lines(provider, source)
    except (SourceUnreadable, OSError):
        return Facts()


def _document(provider: Provider, source: SourceFile) -> Facts:
    stamp = reader.stamp_of(source.path)
    if stamp is None or stamp.size > _MAX_DOCUMENT:
        return Facts()
    translator = provider.translator(source)
    translator.feed_document(reader.read_document(source.path))
    return translator.facts


def _lines(provider: Provider, source: SourceFile) -> Facts:
    stream = reader.open_stream(source.path, compressed=source.compressed)
    try:
        first, length = _head(provider.translator(source), stream)
        if stream.size is None and stream.read(length, 1):
            return _without_end(_without_totals(first))
        if stream.size is None or stream.size <= length:
            return _without_totals(first)
        tail = _tail_lines(stream, stream.size)
    finally:
        stream.close()
    last = _feed(provider.translator(source), tail)
    return _without_totals(_joined(first, last))


def _head(translator: Translator, stream: reader.Stream) -> tuple[Facts, int]:
    """The facts of the complete lines at the start of the log, up to the one that names it, and how far was read."""
    data = stream.read(0, _HEAD)
    length, done = len(data), 0
    while True:
        end = data.rfind(b"\n", done) + 1
        if end > done:
            _feed(translator, data[done:end])
            done = end
        more = b"" if translator.facts.title or length >= _MAX_HEAD else stream.read(length, _HEAD)
        if not more:
            return translator.facts, length
        data += more
        length += len(more)


def _tail_lines(stream: reader.Stream, size: int) -> bytes:
    """Complete lines at the end of the log, reaching further back while there is not even one."""
    length = _TAIL
    while True:
        data = stream.read(max(0, size - length), length)
        start = 0 if length >= size else data.find(b"\n") + 1
        end = data.rfind(b"\n") + 1
        if start < end or length >= min(size, _MAX_TAIL):
            return data[start:end] if start < end else b""
        length *= 4


def _feed(translator: Translator, data: bytes) -> Facts:
    for line in data.split(b"\n"):
        translator.feed(line, 0)
    return translator.facts


def _joined(first: Facts, last: Facts) -> Facts:
    """The head names a session; the tail says where it stands, and may have renamed it."""
    joined = replace(
        first,
        cwd=last.cwd or first.cwd,
        git_branch=last.git_branch or first.git_branch,
        model=last.model or first.model,
        cli_version=last.cli_version or first.cli_version,
        context_tokens=last.context_tokens,
        context_window=last.context_window or first.context_window,
        last_activity=last.last_activity or first.last_activity,
        resume_ids=last.resume_ids or first.resume_ids,
        agent_state=last.agent_state,
    )
    if last.title_source is not None and last.title_source != "prompt":
        joined.set_title(last.title, last.title_source)
    return joined


def _without_end(facts: Facts) -> Facts:
    """For a compressed log, whose end cannot be reached without reading all of it: it has been idle for days."""
    return replace(facts, agent_state=AgentState(), last_activity=None, context_tokens=None)


def _without_totals(facts: Facts) -> Facts:
    blank = Facts()
    return replace(
        facts,
        usage=blank.usage,
        user_messages=0,
        assistant_messages=0,
        tool_calls=0,
        unknown_types=blank.unknown_types,
    )
