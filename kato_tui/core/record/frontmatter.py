"""The YAML head of a Markdown recording: made for a new file, joined in a file of the user's (spec §9).

Joining is an edit of single lines, never a load and dump: the user's keys, order, comments, quotes and line ends stay.
Where the head is too odd to be edited with certainty it is left alone; the recording works just as well without.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from kato_tui.core import text as texts

_KEY: Final = "recordingIds"
_MAX_TITLE: Final = 200
_BOM: Final = "\ufeff"
_FENCE = re.compile(r"(?:---|\.\.\.)[ \t]*\r?\n?")
#: A line at the margin that begins an entry: a plain or quoted key, a colon, and nothing or a blank behind it.
_ENTRY = re.compile(r"(?P<key>\"[^\"\\]*\"|'[^']*'|[^\s#&*!|>'\"%@`\[\]{},:?-][^#:]*|[^\s#]):(?P<value>(?:[ \t].*)?)$")
_ITEM = re.compile(r"(?P<indent>[ ]*)-(?:[ \t]|$)")
_FLOW = re.compile(r"\[(?P<items>(?:\"[^\"\\]*\"|'[^']*'|[^\[\]{}#&*!|>\"'])*)\]")
_SCALAR = re.compile(r"\"[^\"\\]*\"|'[^']*'|[\w./-]+(?: [\w./-]+)*")
_NOTHING: Final = frozenset({"", "~", "null", "Null", "NULL"})


@dataclass(frozen=True, slots=True)
class RecordingCard:
    """What the head of a new file says. What is not known is left out."""

    session_id: str
    recording_id: str
    provider: str
    title: str | None = None
    created: str | None = None
    models: tuple[str, ...] = ()
    #: Set when the file of a running recording was moved or deleted and a new one goes on in its place.
    continued_from: int | None = None


@dataclass(frozen=True, slots=True)
class Merged:
    """A new head, and how many bytes of the file it stands for."""

    block: bytes
    replaces: int


def header(card: RecordingCard) -> bytes:
    """The head of a new file. All text is quoted: titles come from conversations and may look like YAML."""
    rows = [f"id: {_quoted(card.recording_id)}"]
    title = texts.one_line(card.title or "", _MAX_TITLE)
    if title:
        rows.append(f"title: {_quoted(title)}")
    if card.created is not None:
        rows.append(f"created: {_quoted(card.created)}")
    rows += [f"sessionId: {_quoted(card.session_id)}", f"{_KEY}: [{_quoted(card.recording_id)}]"]
    people = ["User", *(texts.one_line(model) for model in card.models or (card.provider,))]
    rows.append(f"participants: [{', '.join(map(_quoted, people))}]")
    rows.append(f"tags: [{_quoted(f'provider.{card.provider}')}]")
    if card.continued_from is not None:
        rows.append(f"continuedFrom: {card.continued_from}")
    return ("---\n" + "\n".join(rows) + "\n---\n").encode("utf-8", "replace")


def _quoted(text: str) -> str:
    """A YAML scalar: JSON's strings are YAML's, once nothing is left in them that only one of the two may hold."""
    return json.dumps("".join(char for char in text if char.isprintable()), ensure_ascii=False)


def merge(head: bytes, recording_id: str) -> Merged | None:
    """The head of an existing file with `recording_id` in it; None when there is nothing to change, or no safe way."""
    lines = head.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    end = _end_of(lines)
    if end is None or any("\x0b" in line or "\x0c" in line for line in lines[: end + 1]):
        return None
    changed = _joined(lines[1:end], recording_id, "\r\n" if lines[0].endswith("\r\n") else "\n")
    if changed is None:
        return None
    old, new = "".join(lines[: end + 1]), "".join([lines[0], *changed, lines[end]])
    return Merged(new.encode("utf-8", "surrogateescape"), len(old.encode("utf-8", "surrogateescape")))


def _end_of(lines: list[str]) -> int | None:
    """The line that closes the head. A marker at the margin always does, even in the middle of a text."""
    if not lines or lines[0].removeprefix(_BOM).rstrip() != "---":
        return None
    return next((number for number, line in enumerate(lines[1:], 1) if _FENCE.fullmatch(line)), None)


def _joined(body: list[str], recording_id: str, newline: str) -> list[str] | None:
    entries = _entries(body)
    if entries is None:
        return None
    mine = [number for number, key, _ in entries if key == _KEY]
    if not mine:
        return [*body, f"{_KEY}: [{_quoted(recording_id)}]{newline}"]
    if len(mine) > 1:
        return None
    start = mine[0]
    following = [number for number, _, _ in entries if number > start]
    stop = following[0] if following else len(body)
    if any(recording_id in line for line in body[start:stop]):
        return None
    joined = _entry_with(body[start:stop], recording_id, newline)
    return [*body[:start], *joined, *body[stop:]] if joined is not None else None


def _entries(body: list[str]) -> list[tuple[int, str, str]] | None:
    """(line, key, value) of each entry at the margin; None when something there is no plain entry."""
    found: list[tuple[int, str, str]] = []
    for number, line in enumerate(body):
        text = line.rstrip("\r\n")
        if not text.strip() or text.lstrip(" ").startswith("#") or (text[0] == " " and found):
            continue
        if _ITEM.match(text) and found and found[-1][2] in _NOTHING:
            continue
        entry = _ENTRY.fullmatch(text)
        if entry is None:
            return None
        value = _without_comment(entry["value"])
        if value is None:
            return None
        found.append((number, entry["key"].strip().strip("'\""), value))
    return found


def _without_comment(value: str) -> str | None:
    """A value without its comment; None when a quoted text in it does not end on its line."""
    text = value.strip()
    if text[:1] in ("'", '"'):
        quote = text[0]
        closed = re.match(r"\"(?:[^\"\\]|\\.)*\"" if quote == '"' else r"'(?:[^']|'')*'", text)
        return closed[0] if closed is not None else None
    return re.split(r"(?:^|[ \t])#", text, maxsplit=1)[0].strip()


def _entry_with(lines: list[str], recording_id: str, newline: str) -> list[str] | None:
    """The lines of `recordingIds` with one more id."""
    first, rest = lines[0], lines[1:]
    entry = _ENTRY.fullmatch(first.rstrip("\r\n"))
    assert entry is not None  # it was found by this very pattern
    value = _without_comment(entry["value"]) or ""
    if value in _NOTHING and any(_ITEM.match(line) for line in rest):
        return _in_block(first, rest, recording_id, newline)
    if any(line.strip() and not line.lstrip().startswith("#") for line in rest):
        return None
    added = _in_line(value, recording_id)
    if added is None:
        return None
    at = entry.start("value")
    before, after = first[:at], first[at:]
    if value:
        return [before + after.replace(value, added, 1), *rest]
    return [f"{before} {added}{after}", *rest]


def _in_line(value: str, recording_id: str) -> str | None:
    quoted = _quoted(recording_id)
    if value in _NOTHING:
        return f"[{quoted}]"
    flow = _FLOW.fullmatch(value)
    if flow is not None:
        items = flow["items"]
        comma = "" if not items.strip() else " " if items.rstrip().endswith(",") else ", "
        return f"[{items}{comma}{quoted}]"
    return f"[{value}, {quoted}]" if _SCALAR.fullmatch(value) else None


def _in_block(first: str, rest: list[str], recording_id: str, newline: str) -> list[str] | None:
    """After the last item of a block list, indented like the others."""
    items = [(number, match) for number, line in enumerate(rest) if (match := _ITEM.match(line)) is not None]
    indent = items[0][1]["indent"]
    last = max(number for number, match in items if match["indent"] == indent)
    inner = [line for line in rest[items[0][0] :] if line.strip() and not line.lstrip().startswith("#")]
    if len(inner) != len(items) or any(match["indent"] != indent for _, match in items):
        return None
    ended = rest[last] if rest[last].endswith("\n") else rest[last] + newline
    return [first, *rest[:last], ended, f"{indent}- {_quoted(recording_id)}{newline}", *rest[last + 1 :]]
