"""Text from a conversation, made fit for a Markdown file: it stays readable Markdown and cannot break out.

Whatever the text holds, after `block` it can neither end a `<details>`, open a fence over what follows, pass for a
speaker's heading, nor act on a terminal. Headings of the first level are the speakers': a text that has some of its own
is moved one level down. Everything else is kept as it was typed. Where it is not certain that something is code, it is
escaped: a stray backslash is ugly, a live `<script>` is not acceptable.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from typing import Final

from kato_tui.core import text as texts
from kato_tui.core.record.markdown_blocks import Leaf, TooDeep, outline

#: What acts on a terminal or reorders what is read. Directional marks and joiners stay: scripts and emoji need them.
_ACTIVE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0001-\U000e007f]",
)
_ASCII: Final = bytes(range(0x80))
_CONTROLS: Final = bytes(code for code in _ASCII if code < 0x20 and code not in b"\t\n") + b"\x7f"
_PICTURES: Final = 0x2400

#: A `<` that starts a tag, comment, declaration or instruction, and not an address in angle brackets.
_TAG = re.compile(r"<(?=[A-Za-z/!?])(?!(?:https?|ftp|file|mailto):[^\x00-\x20<>`]*>|[\w.+-]+@[\w.-]+>)")
_MARKUP = re.compile(r"\\.?|`+", re.DOTALL)
_TICKS = re.compile(r"`+")
#: Link tails are read before code spans are: unless they are this plain, they may hide a backtick.
_ODD_TAIL = re.compile(r"\](?=[(\[])(?!\([^\s()<>`]*\)|\[[^\[\]`]*\])")
_LINK_HINT = re.compile(r"://|www\.", re.IGNORECASE)
_BARE_LINK = re.compile(r"(?:://|www\.)\S*$", re.IGNORECASE)
_DELIMITER_ROW = re.compile(r"^[ \t|:-]+$", re.MULTILINE)
_CELL_END = re.compile(r"(?<!\\)\||\n")

_HEADING = re.compile(r"^ {0,3}#(?:[ \t]|$)", re.MULTILINE)
_UNDERLINE = re.compile(r"^ {0,3}=+[ \t]*$", re.MULTILINE)
#: Defines a link in the place of the mark in our own task lists.
_BOX = re.compile(r"\[\s*[xX]\s*\]:")
_LIST = re.compile(r"^[ \t]*(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)", re.MULTILINE)
#: What is markup within a line. An underscore inside a word, as in `read_file`, is none.
_SPECIAL = re.compile(r"[\\`*\[\]<|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|&(?=#?\w+;)")

#: The first line is looked for in this many times the length that is shown.
_REACH: Final = 16

#: Ends a list or code block of the text before; without it, an indented start would become part of that.
SEPARATOR: Final = "<!-- -->\n\n"


def visible(text: str) -> str:
    """`text` with line ends as newlines and every control or override character shown instead of obeyed."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _ACTIVE.sub(_picture, text) if _is_active(text) else text


