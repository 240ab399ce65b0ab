"""In-chat commands: which lines of a user's message are commands, and what they ask for (spec §8).

Pure text in, segments out. Whether a command is executed is decided elsewhere; here it only becomes an event.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

COMMANDS: Final = ("start", "stop", "capture", "record", "export")

_COMMAND = re.compile(r"[ \t]*::([A-Za-z][A-Za-z-]*)(?:[ \t]+(.*?))?[ \t]*\r?", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)
_FULL_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_FROM = re.compile(r"(?:^|[ \t]+)from[ \t]+(?:-\d+|\"[^\"]*\")$", re.IGNORECASE)
#: Two typed letters off is a slip ("::strat"); further away it is the user's own text.
_SLIP: Final = 0.7


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of a user's message: plain text, or one command line with its payload."""

    text: str
    command: dict[str, Any] | None = None


def split(text: str, quoted: Sequence[tuple[int, int]] = ()) -> list[Segment]:
    """`text` in order, cut at its command lines. Joining the segments' texts gives `text` back.

    A line that begins in a `quoted` range is no command, and neither opens nor closes a code block.
    """
    if "::" not in text:
        return [Segment(text)]
    segments: list[Segment] = []
    plain: list[str] = []
    for line, fenced in _lines(text, quoted):
        payload = None if fenced else parse_line(line.rstrip("\n"))
        if payload is None:
            plain.append(line)
            continue
        if plain:
            segments.append(Segment("".join(plain)))
            plain = []
        segments.append(Segment(line, payload))
    if plain:
        segments.append(Segment("".join(plain)))
    return segments


def _lines(text: str, quoted: Sequence[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    """Every line with its newline, and whether it belongs to a fenced code block or a quote."""
    fence = ""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        line = text[start:end]
        inside = any(first <= start < last for first, last in quoted)
        start = end
        if inside:
            yield line, True
            continue
        match = _FENCE.match(line)
        if fence:
            yield line, True
            if match and match[1].startswith(fence) and not match[2].strip():
                fence = ""
        elif match and not (match[1][0] == "`" and "`" in match[2]):
            fence = match[1]
            yield line, True
        else:
            yield line, False


def parse_line(line: str) -> dict[str, Any] | None:
    """The `user.kato-command` payload of one line, or None when the line is plain text."""
    match = _COMMAND.fullmatch(line)
    if match is None:
        return None
    name, argument = match[1].lower(), (match[2] or "").strip()
    payload: dict[str, Any] = {"command": name, "line": line.strip()}
    if argument:
        payload["rawArgument"] = argument
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=_SLIP)
        if not near:
            return None
        payload["error"] = f"there is no such command, did you mean ::{near[0]}?"
        return payload
    target, error = _target(name, argument)
    if target:
        payload["target"] = target
    if error:
        payload["error"] = error
    return payload


def _target(name: str, argument: str) -> tuple[dict[str, Any] | None, str | None]:
    if name == "stop":
        return _stop_target(argument)
    if name == "export" and not argument:
        return None, "it needs a destination, as in ::export ~/notes/talk.md"
    destination = _FROM.sub("", argument).strip() if name in ("start", "record") else argument
    if destination:
        return {"kind": "destination", "value": destination}, None
    return None, None


def _stop_target(argument: str) -> tuple[dict[str, Any] | None, str | None]:
    if not argument:
        return {"kind": "all"}, None
    prefix, _, rest = argument.partition(":")
    value = rest.strip()
    if prefix.lower() == "id":
        if not value:
            return None, "it needs a recording id, as in ::stop id:7d14af8e"
        exact = _FULL_ID.fullmatch(value.lower()) is not None
        return {"kind": "recording-id", "value": value, "match": "exact" if exact else "prefix"}, None
    if prefix.lower() == "dest":
        if not value:
            return None, "it needs a destination, as in ::stop dest:~/notes/talk.md"
        return {"kind": "destination", "value": value}, None
    # A bare argument may name a destination or an id: the resolver tries both, so no target is claimed here.
    return None, None
