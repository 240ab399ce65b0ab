"""A Gemini chat as a fold: JSONL records in file order, or the messages of a whole document.

The replay rules of the CLI (`loadConversationRecord`) decide what a line is; what it replaces stays in the twin.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import orjson

from kato_tui.core import text as texts
from kato_tui.core.model import events
from kato_tui.core.model.facts import AgentState
from kato_tui.core.providers.base import Record, Translator, text_of
from kato_tui.core.providers.books import SHAPE_ERRORS
from kato_tui.core.providers.gemini import authorship
from kato_tui.core.providers.gemini import content as parts
from kato_tui.core.providers.gemini.calls import MAX_ASKED
from kato_tui.core.providers.gemini.messages import HANDLERS, Message, tell
from kato_tui.core.providers.gemini.seen import Entry, How, Ledger, Listing, Seen
from kato_tui.core.providers.gemini.usage import Counted

REWIND: Final = "$rewindTo"
SET: Final = "$set"
HEADER: Final = "header"

#: Fields of the header and of `$set` records: none is part of the conversation.
METADATA: Final[dict[str, str]] = {
    "sessionId": "becomes the id to resume with",
    "projectHash": "names the project's folder",
    "startTime": "becomes the first activity",
    "lastUpdated": "when the file was last written: the time of no record",
    "kind": "main or sub-agent: decided by the file",
    "summary": "becomes the session title",
    "directories": "becomes the working directory",
    "memoryScratchpad": "the CLI's notes for its own memory extraction",
    "activeExtensionName": "which extension was in use",
    "messages": "translated one by one",
}
_SET_DROPPED: Final = "metadata: becomes session facts"
#: The line after nearly every message. These bytes prove that the record holds nothing but a write time.
_UPDATED: Final = b'{"$set":{"lastUpdated":"'
_MAX_UPDATED: Final = 64
#: Longer ids are no ids that the CLI could resume: facts stay small.
_MAX_SESSION_ID: Final = 256
_REWOUND: Final = "The conversation was rewound to before an earlier message."


class GeminiTranslator(Translator):
    def restore(self, state: Record) -> None:
        self.seen = Seen(state.get("seen", {}))
        self.usage = Counted(state.get("usage", []))
        #: Open questions by (hashed) call id, for answers that come in a message of their own.
        self.asked: Record = dict(state.get("asked", {}))
        self._told: set[tuple[str, str]] = set()
        #: What the message at hand has told, where its id lets that be remembered.
        self._ledger: Ledger | None = None

    def save(self) -> Record:
        return {"seen": self.seen.save(), "usage": self.usage.save(), "asked": dict(self.asked)}

    def successor_state(self) -> Record:
        """The JSONL that goes on with a document repeats all of it."""
        return {"seen": self.seen.successor().save()}

    def record_type(self, record: Record) -> str:
        shape = _shape(record)
        return parts.label(record.get("type")) or "untyped" if shape == "message" else shape

    def peek(self, line: bytes) -> tuple[str, str] | None:
        if line.startswith(_UPDATED) and len(line) <= _MAX_UPDATED and line.count(b'"') == 6 and line.endswith(b'"}}'):
            return SET, METADATA["lastUpdated"]
        return None

    def translate(self, record: Record) -> None:
        self._told.clear()
        handler = _RECORDS.get(_shape(record))
        if handler is None:
            self.keep_raw(self._type, record)
        else:
            handler(self, record)

    def translate_document(self, document: Record) -> None:
        self._told.clear()
        messages = document.get("messages")
        header = {key: value for key, value in document.items() if key != "messages"}
        self.item(HEADER, header, self.header, cursor=0)
        # The cursor is an index into the messages: the header is not one of them.
        self.item_ids.clear()
        if not isinstance(messages, list):
            if messages is not None:
                self.item("messages", {"messages": messages}, self._keep, cursor=0)
            return
        for index, message in enumerate(messages):
            if isinstance(message, dict):
                kind = parts.label(message.get("type")) or "untyped"
                self.item(kind, message, self.own, cursor=index)
            else:
                self.item("message", {"message": message}, self._keep, cursor=index)

    def keep_raw(self, raw_type: str, raw: Any, **where: Any) -> None:
        # A document is told whole every time it changes, so what is unknown in it comes again as well.
        where.setdefault("check", self.source.layout == "document")
        super().keep_raw(raw_type, parts.without_bytes(raw), **where)

    def _keep(self, record: Record) -> None:
        self.keep_raw(self._type, record)

    def emit(self, kind: str, payload: Record, *, check: bool = False, **where: Any) -> None:
        """As for every translator, but what the message at hand has told before is not told again."""
        if self._ledger is not None:
            verdict = self._ledger.judge(kind, _canonical(payload))
            if verdict == "told":
                self.repeat()
                return
            check = verdict == "ask"
        super().emit(kind, payload, check=check, **where)

    def tell_once(self, kind: str, payload: Record, message: Message, **where: Any) -> None:
        """A tool event: it stands with its call, in later copies of that message, and in user turns too."""
        call_id = where["event_id"]
        part = payload.get("decisionId", call_id)
        if self.source.layout == "document":
            again = (kind, part) in self._told
            self._told.add((kind, part))
        else:
            verdict = self.seen.judge_call(call_id, message.timestamp, kind, part, trusted=message.own_time)
            again, where["check"] = verdict == "told", verdict == "ask"
        if again:
            self.repeat()
        else:
            super().emit(kind, payload, **where)

    def ask(self, call_id: str, questions: list[Any]) -> None:
        ident = parts.name_of(call_id)
        self.asked.pop(ident, None)
        self.asked[ident] = questions
        if len(self.asked) > MAX_ASKED:
            del self.asked[next(iter(self.asked))]

    # Records.

    def header(self, record: Record) -> None:
        self._metadata(record, HEADER)
        messages = record.get("messages")
        if isinstance(messages, list):
            for message in messages:
                self._each(message, self.own)
        self.drop(_SET_DROPPED)

    def set_record(self, record: Record) -> None:
        changes = record[SET]
        self._metadata(changes, SET)
        messages = changes.get("messages")
        if isinstance(messages, list):
            self._replace(messages)
        elif messages is not None:
            self.keep_raw("$set.messages", messages)
        self.drop(_SET_DROPPED)

    def rewind(self, record: Record) -> None:
        """Earlier events stay in the twin: the notice says that the conversation went on without them."""
        payload = {"text": _REWOUND, "subtype": "rewind"}
        self.emit(events.SYSTEM_MESSAGE, payload, event_id=record[REWIND] or None)
        self.seen.rewind(record[REWIND])
        self.seen.end_recital()
        self.facts.agent_state = AgentState()

    def own(self, record: Record) -> None:
        """A message in a record of its own, or in a document: its id and time are its own."""
        ident, content = _ident(record), parts.read(record.get("content"))
        key = _key(record, content)
        entry = self.seen.get(ident)
        how = entry.told_as(key) if entry else self._first_told_as(record, content, key)
        # A line of a JSONL is remembered by its id, and without one is itself and no other.
        check = self.source.layout == "document"
        self._tell(record, content, key, how, entry, check=check, news=how == "own")

    def _first_told_as(self, record: Record, content: parts.Content, key: str) -> How:
        """How a message under an unknown id is told. When every tool call of a turn is refused the CLI sets its
        history back, and writes all that stays anew: in lines of their own, new ids, new times, context first."""
        if self.source.layout == "document":
            return "own"
        time = parts.iso(record.get("timestamp"))
        if content.texts and authorship.injected(content.texts[0]) == "session-context":
            self.seen.begin_recital(time)
        return self.seen.recited(time, key)

    # Parts of records.

    def _metadata(self, changes: Record, prefix: str) -> None:
        facts = self.facts
        session_id, summary = changes.get("sessionId"), changes.get("summary")
        if isinstance(session_id, str) and 0 < len(session_id) <= _MAX_SESSION_ID and self.source.kind == "main":
            facts.saw_resume_id(session_id)
        if self.source.parent:
            facts.parent = self.source.parent
        if isinstance(summary, str):
            facts.set_title(texts.one_line(summary) or None, "summary")
        directories = changes.get("directories")
        if isinstance(directories, list) and directories:
            facts.cwd = authorship.folder(directories[0]) or facts.cwd
        started = parts.iso(changes.get("startTime"))
        if started:
            facts.saw_time(started)
        for name in changes:
            if name not in METADATA:
                self.keep_raw(f"{prefix}.{name}", changes[name])

    def _each(self, message: Any, handler: Callable[[Record], None]) -> None:
        """One message of a list inside a record; one of an unexpected shape is kept raw, alone."""
        if not self._tried(message, handler):
            self.keep_raw("message", message, check=True)

    def _replace(self, messages: list[Any]) -> None:
        """`$set.messages`: the whole list anew, after start-up, a masking sync or a compaction."""
        self.seen.end_recital()
        listing = self.seen.listing([_ident(message) for message in messages])
        for message in messages:
            self._each(message, partial(self._listed, listing))

    def _listed(self, listing: Listing, record: Record) -> None:
        ident, content = _ident(record), parts.read(record.get("content"))
        key = _key(record, content)
        entry = listing.entry(ident)
        how = listing.judge(ident, key)
        news = entry is None and how == "own"
        self._tell(record, content, key, how, entry, check=ident is None, news=news, listed=True)

    def _tell(
        self,
        record: Record,
        content: parts.Content,
        key: str,
        how: How,
        entry: Entry | None,
        *,
        check: bool,
        news: bool,
        listed: bool = False,
    ) -> None:
        ident, time = _ident(record), parts.iso(record.get("timestamp"))
        # A message that was met and forgotten is in the counts as well.
        met = entry is None and self.source.layout == "lines" and self.seen.was_forgotten(ident, time)
        counted = met or (entry is not None and entry.counted)
        unsure = how == "unsure"
        message = Message(
            record=record,
            type=parts.label(record.get("type")) or "untyped",
            id=ident,
            content=content,
            event_id=None if unsure else ident,
            timestamp=None if unsure else time,
            check=check or unsure,
            copied=unsure,
            speaks=how != "copy",
            news=news and not unsure,
            again=met or entry is not None,
            counted=counted,
            own_time=not listed,
        )
        told = self._told_by(message, time)
        self.seen.remember(ident, time, Entry(key, how, counted or bool(content.text.strip()), told))

    def _told_by(self, message: Message, time: str | None) -> tuple[str, ...]:
        """Tell the message; the hashes of all that it has told by now."""
        if message.id is None or message.check:
            tell(self, message)
            return ()
        ledger = self._ledger = self.seen.ledger(message.id, time)
        self.seen.begin()
        try:
            tell(self, message)
        except SHAPE_ERRORS:
            # The record will be kept raw: nothing of it was told.
            self.seen.take_back()
            raise
        finally:
            self._ledger = None
        return tuple(ledger.told)


def _shape(record: Record) -> str:
    """What a line is, tested in the order of the CLI's own replay."""
    if isinstance(record.get(REWIND), str):
        return REWIND
    if isinstance(record.get("id"), str):
        return "message"
    if isinstance(record.get(SET), dict):
        return SET
    if isinstance(record.get("sessionId"), str) and "type" not in record:
        return HEADER
    if record.get("type") in HANDLERS and "content" in record:
        return "message"
    return parts.label(record.get("type")) or "untyped"


