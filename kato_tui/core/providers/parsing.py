"""From a log's bytes to JSON values, and what of them can be written down again. Knows no assistant."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, Final

import orjson

from kato_tui.core import text as texts

#: What cannot be parsed is kept as text up to this many bytes; beyond it, as its length and hash.
MAX_INVALID_TEXT: Final = 64 * 1024
#: Fewer brackets than this cannot nest too deep for a JSON writer (orjson gives up at 254 levels).
_SAFE_BRACKETS: Final = 200
#: A shorter text holds fewer brackets than that which are closed again.
_SAFE_LENGTH: Final = 2 * _SAFE_BRACKETS
#: A longer id of an item is remembered as its hash.
_MAX_ANCHOR: Final = 200


def parse(data: bytes | str) -> Any:
    """JSON as the log writers mean it, or None when it is none, or none that could be written down again.

    Only text with many brackets can be nested too deep to write, so only that is tried out.
    """
    value = loaded(data)
    if len(data) < _SAFE_LENGTH:
        return value
    many = data.count(b"{") + data.count(b"[") if isinstance(data, bytes) else data.count("{") + data.count("[")
    return value if many < _SAFE_BRACKETS or _writable(value) else None


def loaded(data: bytes | str) -> Any:
    """The same, however deep it is nested.

    orjson refuses NaN, lone surrogates and a BOM, which real writers produce: those few go through the standard
    library.
    """
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


def too_deep(value: Any) -> bool:
    """Whether a value is nested too deep to be written down. Most are flat, which a look at their parts tells."""
    if type(value) is dict:
        parts: Any = value.values()
    elif type(value) is list:
        parts = value
    else:
        return False
    for part in parts:
        if type(part) is dict or type(part) is list:
            return not _writable(value)
    return False


def _writable(value: Any) -> bool:
    """Whether it can be written as part of an event, which adds a few levels of its own."""
    try:
        orjson.dumps([[[[[[value]]]]]])
    except orjson.JSONEncodeError:
        return False
    return True


def flat(record: dict[str, Any]) -> dict[str, Any]:
    """A record that is nested too deep, as text; its keys where even that cannot be had, or would be too long."""
    try:
        text = json.dumps(record, ensure_ascii=False)
    except RecursionError:
        text = ""
    kept = text if 0 < len(text) <= MAX_INVALID_TEXT else ", ".join(record)[:MAX_INVALID_TEXT]
    given = record.get("id")
    return {"id": given[:_MAX_ANCHOR] if isinstance(given, str) else "", "text": kept}


def anchor(record: dict[str, Any]) -> str:
    """The id of a document's item; a hash where there is none, or none that is short enough to keep."""
    given = record.get("id")
    if isinstance(given, str) and 0 < len(given) <= _MAX_ANCHOR:
        return given
    if isinstance(given, str) and given:
        return hashlib.sha256(given.encode()).hexdigest()
    timeless = {key: value for key, value in record.items() if key != "timestamp"}
    if too_deep(timeless):
        timeless = flat(timeless)
    return hashlib.sha256(orjson.dumps(timeless, option=orjson.OPT_SORT_KEYS)).hexdigest()
