"""Destinations as people write them, turned into one absolute path (spec §8).

Pure text: the file system is only asked through the two predicates of `Place`. Whether kato-tui may write there is
decided elsewhere, on the canonical path (`policy`), so nothing here resolves `..` or links.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal
from urllib.parse import unquote

from kato_tui.core import identity
from kato_tui.core.errors import KatoError
from kato_tui.core.paths import safe_name

Format = Literal["markdown", "jsonl"]


class DestinationError(KatoError):
    """The destination cannot be understood; the message names it, the reason and the next step."""


@dataclass(frozen=True, slots=True)
class TurnsBack:
    """`from -3`: begin that many user turns back."""

    count: int


@dataclass(frozen=True, slots=True)
class SinceText:
    """`from "text"`: begin at the last user message that contains the text."""

    text: str


Begin = TurnsBack | SinceText


@dataclass(frozen=True, slots=True)
class Argument:
    """A command's raw argument, understood: where to (None: the default destination) and from when (None: now)."""

    path: str | None = None
    begin: Begin | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """What a written destination is relative to, and the only two questions asked of the file system."""

    user_home: Path
    recordings: Path
    #: The session's own working directory, when the provider states it.
    cwd: Path | None
    #: Unlike `Path.is_dir`, these say no, instead of raising, to names that no file system takes.
    is_dir: Callable[[Path], bool] = os.path.isdir
    exists: Callable[[Path], bool] = os.path.lexists


@dataclass(frozen=True, slots=True)
class Naming:
    """What a generated file name is made of."""

    provider: str
    session_id: str
    recording_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a recording goes. `path` is absolute but not canonical yet: that is the policy's work."""

    path: Path
    format: Format
    generated: bool = False


#: Must cut exactly what `commands` cuts off when it names the target in the event.
_FROM = re.compile(r"(?:^|[ \t]+)from[ \t]+(?:-(?P<turns>\d+)|\"(?P<text>[^\"]*)\")$", re.IGNORECASE)
_WITH_FROM: Final = ("start", "record")
_MAX_TURN_DIGITS: Final = 6

#: Line breaks and bidi overrides forge what a person reads on one line; no file can be named by a lone surrogate.
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SHOWN: Final = 300

_LINK = re.compile(r"\[.*?\]\((?P<target>.*)\)", re.DOTALL)
_LINK_TITLE = re.compile(r"[ \t]+(?:\"[^\"]*\"|'[^']*')$")
_FILE_URL = re.compile(r"file://(?:localhost)?(?=/)", re.IGNORECASE)
#: Editors write the selected lines behind the file they mention.
_LINES = re.compile(r"#L\d+(?:-L?\d+)?$")
#: Terminals (a dropped file) and Gemini's mentions escape what a shell would split or expand.
_ESCAPED = re.compile(r"\\([^A-Za-z0-9])")