def _canonical(payload: Record) -> bytes:
    return orjson.dumps(payload, option=orjson.OPT_SORT_KEYS)


def _ident(message: Any) -> str | None:
    """The id of a message; whether it is one at all is found out when it is told."""
    given = message.get("id") if isinstance(message, dict) else None
    return given if isinstance(given, str) and given else None


def _key(record: Record, content: parts.Content) -> str:
    """A fingerprint of what was sent: the same for a message and its copy, however each is laid out."""
    # Context that was merged into a prompt, and blanks that a copy has and the recorded reply has not, do not count.
    written = [part for part in content.texts if authorship.injected(part) is None]
    text = "".join(written or content.texts).strip()
    if text:
        return parts.digest(text_of(record.get("type")), text)
    listed = record.get("toolCalls")
    given = [call.get("id") for call in (listed if isinstance(listed, list) else []) if isinstance(call, dict)]
    given += [call.get("id") for call in (*content.calls, *content.responses)]
    ids = sorted({ident for ident in given if isinstance(ident, str)})
    return parts.digest(text_of(record.get("type")), "", *ids) if ids else ""


_RECORDS: Final[dict[str, Callable[[GeminiTranslator, Record], None]]] = {
    REWIND: GeminiTranslator.rewind,
    "message": GeminiTranslator.own,
    SET: GeminiTranslator.set_record,
    HEADER: GeminiTranslator.header,
}
