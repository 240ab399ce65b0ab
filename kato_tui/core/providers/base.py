"""What every provider is: a pure translator from log records to drafts of twin events, plus its own files.

Nothing here knows a particular assistant. A translator is a deterministic fold: the same records in the same order
give the same drafts, facts and state, however they are cut into batches and whenever the process restarts.
"""

from __future__ import annotations

import hashlib
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal

import orjson

from kato_tui.core import text as texts
from kato_tui.core.model import events
from kato_tui.core.model.events import CursorKind
from kato_tui.core.model.facts import Facts
from kato_tui.core.providers import parsing
from kato_tui.core.providers.books import SHAPE_ERRORS, Books
from kato_tui.core.record import commands

SourceKind = Literal["main", "subagent", "workflow"]
Layout = Literal["lines", "document"]
Record = dict[str, Any]
ReadHead = Callable[[Path], bytes]

#: Kinds that are nothing without their text.
_WORDS: Final = frozenset(
    (
        events.ASSISTANT_MESSAGE,
        events.ASSISTANT_THINKING,
        events.SYSTEM_MESSAGE,
        events.PROVIDER_INFO,
    )
)
#: Where an event may hold values that are as the log gave them, nested as deep as its writer liked.
_GIVEN: Final = {events.TOOL_CALL: "input", events.TOOL_RESULT: "json", events.PROVIDER_RAW: "raw"}
_SHORT: Final = 256
EMPTY_TEXT: Final = "text of nothing but control characters"
#: Names of record types are no longer than this; real ones are far below it.
_MAX_TYPE: Final = 80
#: So many names of record types are remembered as checked: a log of a hostile writer may have a new one each line.
_MAX_TYPES: Final = 256


class TooDeep(ValueError):
    """An event would be nested deeper than can be written down."""


@dataclass(slots=True)
class Draft:
    """An event before it has a place in a twin."""

    kind: str
    payload: dict[str, Any]
    event_type: str
    event_id: str | None = None
    timestamp: str | None = None
    turn_id: str | None = None
    model: str | None = None
    cursor: int = 0
    emit_index: int = 0
    #: May repeat what the twin already holds (re-appended or re-sent records): compare identities before writing.
    check: bool = False
    #: Came with `copied` history (fork, resume, sub-agent preamble): nothing new happened, no command may run.
    copied: bool = False
    #: For a command: the session's folder when it was typed, which its relative destination belongs to.
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One log file and the session it belongs to."""

    provider: str
    provider_session_id: str
    path: Path
    kind: SourceKind = "main"
    layout: Layout = "lines"
    compressed: bool = False
    #: Files of one session that continue one another, in order; "" for the first or only one.
    generation: str = ""
    parent: str | None = None
    #: The path as it is written down and compared with what was: thousands are, at every look around.
    written: str = field(init=False, default="")

    def __post_init__(self) -> None:
        """Names taken from files whose names are no UTF-8 still have to be written down."""
        object.__setattr__(self, "written", texts.written_name(str(self.path)))
        for name in ("provider_session_id", "generation", "parent"):
            value = getattr(self, name)
            if value and not value.isascii():
                object.__setattr__(self, name, texts.written_name(value))


class Provider(ABC):
    """One assistant: where its logs are, whose they are, and how they read."""

    name: ClassVar[str]
    cursor_kind: ClassVar[CursorKind] = "byte-offset"
    #: What resumes a session of this assistant, before its id; empty where nothing does.
    resume_words: ClassVar[str] = ""
    #: By kind, the field that alone tells two events of one provider id apart; without one, the whole payload does.
    identity_fields: ClassVar[Mapping[str, str]] = MappingProxyType({})
    #: False where a rewritten log gives old records new ids: a replay then goes by content as well.
    stable_ids: ClassVar[bool] = True

    @abstractmethod
    def roots(self, environ: Mapping[str, str], home: Path) -> list[Path]:
        """The folders this provider keeps sessions under, whether they exist or not."""

    @abstractmethod
    def walk(self, root: Path) -> Iterator[Path]:
        """Every file below `root` that may be a session log. Never raises on unreadable folders."""

    @abstractmethod
    def identify(self, path: Path, read_head: ReadHead) -> SourceFile | None:
        """The session that `path` belongs to, or None for a file that is no session log.

        By name where the name tells; `read_head` gives the first 64 KiB (decompressed) where it does not.
        """

    @abstractmethod
    def sniff(self, head: bytes) -> bool:
        """Whether these first bytes look like this provider's log: for files named on a command line."""

    @abstractmethod
    def translator(self, source: SourceFile, state: Record | None = None, facts: Facts | None = None) -> Translator:
        """A translator that continues from `state` and `facts`, or starts afresh without them."""

    def order(self, sources: list[SourceFile]) -> list[SourceFile]:
        """The files of one session that are to be read, oldest first.

        By default the newest file alone; a plain file is preferred to its compressed form.
        """
        return sorted(sources, key=lambda s: (not s.compressed, _mtime(s.path), str(s.path)))[-1:]

    def identity_payload(self, kind: str, payload: Record) -> Any:
        """The part of a payload that tells two events of one provider id apart."""
        field = self.identity_fields.get(kind)
        return payload.get(field) if field else payload

    def facts_beside(self, source: SourceFile, facts: Facts) -> None:  # noqa: ARG002
        """Add what is not in the log itself but in small files beside it."""
        return

    def ended(self, sources: Iterable[SourceFile]) -> set[str]:  # noqa: ARG002
        """The ids of those sessions whose process has ended, as far as the provider keeps a registry of processes."""
        return set()

    def resume_folder(self, facts: Facts, source: str | None) -> str | None:  # noqa: ARG002
        """The folder from which the session with the log `source` can be resumed."""
        return facts.cwd

    def resume_command(self, facts: Facts, source: str | None = None) -> str | None:
        """The shell command that resumes the session in its own assistant, from the folder that it belongs to."""
        if not (self.resume_words and facts.resume_ids):
            return None
        command = f"{self.resume_words} {shlex.quote(facts.resume_ids[-1])}"
        folder = self.resume_folder(facts, source)
        return f"cd {shlex.quote(folder)} && {command}" if folder else command


