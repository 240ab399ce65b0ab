"""Markdown as lines of a screen. Pure, and linear in its text, which may be anything.

Textual's own widget makes a widget of every paragraph and guesses the language of code that names none: a message of
20,000 characters can stop the screen for a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kato_tui.view.blocks import Block, Item, Table
from kato_tui.view.cells import Line, Piece, Tone, piece
from kato_tui.view.code import coloured

_LIMIT: Final = 20_000
_DEEPEST: Final = 60
_BULLETS: Final = ("• ", "◦ ", "▪ ")
_RULE: Final = "─" * 24


def prose(markdown: str) -> tuple[Item, ...]:
    """What a Markdown text says, before it is known how wide it is shown. `markdown` is clean."""
    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable(["table", "strikethrough"])
    found = tuple(_Reader().read(parser.parse(markdown)))
    # What is nested deeper is left out by the parser; a text of nothing else is shown as it is.
    return found or listing(markdown)


def listing(code: str, language: str = "") -> tuple[Item, ...]:
    """A text of which every blank counts. `code` is clean."""
    return tuple(Block(line, code=True) for line in coloured(code, language))


class _Reader:
    """Goes through the tokens of a text once."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        #: What stands before lines here: of every list and quote around, the first time and from then on.
        self._before: list[tuple[Piece, Piece]] = []
        self._fresh: list[bool] = []
        self._counts: list[int | None] = []
        self._base: Tone = "text"
        self._table: list[list[Line]] = []
        self._in_table = False
        self._deeds: dict[str, Callable[[Token], None]] = {
            "heading_open": self._heading,
            "heading_close": self._plain,
            "paragraph_open": self._paragraph,
            "inline": self._inline,
            "fence": self._fence,
            "code_block": self._fence,
            "html_block": self._html,
            "hr": lambda _: self._alone((Piece(_RULE, "muted"),)),
            "blockquote_open": lambda _: self._enter(Piece("▎ ", "muted"), Piece("▎ ", "muted")),
            "blockquote_close": lambda _: self._leave(),
            "bullet_list_open": lambda _: self._list(None),
            "ordered_list_open": lambda token: self._list(int(token.attrs.get("start", 1))),
            "bullet_list_close": lambda _: self._end_list(),
            "ordered_list_close": lambda _: self._end_list(),
            "list_item_open": lambda _: self._item(),
            "list_item_close": lambda _: self._leave(),
            "table_open": self._open_table,
            "tr_open": lambda _: self._table.append([]),
            "table_close": self._close_table,
        }

    def read(self, tokens: Iterable[Token]) -> list[Item]:
        for token in tokens:
            deed = self._deeds.get(token.type)
            if deed is not None:
                deed(token)
        return self._items

    # Where lines stand.

    def _enter(self, first: Piece, others: Piece) -> None:
        if not self._counts or not any(self._fresh):
            self._gap()
        self._before.append((first, others))
        self._fresh.append(True)

    def _leave(self) -> None:
        self._before.pop()
        self._fresh.pop()

    def _lead(self) -> tuple[Line, Line]:
        lead = tuple(first if fresh else other for (first, other), fresh in zip(self._before, self._fresh, strict=True))
        self._fresh = [False] * len(self._fresh)
        return lead, tuple(other for _, other in self._before)

    def _gap(self) -> None:
        """A blank line, but not at the very beginning, and not right behind a bullet."""
        last = self._items[-1] if self._items else None
        if last is not None and not any(self._fresh) and (isinstance(last, Table) or last.words):
            quotes = tuple(other for _, other in self._before)
            self._items.append(Block((), quotes, quotes))

    def _put(self, words: Line, *, code: bool = False) -> None:
        lead, hang = self._lead()
        self._items.append(Block(words, lead, hang, code))

    # What there is.

    def _heading(self, token: Token) -> None:
        self._gap()
        self._base = "key" if token.tag in ("h1", "h2") else "strong"

    def _plain(self, _: Token) -> None:
        self._base = "text"

    def _paragraph(self, token: Token) -> None:
        if not token.hidden:
            self._gap()

    def _alone(self, words: Line) -> None:
        self._gap()
        self._put(words)

    def _fence(self, token: Token) -> None:
        self._gap()
        lines = coloured(token.content.removesuffix("\n"), token.info.strip().partition(" ")[0])
        for line in lines:
            self._put((Piece("  "), *line), code=True)

    def _html(self, token: Token) -> None:
        self._gap()
        for line in token.content.splitlines():
            self._put((piece(line, "muted", _LIMIT),))

    def _list(self, start: int | None) -> None:
        if not self._counts:
            self._gap()
        self._counts.append(start)

    def _end_list(self) -> None:
        self._counts.pop()

    def _item(self) -> None:
        count = self._counts[-1]
        if count is None:
            mark = _BULLETS[(len(self._counts) - 1) % len(_BULLETS)]
        else:
            mark = f"{count}. "[-12:]
            self._counts[-1] = count + 1
        self._before.append((Piece(mark, "accent"), Piece(" " * len(mark))))
        self._fresh.append(True)

    def _open_table(self, _: Token) -> None:
        self._gap()
        self._table, self._in_table = [], True

    def _close_table(self, _: Token) -> None:
        lead, _hang = self._lead()
        self._in_table = False
        if self._table:
            names = tuple(tuple(Piece(one.text, "strong") for one in cell) for cell in self._table[0])
            self._items.append(Table((names, *map(tuple, self._table[1:])), lead))

    def _inline(self, token: Token) -> None:
        lines = list(_words(token.children or (), self._base))
        if self._in_table:
            self._table[-1].append(tuple(one for line in lines for one in line))
            return
        for line in lines:
            self._put(line)


def _words(tokens: Sequence[Token], base: Tone) -> Iterator[Line]:
    """The lines of a paragraph: where people began a new one, there is one."""
    line: list[Piece] = []
    tones: list[Tone] = [base]
    target = ""
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            yield tuple(line)
            line = []
        elif token.type in _MARKS:
            tones.append(_MARKS[token.type])
        elif token.type == "link_open":
            tones.append("match")
            target = str(token.attrs.get("href", ""))
        elif token.type.endswith("_close"):
            if len(tones) > 1:
                tones.pop()
            if token.type == "link_close" and target and not any(target == one.text for one in line):
                # Where it leads is always in sight: nothing can be clicked.
                line.append(piece(f" ({target})", "muted", _LIMIT))
        elif token.type == "image":
            line.append(piece(f"[{token.content}] ({token.attrs.get('src', '')})", "muted", _LIMIT))
        elif token.content:
            line.append(piece(token.content, _OWN.get(token.type, tones[-1]), _LIMIT))
    yield tuple(line)


_MARKS: Final[dict[str, Tone]] = {"strong_open": "strong", "em_open": "emphasis", "s_open": "muted"}
_OWN: Final[dict[str, Tone]] = {"code_inline": "code", "html_inline": "muted"}
