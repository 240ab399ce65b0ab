"""The parts of a Gemini message: `content` is a string, a part, or a list of strings and parts (PartListUnion)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

from kato_tui.core import text as texts
from kato_tui.core.providers.base import Record, text_of

#: Keys that say something about a part without being content themselves.
_ATTRIBUTES: Final = frozenset({"text", "thought", "thoughtSignature", "videoMetadata"})
#: No log is nested deeper: such lines are invalid (see `base.parse`).
_MAX_DEPTH: Final = 250
#: A string this short is no file, whatever its key is called.
_MIN_BYTES: Final = 64
_MAX_LABEL: Final = 80


@dataclass(slots=True)
class Content:
    """The parts of one message by what they are, each kind in its own order."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[Record] = field(default_factory=list)
    responses: list[Record] = field(default_factory=list)
    media: list[Record] = field(default_factory=list)
    unknown: list[tuple[str, Any]] = field(default_factory=list)

    def left(self, *told: str) -> list[tuple[str, Any]]:
        """The parts of kinds that this type of message does not have, as unknown ones."""
        rest: list[tuple[str, Any]] = []
        if "thoughts" not in told:
            rest += [("part.thought", {"text": text}) for text in self.thoughts]
        if "calls" not in told:
            rest += [("part.functionCall", without_bytes(call)) for call in self.calls]
        if "responses" not in told:
            rest += [("part.functionResponse", without_bytes(response)) for response in self.responses]
        return [*self.unknown, *rest]

    @property
    def text(self) -> str:
        """As the CLI itself joins text parts: they carry their own line ends."""
        return "".join(self.texts)


def read(value: Any) -> Content:
    content = Content()
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, str):
            content.texts.append(part)
        elif isinstance(part, dict):
            _part(part, content)
        elif part is not None:
            content.unknown.append(("part", part))
    return content


def _part(part: Record, content: Content) -> None:
    text = part.get("text")
    told = set(_ATTRIBUTES)
    if isinstance(text, str) and text:
        (content.thoughts if part.get("thought") else content.texts).append(text)
    elif text is not None and not isinstance(text, str):
        told.discard("text")
    for key, into in (("functionCall", content.calls), ("functionResponse", content.responses)):
        value = part.get(key)
        if isinstance(value, dict):
            into.append(value)
            told.add(key)
    facts = media(part)
    if facts is not None:
        content.media.append(facts)
        told |= {"inlineData", "fileData"}
    names = sorted(key for key in part if key not in told)
    if names:
        content.unknown.append((f"part.{names[0]}", without_bytes({name: part[name] for name in names})))


def media(part: Record) -> Record | None:
    """Facts about the image or file of a part, if it is one."""
    inline, file = part.get("inlineData"), part.get("fileData")
    if isinstance(inline, dict):
        data, name = inline.get("data"), inline.get("displayName")
        return texts.media_facts(
            _media_type(inline), data if isinstance(data, str) else None, name if isinstance(name, str) else None
        )
    if isinstance(file, dict):
        return texts.media_facts(_media_type(file), None, text_of(file.get("fileUri")) or None)
    return None


def _media_type(value: Record) -> str | None:
    return texts.one_line(text_of(value.get("mimeType"))) or None


def without_bytes(value: Any, depth: int = 0) -> Any:
    """`value` with every base64 blob (an object with `data` and `mimeType`) replaced by facts about it."""
    if depth > _MAX_DEPTH:
        return value
    if isinstance(value, list):
        return [without_bytes(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    data = value.get("data")
    if isinstance(data, str) and len(data) >= _MIN_BYTES and isinstance(value.get("mimeType"), str):
        return {**value, "data": texts.media_text(texts.media_facts(_media_type(value), data))}
    return {key: without_bytes(item, depth + 1) for key, item in value.items()}


def label(value: Any) -> str:
    """A short name in one clean line, "" for anything that is no text. Real names need no cleaning: most are as is."""
    if not isinstance(value, str):
        return ""
    if len(value) <= _MAX_LABEL and value.isascii() and value.isprintable() and " " not in value:
        return value
    return texts.one_line(value, _MAX_LABEL)


def digest(*pieces: str) -> str:
    """A short fingerprint for state that must stay small."""
    return fingerprint("\0".join(pieces).encode("utf-8", "replace"))


def fingerprint(data: bytes) -> str:
    return blake2b(data, digest_size=6).hexdigest()


def name_of(ident: str) -> str:
    """The digest of an id. It is asked for many times while the id's record is told."""
    return _short_name(ident) if len(ident) <= _MAX_LABEL else digest(ident)


@lru_cache(maxsize=64)
def _short_name(ident: str) -> str:
    return digest(ident)


def moment_after(time: str) -> str:
    """Two seconds later: longer than a program takes to write its history, too short for a person to answer."""
    later = datetime.fromisoformat(time).astimezone(UTC)
    try:
        later += timedelta(seconds=2)
    except OverflowError:
        return time
    return later.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def iso(value: Any) -> str | None:
    """The provider's own ISO-8601 time, in UTC; None for anything that is no such time."""
    if not isinstance(value, str) or not 19 <= len(value) <= 40 or value[4] != "-" or value[10] != "T":
        return None
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return None
    if value.endswith("Z"):
        return value
    if time.tzinfo is None:
        return None
    try:
        return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except OverflowError:
        return None
