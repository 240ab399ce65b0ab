"""What every provider is: a pure translator from log records to drafts of twin events, plus its own files.

Nothing here knows a particular assistant. A translator is a deterministic fold: the same records in the same order
give the same drafts, facts and state, however they are cut into batches and whenever the process restarts.
"""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

import orjson

from kato_tui.core import text as texts
from kato_tui.core.model import events
from kato_tui.core.model.events import CursorKind
from kato_tui.core.model.facts import Facts
from kato_tui.core.record import commands

SourceKind = Literal["main", "subagent", "workflow"]
Layout = Literal["lines", "document"]
Record = dict[str, Any]
ReadHead = Callable[[Path], bytes]

#: An unparsable line is kept as text up to this many bytes; beyond it, as its length and hash.
MAX_INVALID_TEXT: Final = 64 * 1024
#: What damaged or hostile records raise inside a handler that expected another shape.
SHAPE_ERRORS: Final = (TypeError, KeyError, AttributeError, ValueError, IndexError, RecursionError)
#: Fewer brackets than this cannot nest too deep for a JSON writer (orjson gives up at 254 levels).
_SAFE_BRACKETS: Final = 200
#: Kinds that are nothing without their text.
_WORDS: Final = frozenset(
    (
        events.ASSISTANT_MESSAGE,
        events.ASSISTANT_THINKING,
        events.SYSTEM_MESSAGE,
        events.PROVIDER_INFO,
    )
)
EMPTY_TEXT: Final = "text of nothing but control characters"
#: Names of record types are no longer than this; real ones are far below it.
_MAX_TYPE: Final = 80
#: A longer id of an item is remembered as its hash.
_MAX_ANCHOR: Final = 200
#: A shorter text holds fewer brackets than that which are closed again.
_SAFE_LENGTH: Final = 2 * _SAFE_BRACKETS


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

    def __post_init__(self) -> None:
        """Names taken from files whose names are no UTF-8 still have to be written down."""
        for name in ("provider_session_id", "generation", "parent"):
            value = getattr(self, name)
            if value and not value.isascii():
                object.__setattr__(self, name, texts.written_name(value))


@dataclass(slots=True)
class TallyRow:
    """What became of the records of one type. `read` is always the sum of the other counts."""

    read: int = 0
    translated: int = 0
    dropped: int = 0
    repeated: int = 0
    raw: int = 0
    invalid: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)


Tally = dict[str, TallyRow]


class Provider(ABC):
    """One assistant: where its logs are, whose they are, and how they read."""

    name: ClassVar[str]
    cursor_kind: ClassVar[CursorKind] = "byte-offset"
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

    def identity_payload(self, kind: str, payload: Record) -> Any:  # noqa: ARG002
        """The part of a payload that tells two events of one provider id apart."""
        return payload

    def facts_beside(self, source: SourceFile, facts: Facts) -> None:  # noqa: ARG002
        """Add what is not in the log itself but in small files beside it."""
        return

    def ended(self, sources: Iterable[SourceFile]) -> set[str]:  # noqa: ARG002
        """The ids of those sessions whose process has ended, as far as the provider keeps a registry of processes."""
        return set()

    def resume_command(self, facts: Facts) -> str | None:  # noqa: ARG002
        """The shell command that resumes the session in its own assistant, if there is one."""
        return None