#: Written like this, a path would silently become a folder of that very name below the working directory.
_REFUSED: Final = (
    (re.compile(r"~[^/]"), "only ~ and ~/… stand for a home folder. Write the full path"),
    (re.compile(r"\$\{?[A-Za-z_]"), "variables are not expanded. Write ~ or the full path"),
    (re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://"), "it is not a file on this computer. Write a path, as in ~/notes/x.md"),
)


def forbidden_character(text: str) -> str | None:
    """The first character that no destination may hold, as `U+000A`."""
    found = _FORBIDDEN.search(text)
    return f"U+{ord(found[0]):04X}" if found else None


def shown(text: str) -> str:
    """`text` fit for a message or an audit line: one line, encodable, of bounded length."""
    cut = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return _FORBIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", cut)


def format_of(path: Path) -> Format:
    """`.jsonl` records canonical events, anything else Markdown."""
    return "jsonl" if path.suffix.lower() == ".jsonl" else "markdown"


def parse_argument(command: str, raw: str | None) -> Argument:
    """The raw argument of start, record, capture or export."""
    text = (raw or "").strip()
    match = _FROM.search(text)
    if match is None:
        return Argument(path=unwrap(text) if text else None)
    if command not in _WITH_FROM:
        raise DestinationError(
            f"::{command} always takes everything so far, so it has no {shown(match[0].strip())}. "
            "Leave it out, or use ::start or ::record"
        )
    written = text[: match.start()].strip()
    return Argument(path=unwrap(written) if written else None, begin=_begin(match))


def _begin(match: re.Match[str]) -> Begin:
    turns, text = match["turns"], match["text"]
    if turns is None:
        if not text.strip():
            raise DestinationError(
                'cannot begin from "": it is empty. Quote some words of the message, as in from "plan"'
            )
        return SinceText(text)
    if len(turns) > _MAX_TURN_DIGITS or int(turns) == 0:
        raise DestinationError(f"cannot begin from -{shown(turns)}: count user turns from 1 on, as in from -3")
    return TurnsBack(int(turns))


def unwrap(written: str) -> str:
    """The path inside the quotes, mention, link or backticks that `written` dresses it in."""
    text = written.strip()
    path = _undress(text)
    if not path:
        raise DestinationError(
            f"no destination in {shown(text) or 'the argument'}: it is empty. Write a path, as in ~/notes/x.md"
        )
    character = forbidden_character(path)
    if character:
        raise DestinationError(
            f"cannot use {shown(path)}: it holds the character {character}. Write the path without it"
        )
    for pattern, reason in _REFUSED:
        if pattern.match(path):
            raise DestinationError(f"cannot use {shown(path)}: {reason}")
    return path


def _undress(text: str) -> str:
    link = _LINK.fullmatch(text)
    if link:
        return _link_target(link["target"])
    if text.startswith("<") and text.endswith(">"):
        return _link_target(text)
    if _FILE_URL.match(text):
        return _decoded(text)
    if text.startswith("@"):
        mention = text[1:]
        return _quoted(mention) if mention[:1] in _QUOTES else _ESCAPED.sub(r"\1", _LINES.sub("", mention))
    return _quoted(text) if text[:1] in _QUOTES else _ESCAPED.sub(r"\1", text)


_QUOTES: Final = ('"', "'", "`")


def _quoted(text: str) -> str:
    quote = text[0]
    inner, closed, rest = text[1:].partition(quote)
    if not closed:
        raise DestinationError(
            f"cannot use {shown(text)}: the quote {quote} is not closed. Put {quote} at the end of the path"
        )
    if rest:
        raise DestinationError(
            f"cannot use {shown(text)}: there is more after the closing {quote}. "
            f'Put the whole path in quotes; what may follow is from -3 or from "text"'
        )
    return inner


def _link_target(target: str) -> str:
    text = target.strip()
    if text.startswith("<") and ">" in text:
        return _decoded(text[1 : text.rindex(">")])
    return _decoded(_LINK_TITLE.sub("", text))


def _decoded(url: str) -> str:
    """The path that a link or file address means; decoded once, after its fragment has gone."""
    text = _FILE_URL.sub("", _LINES.sub("", url.strip()), count=1)
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise DestinationError(f"cannot use {shown(url)}: its %-codes are not UTF-8. Write the path itself") from None


def absolute(path: str, place: Place) -> Path:
    """An unwrapped path made absolute: against the home folder or the session's working directory, never kato-tui's."""
    if path == "~" or path.startswith("~/"):
        return place.user_home / path[2:].lstrip("/")
    if path.startswith("/"):
        return Path(path)
    if place.cwd is None or not place.cwd.is_absolute():
        raise DestinationError(
            f"cannot use {shown(path)}: it is relative, and this session's working directory is not known. "
            f"Write it as {shown(f'~/{path}')} or as a full path"
        )
    return place.cwd / path


def resolve(path: str | None, place: Place, naming: Naming) -> Destination:
    """Where a recording named `path` (from `Argument.path`) goes; a folder, or None, gets a generated name."""
    if path is None:
        return Destination(_free_name(place.recordings, place, naming), "markdown", generated=True)
    target = absolute(path, place)
    if path == "~" or path.rpartition("/")[2] in ("", ".", "..") or place.is_dir(target):
        return Destination(_free_name(target, place, naming), "markdown", generated=True)
    return Destination(target, format_of(target))


def generated_name(naming: Naming) -> str:
    """The name without its ending, sortable by provider and session."""
    parts = (
        safe_name(naming.provider),
        safe_name(identity.short_id(naming.session_id)),
        safe_name(identity.short_id(naming.recording_id)),
        naming.at.strftime("%Y-%m-%d_%H%M"),
    )
    return "-".join(parts)


#: The name holds a random id: many taken ones mean that the predicate or the folder is broken, not bad luck.
_MOST_TAKEN: Final = 1000


def _free_name(folder: Path, place: Place, naming: Naming) -> Path:
    stem = generated_name(naming)
    for number in range(1, _MOST_TAKEN + 1):
        path = folder / (f"{stem}.md" if number == 1 else f"{stem}-{number}.md")
        if not place.exists(path):
            return path
    raise DestinationError(
        f"cannot find a free name in {shown(str(folder))}: {stem}.md and so on are taken. Name a file yourself"
    )