def _mtime(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


class Translator(Books, ABC):
    """A fold over one session's records. Subclasses say what a record means.

    For each record a handler calls exactly one of: `emit…` (any number of times), `drop`, `repeat`, `keep_raw`.
    A handler that does none of these loses nothing: its record is kept raw.
    """

    def __init__(self, source: SourceFile, state: Record | None = None, facts: Facts | None = None) -> None:
        super().__init__(facts if facts is not None else Facts())
        self.source = source
        #: Ids of a document's items (hashes of those without), in order: what an item-index cursor is anchored to.
        self.item_ids: list[str] = []
        self._line = b""
        #: Whether the line can hold control characters besides CR, BS and FF, which JSON writes short; None until
        #: some text of it has to be cleaned.
        self._dirty: bool | None = True
        #: The kind of the newest event.
        self.newest = ""
        #: Names of record types that were found to be good ones.
        self._types: dict[str, str] = {}
        self.restore(state or {})

    # What a subclass provides.

    @abstractmethod
    def restore(self, state: Record) -> None:
        """Take over the state that `save` gave, or the initial state for an empty dict."""

    @abstractmethod
    def save(self) -> Record:
        """All state that later records depend on: small, bounded, plain JSON."""

    def successor_state(self) -> Record | None:
        """The state with which a file starts that goes on with this document."""
        return None

    @abstractmethod
    def record_type(self, record: Record) -> str:
        """The name under which the record is counted, such as `event_msg.token_count`."""

    @abstractmethod
    def translate(self, record: Record) -> None:
        """Turn one record into events, facts and state."""

    def peek(self, line: bytes) -> tuple[str, str] | None:  # noqa: ARG002
        """(record type, denylist reason) when the raw bytes already show that the record is dropped."""
        return None

    def translate_document(self, document: Record) -> None:
        """Translate a whole-file document; only for sources whose layout is `document`."""
        raise NotImplementedError(f"{self.source.provider} has no documents: {sorted(document)[:3]}")

    # What the batch calls.

    def feed(self, line: bytes, cursor: int) -> list[Draft]:
        """The drafts of one complete line (without its newline), which starts at `cursor`."""
        self._open(cursor)
        if line[:1] != b"{" and not line.strip(b" \t\r\n"):
            return []
        skipped = self.peek(line)
        if skipped is not None:
            self._type = skipped[0]
            self.drop(skipped[1])
            return self._close()
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            record = parsing.loaded(line)
        self._line, self._dirty = line, None
        if isinstance(record, dict):
            self._name(record)
            self._guard(record, self.translate)
        else:
            self._invalid()
        # A line may be a hundred megabytes: it is not held until the next one comes.
        self._line = b""
        return self._close()

    def feed_document(self, data: bytes) -> list[Draft] | None:
        """The drafts of a whole document, or None when it is half-written and must be read again later."""
        document = parsing.loaded(data)
        if not isinstance(document, dict):
            return None
        self._open(0)
        self._dirty = True
        self.item_ids = []
        self.translate_document(document)
        drafts, self._drafts = self._drafts, []
        return drafts

    def feed_oversize(self, cursor: int, length: int, sha256: str) -> list[Draft]:
        """A line too long to hold in memory: its place, length and hash are kept."""
        self._open(cursor)
        self._type = "oversize-line"
        self.keep_raw("oversize-line", {"offset": cursor, "length": length, "sha256": sha256})
        return self._close()

    # What a handler calls.

    def emit(
        self,
        kind: str,
        payload: Record,
        *,
        event_id: str | None = None,
        timestamp: str | None = None,
        turn_id: str | None = None,
        model: str | None = None,
        check: bool = False,
        copied: bool = False,
        event_type: str | None = None,
        counts: bool = True,
    ) -> None:
        """Add an event. `counts=False` keeps it out of the message counts (other agents' words)."""
        self.newest = kind
        if kind in _WORDS and not payload["text"]:
            # Text that was cleaned of all it held: nobody said anything.
            self.drop(EMPTY_TEXT)
            return
        given = _GIVEN.get(kind)
        if given is not None and parsing.too_deep(payload.get(given)):
            raise TooDeep
        if kind != events.PROVIDER_RAW:
            self._verdict = "translated"
        self._drafts.append(
            Draft(
                kind,
                payload,
                event_type or self._type,
                event_id,
                timestamp,
                turn_id,
                model,
                self._cursor,
                self._emit_index,
                check,
                copied,
            )
        )
        self._emit_index += 1
        if counts and not copied:
            if kind == events.TOOL_CALL:
                self.facts.tool_calls += 1
            elif kind == events.ASSISTANT_MESSAGE:
                self.facts.assistant_messages += 1
            elif kind == events.USER_MESSAGE:
                self.facts.user_messages += 1

    def emit_typed(
        self,
        text: str,
        attachments: list[Record] | None = None,
        quoted: Sequence[tuple[int, int]] = (),
        **where: Any,
    ) -> None:
        """A message the user typed: kept exactly, cut at its command lines (`where` as for `emit`)."""
        text = texts.whole(text)
        segments = commands.split(text, quoted)
        plain = [segment for segment in segments if segment.command is None and segment.text.strip()]
        if attachments and not plain:
            segments = [commands.Segment(""), *segments] if text else [commands.Segment("")]
        for segment in segments:
            if segment.command is not None:
                before = len(self._drafts)
                self.emit(events.USER_COMMAND, segment.command, **where)
                for draft in self._drafts[before:]:
                    draft.cwd = self.facts.cwd
            elif segment.text.strip() or attachments:
                payload: Record = {"text": segment.text}
                if attachments:
                    payload["attachments"], attachments = attachments, None
                self.emit(events.USER_MESSAGE, payload, **where)
        title = texts.one_line(plain[0].text) if plain else ""
        if title and not where.get("copied"):
            self._prompt_title(title)

    def keep_raw(self, raw_type: str, raw: Any, **where: Any) -> None:
        """Keep an unknown record (or part of one) as it is, less the bytes of images; count its type as unknown."""
        raw_type = texts.one_line(raw_type, _MAX_TYPE) or "untyped"
        self.emit(events.PROVIDER_RAW, {"rawType": raw_type, "raw": texts.without_bytes(raw)}, **where)
        self.facts.saw_unknown(raw_type)
        if self._verdict is None:
            self._verdict = "raw"

    def clean(self, text: str) -> str:
        """`text.clean`, skipped when the line's bytes already show that there is nothing to clean."""
        if len(text) < _SHORT and text.isprintable():
            # Names and ids: no reason to search the whole line.
            return text
        dirty = self._dirty
        if dirty is None:
            line = self._line
            # Each search is a pass over the line: most controls are `\\u00…`, the others are single bytes.
            dirty = self._dirty = b"\xc2" in line or b"\x7f" in line or b"\\u00" in line
        return texts.clean(text) if dirty or "\r" in text or "\b" in text or "\f" in text else text

    def item(self, record_type: str, record: Record, handler: Callable[[Record], None], cursor: int) -> None:
        """One item of a document, or of a list inside a record: booked as a record of its own."""
        self._cursor, self._emit_index, self._verdict, self._type = cursor, 0, None, _type_name(record_type)
        if self.source.layout == "document":
            self.item_ids.append(parsing.anchor(record))
        self._guard(record, handler)
        self._book()

    # Names and odd shapes.

    def _prompt_title(self, title: str) -> None:
        """The first prompt names a session until its provider does."""
        if self.facts.title is None:
            self.facts.set_title(title, "prompt")

    def _name(self, record: Record) -> None:
        try:
            given = self.record_type(record)
        except SHAPE_ERRORS:
            given = "untyped"
        name = self._types.get(given)
        if name is None:
            name = _type_name(given)
            if name == given and len(self._types) < _MAX_TYPES:
                self._types[name] = name
        self._type = name

    def _guard(self, record: Record, handler: Callable[[Record], None]) -> None:
        """A record of an unexpected shape is kept raw, whole, instead of half translated."""
        self._mark()
        try:
            handler(record)
            if self._verdict is None:
                self._keep_whole(record)
        except SHAPE_ERRORS:
            self._take_back()
            self._keep_odd(record)

    def _keep_whole(self, record: Record) -> None:
        self.keep_raw(self._type, record)

    def _keep_odd(self, record: Record) -> None:
        try:
            self._keep_whole(record)
        except SHAPE_ERRORS:
            # Nested deeper than can be written. In a document, the rest of it is to be read nevertheless.
            if self._line:
                self._invalid()
            else:
                self.keep_raw("too-deep", parsing.flat(record))

    def _invalid(self) -> None:
        line = self._line
        self._type = "invalid-line"
        raw: Record = {"length": len(line)}
        if len(line) <= parsing.MAX_INVALID_TEXT:
            raw["text"] = line.decode("utf-8", "replace")
        else:
            raw["sha256"] = hashlib.sha256(line).hexdigest()
        self.keep_raw(self._type, raw)
        self._verdict = "invalid"


def _type_name(given: str) -> str:
    """A record's type as it is counted and written: what a log calls its records is text of anybody's choice."""
    if 0 < len(given) <= _MAX_TYPE and given.isprintable():
        return given
    return texts.one_line(given, _MAX_TYPE) or "untyped"


def text_of(value: Any) -> str:
    """`value` if it is a string, else nothing: for fields that should hold text."""
    return value if isinstance(value, str) else ""


def only_text(value: Any) -> str:
    """`value` where a field holds text or nothing; any other shape makes its record one to keep raw."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"text expected, not {type(value).__name__}")
    return value or ""


def only_list(value: Any) -> list[Any]:
    """The same for a field that holds a list or nothing."""
    if value is not None and not isinstance(value, list):
        raise TypeError(f"list expected, not {type(value).__name__}")
    return value or []


def opt(**fields: Any) -> Record:
    """A payload without its absent (None) fields, which the contract leaves out rather than writes as null."""
    return {key: value for key, value in fields.items() if value is not None}
