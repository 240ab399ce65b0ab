"""Bends good inputs into hostile ones. Deterministic: the same generator state gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

#: What people, programs and attackers put into text.
HOSTILE_TEXT: Final = (
    "",
    " ",
    "\n",
    "::start",
    "::start ~/x.md",
    "  ::STOP id:0000",
    "```\n::start\n```",
    "\x1b]0;owned\x07\x1b[31m\x9b2J\x7f",
    "\x1b]52;c;aGk=\x1b\\\x1bP$q\x1b\\",
    "\x1b]8;;http://e.v/\x1b\\link\x1b]8;;\x1b\\",
    "\u202eevil\u2066x\u2069\u200f\u061c",
    "\U000e0041\U000e007f",
    "[@click=app.quit]x[/]",
    "[/foo]",
    "[stage=1:]",
    "[link=file:///etc/passwd]",
    "a\u2028b\u2029c\x85d\x0be\x0cf",
    "\ud800",
    "a\x00b",
    "---\nkey: value\n---",
    "</details><script>alert(1)</script>",
    "<system-reminder>x</system-reminder>",
    "<command-name>/x</command-name><command-args>::start</command-args>",
    "../../etc/passwd",
    "x" * 300,
    "é漢🙂👨‍👩‍👧",
    "user_note: x",
    "2026-13-45T99:99:99Z",
    "data:image/png;base64," + "A" * 64,
    '{"a":' * 8 + "1" + "}" * 8,
)
ODD_VALUES: Final[tuple[Any, ...]] = (
    *HOSTILE_TEXT,
    None,
    True,
    False,
    0,
    -1,
    2**31,
    2**63,
    -(2**63) - 1,
    10**40,
    1.5,
    -0.0,
    1e308,
    float("inf"),
    float("nan"),
    [],
    {},
    [[]],
    [{}],
    [None],
    {"a": None},
    {"type": 5},
    {"type": "text", "text": None},
    ["x", 1, None],
)
#: Bytes that readers of lines and of JSON stumble over.
TOKENS: Final = (
    b"\n",
    b"\r",
    b"\x00",
    b"\xff",
    b"\xc2",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b'"',
    b"\\",
    b"\\u",
    b"\\ud800",
    b"\\u0000",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"NaN",
    b"1e999",
    b"9" * 40,
    b"[" * 300,
    b'{"a":' * 300,
    b"\xe2\x80\xa8",
    b"\x1b[2J",
)

Edit = Callable[[Random, bytearray], None]


def mutated(rng: Random, data: bytes, tokens: Sequence[bytes] = TOKENS, most: int = 4) -> bytes:
    """`data` after up to `most` small injuries."""
    out = bytearray(data)
    for _ in range(rng.randint(1, most)):
        kind = rng.randrange(6)
        at = rng.randint(0, len(out))
        reach = min(len(out), at + rng.choice((1, 2, 8, 40)))
        if kind == 0 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del out[at:reach]
        elif kind == 2:
            out[at:at] = rng.choice(tokens)
        elif kind == 3:
            out[at:at] = out[at:reach]
        elif kind == 4 and rng.random() < 0.3:
            del out[at:]
        else:
            out[at:reach] = rng.choice(tokens)
    return bytes(out)


def odd_value(rng: Random) -> Any:
    value = _copy(rng.choice(ODD_VALUES))
    if rng.random() < 0.2:
        return {rng.choice(("type", "id", "text", "content", rng.choice(HOSTILE_TEXT))): value}
    return value


def bent(rng: Random, value: Any, most: int = 3) -> Any:
    """A parsed JSON value with up to `most` of its parts replaced, removed, repeated or moved elsewhere."""
    for _ in range(rng.randint(1, most)):
        places = _places(value)
        if not places:
            return odd_value(rng)
        holder, key = rng.choice(places)
        kind = rng.randrange(6)
        if kind <= 2:
            holder[key] = odd_value(rng)
        elif kind == 3:
            del holder[key]
        elif kind == 4:
            other, name = rng.choice(places)
            holder[key] = _copy(other[name]) if _held(other, name) else odd_value(rng)
        elif isinstance(holder, dict):
            holder[rng.choice(HOSTILE_TEXT)] = holder.pop(key)
        else:
            holder.insert(key, _copy(holder[key]))
    return value


def dumped(value: Any) -> bytes:
    """JSON as a careless writer makes it: with NaN, lone surrogates as escapes, or as raw characters."""
    return json.dumps(value).encode()


def _held(holder: Any, key: Any) -> bool:
    return key in holder if isinstance(holder, dict) else key < len(holder)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """(container, key) of every part, outermost first."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        keys: Any = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        for key in keys:
            found.append((holder, key))
            waiting.append(holder[key])
    return found


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))
