"""Text clean-up at the border between logs and twin (spec §6).

`clean` is for text that programs wrote; `whole` is for text a person typed, which is kept exactly and only made
encodable. Showing text on a terminal needs more than this: that is the view's business.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Any

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b[\]PX^_].*?(?:\x1b\\|\x07|\x9c|$)"  # OSC, DCS, SOS, PM, APC with their payload
    r"|\x1b[ -/]*[0-~]"  # two-character escapes
    r"|\x9b[0-?]*[ -/]*[@-~]"  # CSI as one C1 byte
    r"|[\x90\x98\x9d\x9e\x9f].*?(?:\x1b\\|\x07|\x9c|$)",  # the C1 forms of OSC and friends
    re.DOTALL,
)
#: All controls but tab, newline and carriage return, as UTF-8 holds them: C0 and DEL are single bytes, C1 are pairs.
_CONTROLS = bytes((*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F))
_C1_LEAD = b"\xc2"
_C1_CONTROLS = re.compile(rb"\xc2[\x80-\x9f]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
#: An unterminated escape must not swallow a whole document, so escapes are only looked for in slices this long.
_ESCAPE_REACH = 4096
#: Bytes written as base64: in a data URL of any length, else a run that is longer than any word or path.
_BLOB = re.compile(r"(?:data:[\w.+-]{1,64}/[\w.+-]{1,64};base64,)[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/]{1024,}={0,2}")
_DATA_URL = "data:"


def whole(text: str) -> str:
    """`text` unchanged, except that lone surrogates, which no file can hold, become U+FFFD."""
    if text.isascii():
        return text
    try:
        # Many times faster than to search for what is hardly ever there.
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\ufffd", text)
    return text


def clean(text: str) -> str:
    """`text` without terminal control sequences and control characters; line ends become newlines."""
    if "\x1b" in text or "\x9b" in text or "\x9d" in text or "\x90" in text:
        text = _strip_escapes(text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = whole(text)
    data = text.encode()
    kept = data.translate(None, _CONTROLS)
    if _C1_LEAD in kept:
        kept = _C1_CONTROLS.sub(b"", kept)
    return text if len(kept) == len(data) else kept.decode()


def _strip_escapes(text: str) -> str:
    out: list[str] = []
    position = 0
    for match in _ESCAPES.finditer(text):
        start, end = match.span()
        if start < position:
            continue
        out.append(text[position:start])
        # A string escape that runs past its reach has no terminator: only its introducer goes.
        position = end if end - start <= _ESCAPE_REACH else start + 2
    out.append(text[position:])
    return "".join(out)


def one_line(text: str, limit: int = 120) -> str:
    """The first non-blank line of `text`, cleaned and cut: what a title or a list row shows."""
    for line in clean(text[: limit * 64]).split("\n"):
        words = " ".join(line.split())
        if words:
            return words if len(words) <= limit else words[: limit - 1].rstrip() + "…"
    return ""


def written_name(name: str) -> str:
    """A file name (or path) that any file can hold: bytes that are no UTF-8 are written as `\\xff`."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") if not name.isascii() else name


def encodable(value: Any) -> Any:
    """`value` (parsed JSON) with every lone surrogate replaced, keys included."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, list):
        return [encodable(item) for item in value]
    if isinstance(value, dict):
        return {whole(key): encodable(item) for key, item in value.items()}
    return value


def media_facts(media_type: str | None, data: str | None, name: str | None = None) -> dict[str, Any]:
    """An `attachments` entry for base64 `data`: what it was and how to recognise it, never the bytes."""
    facts: dict[str, Any] = {"mediaType": media_type or "application/octet-stream"}
    if data:
        try:
            blob = base64.b64decode(data, validate=False)
        except (binascii.Error, ValueError):
            blob = data.encode("utf-8", "replace")
        facts["size"] = len(blob)
        facts["sha256"] = hashlib.sha256(blob).hexdigest()
    if name:
        facts["name"] = whole(name)
    return facts


def media_text(facts: dict[str, Any]) -> str:
    """The same facts as a placeholder inside text, for places that only hold text."""
    parts = [str(facts["mediaType"])]
    if "size" in facts:
        parts.append(f"{facts['size']} bytes")
    if "sha256" in facts:
        parts.append(f"sha256 {str(facts['sha256'])[:12]}")
    if "name" in facts:
        parts.append(str(facts["name"]))
    return f"[{', '.join(parts)}]"


def without_bytes(value: Any) -> Any:
    """`value` (parsed JSON) with base64 data replaced by what it was: for data that no handler knows."""
    if isinstance(value, str):
        return _BLOB.sub(_described, value) if len(value) >= 1024 or _DATA_URL in value else value
    if isinstance(value, list):
        return [without_bytes(item) for item in value]
    if not isinstance(value, dict):
        return value
    out = {key: without_bytes(item) for key, item in value.items()}
    data = value.get("data")
    if value.get("type") == "base64" and isinstance(data, str) and out["data"] == data:
        kind = value.get("media_type")
        out["data"] = media_text(media_facts(kind if isinstance(kind, str) else None, data))
    return out


def _described(match: re.Match[str]) -> str:
    head, comma, data = match[0].rpartition(",")
    return media_text(media_facts(head.removeprefix(_DATA_URL).partition(";")[0] if comma else None, data))
