"""Where the code is in a piece of Markdown: the block structure of CommonMark, one pass over the lines.

What may be left alone and what must be made harmless depends on whether it is code, and only the block rules tell.
The pass knows the text as it will be written: no HTML blocks (their `<` is escaped), and no reference definitions
that parsers disagree about; where it takes such a thing for plain text, `escapes` says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

_ATX = re.compile(r"(#{1,6})(?=[ \t]|$)")
_FENCE = re.compile(r"`{3,}(?=[^`]*$)|~{3,}")
_FENCE_END = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*$", re.MULTILINE)
_SETEXT = re.compile(r"(?:=+|-+)[ \t]*$")
_BREAK = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})$")
_MARKER = re.compile(r"[*+-](?=[ \t]|$)|(\d{1,9})[.)](?=[ \t]|$)")
#: Not of `[x]`, which is the mark in our own task lists.
_DEFINITION = re.compile(r"\[(?!\s*[xX]\s*\])[^\[\]\\`<]+\]:[ \t]*[^\s<>`]+(?:[ \t]+\"[^\"`<\\]*\")?[ \t]*")
#: A line that starts with none of these begins no block, so it needs no further look.
_SPECIAL: Final = frozenset("#`~*+-_=>0123456789")
_OPENERS: Final = _SPECIAL | frozenset(" \t\n")
_QUOTE: Final = -1
#: More lines than any heading has: past them a paragraph is not looked at again for each underline below it.
_LONG_HEADING: Final = 8
_LOWEST: Final = 6
#: Nobody writes lists this deep; each level costs a look at the rest of the line.
_MAX_DEPTH: Final = 32


class TooDeep(ValueError):
    """The text nests quotes and lists beyond reason; show it as code."""


@dataclass(slots=True)
class Leaf:
    """A paragraph or heading: the (start, end) of its lines, without the markers of quotes and lists around it."""

    lines: list[tuple[int, int]]
    #: Whether it stands in no quote or list.
    top: bool
    heading: bool = False


@dataclass(slots=True)
class Outline:
    """All that is not code, and how the text ends."""

    leaves: list[Leaf] = field(default_factory=list)
    #: Where a backslash turns a line into the plain text that this outline takes it for.
    escapes: list[int] = field(default_factory=list)
    #: Makes the first level free for the headings around the text: its own, one level down. Nothing if it is free.
    lowered: list[tuple[int, int, str]] = field(default_factory=list)
    #: Tabs among quote and list markers, with the spaces they stand for: parsers count their columns differently.
    tabs: list[tuple[int, int, str]] = field(default_factory=list)
    #: The fence that is still open at the end and would swallow what follows the text.
    open_fence: str = ""


class _Line:
    """A position in a line that counts columns, because tabs may belong half to a marker and half to its content."""

    __slots__ = ("column", "end", "indent", "next", "position", "text")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.position = start
        self.end = end
        self.column = 0
        self.look()

    def look(self) -> None:
        """Find the next character that is no blank; `indent` columns lie before it."""
        at, column, text = self.position, self.column, self.text
        while at < self.end:
            if text[at] == " ":
                column += 1
            elif text[at] == "\t":
                column += 4 - column % 4
            else:
                break
            at += 1
        self.next = at
        self.indent = column - self.column

    @property
    def blank(self) -> bool:
        return self.next >= self.end

    def skip(self, columns: int) -> None:
        while columns > 0 and self.position < self.end:
            if self.text[self.position] == "\t":
                width = 4 - self.column % 4
                step = min(columns, width)
                self.position += step == width
            else:
                step = 1
                self.position += 1
            self.column += step
            columns -= step
        self.look()

    def skip_blanks(self) -> None:
        self.column += self.indent
        self.position = self.next
        self.indent = 0

    def at_blank(self) -> bool:
        return self.position < self.end and self.text[self.position] in " \t"


@dataclass(slots=True)
class _Item:
    """A list item: how far its content is indented; an item that starts empty ends at a blank line."""

    need: int
    filled: bool


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.out = Outline()
        self.first_level = False
        self.containers: list[_Item | int] = []
        self.paragraph: Leaf | None = None
        self.fence = ""
        self.in_indented = False

    def run(self) -> Outline:
        text, start, size = self.text, 0, len(self.text)
        while start < size:
            if self.fence and not self.containers:
                start = self._skip_fence(start)
                continue
            end = text.find("\n", start)
            end = size if end < 0 else end
            if self.containers or text[start] in _OPENERS:
                line = _Line(text, start, end)
                self._line(line)
                self._spell_out_tabs(start, line.next)
            else:
                self._plain_line(start, end)
            start = end + 1
        self._close_paragraph()
        self.out.open_fence = "" if self.containers else self.fence
        if not self.first_level:
            self.out.lowered = []
        return self.out

    def _plain_line(self, start: int, end: int) -> None:
        """The common case, straight away: a line at the margin that can only be text."""
        self.in_indented = False
        if self.paragraph is None:
            self.paragraph = Leaf([], top=True)
        self.paragraph.lines.append((start, end))

    def _skip_fence(self, start: int) -> int:
        """Past the end of a top-level fence, without a look at each of its lines."""
        for match in _FENCE_END.finditer(self.text, start):
            if match[1].startswith(self.fence):
                self.fence = ""
                return match.end() + 1
        return len(self.text)

    def _spell_out_tabs(self, start: int, end: int) -> None:
        at = self.text.find("\t", start, end)
        if at < 0 or not self.text[start:end].strip(" \t"):
            return
        for position in range(at, end):
            if self.text[position] == "\t":
                width = len(self.text[start : position + 1].expandtabs(4)) - len(
                    self.text[start:position].expandtabs(4)
                )
                self.out.tabs.append((position, position + 1, " " * width))

    def _line(self, line: _Line) -> None:
        matched = self._match_containers(line)
        whole = matched == len(self.containers)
        if whole and self._continues_code(line):
            return
        # A paragraph goes on lazily where its containers are not repeated, unless something new begins.
        continued = whole and self.paragraph is not None
        while line.indent < 4 and not line.blank and self.text[line.next] in _SPECIAL:
            container = self._container(line, continued)
            if container is not None:
                self._close_unmatched(matched)
                self.containers.append(container)
                if len(self.containers) > _MAX_DEPTH:
                    raise TooDeep
                matched = len(self.containers)
                continued = False
            elif self._opens_leaf(line, matched, continued):
                return
            else:
                break
        self._text(line, matched)

    def _match_containers(self, line: _Line) -> int:
        for number, container in enumerate(self.containers):
            if isinstance(container, int):
                if line.blank or self.text[line.next] != ">":
                    return number
                if line.indent > 3:
                    # Code or lazy text by the standard, still the quote to some parsers.
                    self.out.escapes.append(line.next)
                    return number
                self._skip_quote(line)
            elif line.blank:
                if not container.filled:
                    return number
            elif line.indent >= container.need:
                line.skip(container.need)
                container.filled = True
            else:
                return number
        return len(self.containers)

    def _skip_quote(self, line: _Line) -> None:
        line.skip_blanks()
        line.skip(1)
        if line.at_blank():
            line.skip(1)

    def _continues_code(self, line: _Line) -> bool:
        if self.fence:
            match = _FENCE_END.match(self.text[line.next : line.end]) if line.indent < 4 else None
            if match and match[1].startswith(self.fence):
                self.fence = ""
            return True
        if self.in_indented and (line.blank or line.indent > 3):
            return True
        self.in_indented = False
        return False

    def _container(self, line: _Line, continued: bool) -> _Item | int | None:
        """The quote or list item that begins here, with `line` moved behind its marker."""
        if self.text[line.next] == ">":
            self._skip_quote(line)
            return _QUOTE
        rest = self.text[line.next : line.end]
        marker = _MARKER.match(rest)
        if marker is None or _BREAK.match(rest) or (continued and _SETEXT.match(rest)):
            return None
        if continued and (int(marker[1] or 1) != 1 or not rest[marker.end() :].strip(" \t")):
            # Only a filled bullet, or a list that counts from 1, may interrupt a paragraph.
            return None
        return self._item(line, len(marker[0]))

    def _item(self, line: _Line, width: int) -> _Item:
        offset = line.indent
        line.skip_blanks()
        line.skip(width)
        gap = line.indent
        if line.blank or gap > 4:
            if line.at_blank():
                line.skip(1)
            return _Item(offset + width + 1, filled=not line.blank)
        line.skip(gap)
        return _Item(offset + width + gap, filled=True)

    def _opens_leaf(self, line: _Line, matched: int, continued: bool) -> bool:
        rest = self.text[line.next : line.end]
        heading = _ATX.match(rest)
        if heading:
            return self._atx(line, matched, heading)
        fence = _FENCE.match(rest)
        if fence and "|" in rest:
            # To some parsers this and a row of dashes below it make a table, and the closing fence opens one.
            self.out.escapes.append(line.next)
            return False
        if fence:
            self._close_unmatched(matched)
            self.fence = fence[0]
            return True
        if continued and self.paragraph and _SETEXT.match(rest):
            return self._setext(line, rest.rstrip())
        if _BREAK.match(rest):
            self._close_unmatched(matched)
            return True
        return False

    def _atx(self, line: _Line, matched: int, heading: re.Match[str]) -> bool:
        if matched == 0 and len(heading[1]) < _LOWEST:
            self.out.lowered.append((line.next, line.next, "#"))
            self.first_level |= heading[1] == "#"
        self._close_unmatched(matched)
        self.out.leaves.append(Leaf([(line.next + heading.end(), line.end)], top=matched == 0, heading=True))
        return True

    def _setext(self, line: _Line, rule: str) -> bool:
        paragraph = self.paragraph
        assert paragraph is not None
        content = "\n".join(self.text[start:end] for start, end in paragraph.lines[:_LONG_HEADING])
        long = len(paragraph.lines) > _LONG_HEADING
        defines = content.startswith("[") and (long or "]:" in content)
        first_level = rule[0] == "=" and paragraph.top
        # With dashes below them, bars make a table to some parsers.
        if defines or (first_level and (long or "|" in content)):
            self.out.escapes.append(line.next)
            return False
        if first_level:
            self.out.lowered.append((line.next, line.next + len(rule), "-" * len(rule)))
            self.first_level = True
        paragraph.heading = True
        self._close_paragraph()
        return True

    def _text(self, line: _Line, matched: int) -> None:
        if line.blank:
            self._close_unmatched(matched)
        elif self.paragraph is not None:
            self.paragraph.lines.append((line.next, line.end))
        elif line.indent > 3:
            self._close_unmatched(matched)
            self.in_indented = True
        else:
            self._close_unmatched(matched)
            self.paragraph = Leaf([(line.next, line.end)], top=not self.containers)

    def _close_unmatched(self, matched: int) -> None:
        self._close_paragraph()
        if matched < len(self.containers):
            del self.containers[matched:]
            self.fence = ""
        self.in_indented = False

    def _close_paragraph(self) -> None:
        paragraph, self.paragraph = self.paragraph, None
        if paragraph is None:
            return
        self.out.leaves.append(paragraph)
        start = paragraph.lines[0][0]
        if self.text[start] == "[" and not self._plain_definitions(paragraph):
            self.out.escapes.append(start)

    def _plain_definitions(self, paragraph: Leaf) -> bool:
        """Whether all its lines are one-line definitions, or none can be one: parsers agree on what follows."""
        lines = [self.text[start:end] for start, end in paragraph.lines]
        return not any("]:" in line for line in lines) or all(_DEFINITION.fullmatch(line) for line in lines)


def outline(text: str) -> Outline:
    """What of `text` is not code."""
    return _Scanner(text).run()