def _is_active(text: str) -> bool:
    """Ten times the speed of a search: bytes are dropped by table, and only what is not ASCII is searched."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data.translate(None, _CONTROLS)) != len(data):
        return True
    if len(data) == len(text):
        return False
    return _ACTIVE.search(data.translate(None, _ASCII).decode("utf-8", "surrogatepass")) is not None


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(_PICTURES + code)
    return "\u2421" if code == 0x7F else f"⟨U+{code:04X}⟩"


def line(text: str, limit: int = 100) -> str:
    """The first non-blank line of `text`, of bounded length, with nothing active in it."""
    if len(text) <= limit and text.isprintable():
        return " ".join(text.split())
    return visible(texts.one_line(text[: limit * _REACH], limit))


def title(text: str, limit: int = 100) -> str:
    """The first `line` of `text` as a name for it: without the mark of a heading."""
    return line(text.lstrip("# \t\r\n"), limit)


def in_html(one_line: str) -> str:
    """A `line` for inside a tag of ours, where Markdown is not read but HTML is."""
    return html.escape(one_line, quote=False)


def plain(text: str) -> str:
    """A run of words for inside a line of ours that shows up as it is, whatever Markdown it looks like."""
    words = " ".join(visible(text).split())
    return _SPECIAL.sub(r"\\\g<0>", words) if _SPECIAL.search(words) else words


def code(text: str) -> str:
    """A code span on one line."""
    words = visible(text).replace("\n", " ")
    ticks = "`" * (_longest_run(words) + 1)
    pad = " " if not words.strip() or words[0] in " `" or words[-1] in " `" else ""
    return f"{ticks}{pad}{words}{pad}{ticks}"


def fence(text: str, language: str = "") -> str:
    """A fenced code block whose fence is longer than any run of backticks inside."""
    body = visible(text).strip("\n")
    ticks = "`" * max(3, _longest_run(body) + 1) if "```" in body else "```"
    return f"{ticks}{language}\n{body}\n{ticks}"


def _longest_run(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0) if "`" in text else 0


def may_end_in_list(block: str) -> bool:
    """Whether a list may still be open at the end: what stands at the margin after an empty line has ended it."""
    last = block[block.rfind("\n\n") + 2 :] if "\n\n" in block else block
    return last[:1] in (" ", "\t") or _LIST.search(last) is not None


def continues_list(block: str) -> bool:
    """Whether `block`, put after a list, would become part of it."""
    return block[0] in " \t" or _LIST.match(block) is not None


def block(text: str, *, italic: bool = False) -> str:
    """`text` as Markdown that keeps to itself: no newline at either end, "" when there is nothing to show."""
    body = _trimmed(visible(text))
    if not (italic or _needs_outline(body)):
        return body
    try:
        found = outline(body)
    except TooDeep:
        return fence(body)
    escaped = sorted(found.escapes)
    places = escaped + [at for leaf in found.leaves for at in _live_tags(body, leaf, escaped)]
    edits = [(at, at, "\\") for at in places] + found.tabs + found.lowered
    if italic:
        edits += [(at, at, "*") for leaf in found.leaves for at in _italic_ends(body, leaf)]
    body = _edited(body, edits)
    return f"{body}\n{found.open_fence}" if found.open_fence else body


def _trimmed(text: str) -> str:
    """`text` without blank lines at its ends; the indentation of its first line stays."""
    body = text.rstrip()
    start = len(body) - len(body.lstrip())
    return body[body.rfind("\n", 0, start) + 1 :] if start else body


def _needs_outline(text: str) -> bool:
    if "```" in text or "~~~" in text:
        return True
    if "<" in text and _TAG.search(text):
        return True
    if "#" in text and _HEADING.search(text):
        return True
    if "]:" in text and _BOX.search(text):
        return True
    return "\n" in text and "=" in text and _UNDERLINE.search(text) is not None


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    if not edits:
        return text
    out: list[str] = []
    last = 0
    # A star goes before a backslash at the same place: "*\<b>*", not "\*<b>*".
    for start, end, what in sorted(edits):
        out += (text[last:start], what)
        last = end
    out.append(text[last:])
    return "".join(out)


def _live_tags(text: str, leaf: Leaf, escaped: list[int]) -> list[int]:
    """Where each `<` of a leaf is that would start a tag, comment or declaration."""
    lines = [text[start:end] for start, end in leaf.lines]
    if not any("<" in content for content in lines):
        return []
    # A backslash of ours may take a backtick from its run, so it leaves no code certain.
    changed = bisect_left(escaped, leaf.lines[0][0]) < bisect_right(escaped, leaf.lines[-1][1])
    covered = [] if changed else _certain_code("\n".join(lines))
    places: list[int] = []
    base = 0
    for (start, _), content in zip(leaf.lines, lines, strict=True):
        for match in _TAG.finditer(content):
            at = match.start()
            # At the start of a line it begins an HTML block, whatever code span it is in.
            if (at == 0 or not _within(base + at, covered)) and not _is_escaped(content, at):
                places.append(start + at)
        base += len(content) + 1
    return places


def _within(at: int, spans: list[tuple[int, int]]) -> bool:
    before = bisect_right(spans, (at, at))
    return before > 0 and at < spans[before - 1][1]


def _is_escaped(content: str, at: int) -> bool:
    start = at
    while start > 0 and content[start - 1] == "\\":
        start -= 1
    return (at - start) % 2 == 1


def _certain_code(content: str) -> list[tuple[int, int]]:
    """The code spans of a leaf, or none when something in it may make a parser pair the backticks differently."""
    spans = _code_spans(content)
    if not spans or content.startswith("["):
        return []
    if any(not _within(tail.start(), spans) for tail in _ODD_TAIL.finditer(content)):
        return []
    if _LINK_HINT.search(content) and any(
        _BARE_LINK.search(content, max(0, start - 2000), start) for start, _ in spans
    ):
        return []
    if "|" in content and _DELIMITER_ROW.search(content):
        # A table to some parsers, which look for code in each cell: only what is code either way counts.
        cells = _cell_spans(content)
        return [span for span in spans if span in cells]
    return spans


def _code_spans(content: str) -> list[tuple[int, int]]:
    """(start, end) of each code span, paired as CommonMark does: an opening run with the next run of equal length."""
    spans: list[tuple[int, int]] = []
    if "`" not in content:
        return spans
    starts: dict[int, list[int]] = {}
    for run in _TICKS.finditer(content):
        starts.setdefault(len(run[0]), []).append(run.start())
    at = 0
    while match := _MARKUP.search(content, at):
        at = match.end()
        if content[match.start()] == "\\":
            # An escaped backtick begins no run, but the rest of its run does.
            continue
        length = at - match.start()
        closers = starts.get(length, [])
        closer = bisect_left(closers, at)
        if closer < len(closers):
            at = closers[closer] + length
            spans.append((match.start(), at))
    return spans


def _cell_spans(content: str) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    start = 0
    for end in [match.start() for match in _CELL_END.finditer(content)] + [len(content)]:
        found.update((start + a, start + b) for a, b in _code_spans(content[start:end]))
        start = end + 1
    return found


def _italic_ends(text: str, leaf: Leaf) -> list[int]:
    """Where the stars go around a plain paragraph; one with stars, tables or definitions of its own gets none."""
    start, end = leaf.lines[0][0], leaf.lines[-1][1]
    body = text[start:end].rstrip()
    if leaf.heading or not leaf.top or "*" in body or "|" in body or body.endswith("\\") or body.startswith("["):
        return []
    return [start, start + len(body)]