def _mtime(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


class Translator(ABC):
    """A fold over one session's records. Subclasses say what a record means; this class keeps the books.

    For each record a handler calls exactly one of: `emit…` (any number of times), `drop`, `repeat`, `keep_raw`.
    A handler that does none of these loses nothing: its record is kept raw.
    """

    def __init__(self, source: SourceFile, state: Record | None = None, facts: Facts | None = None) -> None:
        self.source = source
        self.facts = facts if facts is not None else Facts()
        self.tally: Tally | None = None
        #: Decides which drafts are new, for callers that have no twin to compare with but want exact counts.
        self.sieve: Callable[[Draft], bool] | None = None
        #: Ids of a document's items (hashes of those without), in order: what an item-index cursor is anchored to.
        self.item_ids: list[str] = []
        self._drafts: list[Draft] = []
        self._cursor = 0
        self._emit_index = 0
        self._verdict: str | None = None
        self._reason = ""
        self._line = b""
        #: Whether the line can hold control characters besides CR, BS and FF, which JSON writes short; None until
        #: some text of it has to be cleaned.
        self._dirty: bool | None = True
        self._type = ""
        #: Whether something in the document at hand is nested too deep to be written down.
        self._deep = False
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
        if skipped:
            self._type = skipped[0]
            self.drop(skipped[1])
            return self._close()
        record = parse(line)
        if not isinstance(record, dict):
            self._invalid(line)
            return self._close()
        self._line, self._dirty = line, None
        self._run(record, self.translate)
        # A line may be a hundred megabytes: it is not held until the next one comes.
        self._line = b""
        return self._close()

    def feed_document(self, data: bytes) -> list[Draft] | None:
        """The drafts of a whole document, or None when it is half-written and must be read again later."""
        document = _loaded(data)
        if not isinstance(document, dict):
            return None
        self._deep = not _writable(document)
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
        if kind in _WORDS and not payload["text"]:
            # Text that was cleaned of all it held: nobody said anything.
            self.drop(EMPTY_TEXT)
            return
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
            self._count(kind)

    def emit_typed(self, text: str, attachments: list[Record] | None = None, **where: Any) -> None:
        """A message the user typed: kept exactly, cut at its command lines (`where` as for `emit`)."""
        text = texts.whole(text)
        segments = commands.split(text)
        plain = [segment for segment in segments if segment.command is None and segment.text.strip()]
        if attachments and not plain:
            segments = [commands.Segment(""), *segments] if text else [commands.Segment("")]
        for segment in segments:
            if segment.command is not None:
                self.emit(events.USER_COMMAND, segment.command, **where)
            elif segment.text.strip() or attachments:
                payload: Record = {"text": segment.text}
                if attachments:
                    payload["attachments"], attachments = attachments, None
                self.emit(events.USER_MESSAGE, payload, **where)
        title = texts.one_line(plain[0].text) if plain else ""
        if title and not where.get("copied"):
            self._prompt_title(title)

    def drop(self, reason: str) -> None:
        """Leave the record out; `reason` is its denylist entry."""
        if self._verdict is None:
            self._verdict, self._reason = "dropped", reason

    def repeat(self, reason: str = "already translated") -> None:
        """The record only says again what an earlier one said."""
        if self._verdict is None:
            self._verdict, self._reason = "repeated", reason

    def keep_raw(self, raw_type: str, raw: Any, **where: Any) -> None:
        """Keep an unknown record (or part of one) as it is, less the bytes of images; count its type as unknown."""
        raw_type = texts.one_line(raw_type, _MAX_TYPE) or "untyped"
        self.facts.saw_unknown(raw_type)
        self.emit(events.PROVIDER_RAW, {"rawType": raw_type, "raw": texts.without_bytes(raw)}, **where)
        if self._verdict is None:
            self._verdict = "raw"

    def clean(self, text: str) -> str:
        """`text.clean`, skipped when the line's bytes already show that there is nothing to clean."""
        dirty = self._dirty
        if dirty is None:
            line = self._line
            # Each search is a pass over the line: most controls are `\\u00…`, the others are single bytes.
            dirty = self._dirty = b"\\u00" in line or b"\xc2" in line or b"\x7f" in line
        return texts.clean(text) if dirty or "\r" in text or "\b" in text or "\f" in text else text

    def item(self, record_type: str, record: Record, handler: Callable[[Record], None], cursor: int) -> None:
        """One item of a document, or of a list inside a record: booked as a record of its own."""
        self._cursor, self._emit_index, self._verdict, self._type = cursor, 0, None, _type_name(record_type)
        if self._deep and not _writable(record):
            # One item nested too deep must not keep the rest of its document from being read.
            record, handler = _flat(record), self._keep_deep
        if self.source.layout == "document":
            self.item_ids.append(_anchor(record))
        self._guard(record, handler)
        self._book()

    # Book-keeping.

    def _keep_deep(self, record: Record) -> None:
        self.keep_raw("too-deep", record)

    def _prompt_title(self, title: str) -> None:
        """The first prompt names a session until its provider does."""
        if self.facts.title is None:
            self.facts.set_title(title, "prompt")

    def _count(self, kind: str) -> None:
        if kind == events.USER_MESSAGE:
            self.facts.user_messages += 1
        elif kind == events.ASSISTANT_MESSAGE:
            self.facts.assistant_messages += 1
        elif kind == events.TOOL_CALL:
            self.facts.tool_calls += 1

    def _open(self, cursor: int) -> None:
        self._drafts = []
        self._cursor = cursor
        self._emit_index = 0
        self._verdict = None
        self._reason = ""

    def _run(self, record: Record, handler: Callable[[Record], None]) -> None:
        try:
            self._type = _type_name(self.record_type(record))
        except SHAPE_ERRORS:
            self._type = "untyped"
        self._guard(record, handler)

    def _guard(self, record: Record, handler: Callable[[Record], None]) -> None:
        """A record of an unexpected shape is kept raw, whole, instead of half translated."""
        if not self._tried(record, handler) or self._verdict is None:
            self.keep_raw(self._type, record)

    def _tried(self, record: Record, handler: Callable[[Record], None]) -> bool:
        """Whether `handler` could read the record. If not, all that it told and counted is taken back."""
        drafts, index, verdict, facts = len(self._drafts), self._emit_index, self._verdict, self.facts
        counts = facts.user_messages, facts.assistant_messages, facts.tool_calls
        try:
            handler(record)
        except SHAPE_ERRORS:
            del self._drafts[drafts:]
            self._emit_index, self._verdict = index, verdict
            facts.user_messages, facts.assistant_messages, facts.tool_calls = counts
            return False
        return True

    def _invalid(self, line: bytes) -> None:
        self._type = "invalid-line"
        raw: Record = {"length": len(line)}
        if len(line) <= MAX_INVALID_TEXT:
            raw["text"] = line.decode("utf-8", "replace")
        else:
            raw["sha256"] = hashlib.sha256(line).hexdigest()
        self.keep_raw(self._type, raw)
        self._verdict = "invalid"

    def _close(self) -> list[Draft]:
        if self.tally is not None or self.sieve is not None:
            self._book()
        drafts, self._drafts = self._drafts, []
        return drafts

    def _book(self) -> None:
        first = len(self._drafts) - self._emit_index
        if self.sieve is not None and self._emit_index:
            fresh = [draft for draft in self._drafts[first:] if self.sieve(draft)]
            if not fresh and self._verdict == "translated":
                self._verdict, self._reason = "repeated", "already translated"
            self._drafts[first:] = fresh
        if self.tally is None:
            return
        row = self.tally.get(self._type)
        if row is None:
            row = self.tally[self._type] = TallyRow()
        verdict = self._verdict or "raw"
        row.read += 1
        setattr(row, verdict, getattr(row, verdict) + 1)
        if verdict in ("dropped", "repeated"):
            row.reasons[self._reason] += 1
        for draft in self._drafts[first:]:
            row.kinds[draft.kind] += 1


def _type_name(given: str) -> str:
    """A record's type as it is counted and written: what a log calls its records is text of anybody's choice."""
    if 0 < len(given) <= _MAX_TYPE and given.isprintable():
        return given
    return texts.one_line(given, _MAX_TYPE) or "untyped"


def parse(data: bytes | str) -> Any:
    """JSON as the log writers mean it, or None when it is none, or none that could be written down again.

    orjson refuses NaN, lone surrogates and a BOM, which real writers produce: those few go through the standard
    library. Only text with many brackets can be nested too deep to write, so only that is tried out.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        value = _parse_leniently(data)
    if len(data) < _SAFE_LENGTH:
        return value
    many = data.count(b"{") + data.count(b"[") if isinstance(data, bytes) else data.count("{") + data.count("[")
    return value if many < _SAFE_BRACKETS or _writable(value) else None


def _loaded(data: bytes | str) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _parse_leniently(data)


def _parse_leniently(data: bytes | str) -> Any:
    text = data.decode("utf-8-sig", "replace") if isinstance(data, bytes) else data
    try:
        return texts.encodable(
            json.loads(text, parse_constant=str, parse_int=_number_or_text, parse_float=_number_or_text)
        )
    except (ValueError, RecursionError):
        return None


def _number_or_text(digits: str) -> int | float | str:
    """A number that JSON writers can take back, else its digits: no value is bent to fit."""
    try:
        number = int(digits)
    except ValueError:
        fraction = float(digits)
        return fraction if math.isfinite(fraction) else digits
    return number if -(2**63) <= number < 2**63 else digits


def _writable(value: Any) -> bool:
    """Whether it can be written as part of an event, which adds a few levels of its own."""
    try:
        orjson.dumps([[[[[[value]]]]]])
    except orjson.JSONEncodeError:
        return False
    return True


def _flat(record: Record) -> Record:
    """A record that is nested too deep, as text; its keys where even that cannot be had, or would be too long."""
    try:
        text = json.dumps(record, ensure_ascii=False)
    except RecursionError:
        text = ""
    kept = text if 0 < len(text) <= MAX_INVALID_TEXT else ", ".join(record)[:MAX_INVALID_TEXT]
    return {"id": text_of(record.get("id"))[:_MAX_ANCHOR], "text": kept}


def _anchor(record: Record) -> str:
    """The id of a document's item; a hash where there is none, or none that is short enough to keep."""
    given = text_of(record.get("id"))
    if given and len(given) <= _MAX_ANCHOR:
        return given
    timeless = {key: value for key, value in record.items() if key != "timestamp"}
    return hashlib.sha256(given.encode() or orjson.dumps(timeless, option=orjson.OPT_SORT_KEYS)).hexdigest()


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
