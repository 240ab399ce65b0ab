"""Code with a little colour: strings, numbers, comments and the words that languages share. Pure, linear in its text.

Not by Pygments: most of its lexers take seconds for some text of 20,000 characters, and guessing a language takes more.
"""

from __future__ import annotations

import re
from typing import Final

from kato_tui.view.cells import Line, Piece, Tone, piece

_HASH: Final = "bash console docker dockerfile ini make py python python3 rb ruby sh shell toml yaml yml zsh"
_SLASH: Final = "c cpp csharp css go java javascript js json jsonc jsx kotlin php rs rust scala swift ts tsx typescript"
_COMMENTS: Final = dict.fromkeys(_HASH.split(), r"(?:^|(?<=\s))\#.*") | dict.fromkeys(_SLASH.split(), r"//.*|/\*.*")
_KEYWORDS: Final = (
    "and as assert async await break case class const continue def defer del do done echo elif else enum esac"
    " except export extends false fi final finally fn for foreach from func function if impl implements import in"
    " interface is lambda let local match mod mut new nil None not null or package pass private protected pub"
    " public raise return self static struct super switch then this throw trait true True False try type use var"
    " void while with yield"
)
_PARTS: Final = (
    r"(?P<muted>{comment})"
    # The end of a text may be missing, or is looked for only so far: the whole stays linear.
    r"""|(?P<assistant>"[^"\\\s]{{1,100}}"(?=\s{{0,4}}:))"""
    r"""|(?P<good>"(?:[^"\\]|\\.)*"?|(?<!\w)(?:'(?:[^'\\]|\\.){{0,400}}'|`[^`]{{0,400}}`))"""
    r"|(?P<accent>\b\d[\w.]{{0,40}})"
    rf"|(?P<key>\b(?:{'|'.join(_KEYWORDS.split())})\b)"
)
_LIMIT: Final = 20_000


def coloured(code: str, language: str = "") -> list[Line]:
    """The lines of it; without colour where no language that is known is named."""
    language = language.lower()
    lines = code.split("\n")
    if language in ("diff", "patch"):
        return [(piece(line, _of_diff(line), _LIMIT),) for line in lines]
    comment = _COMMENTS.get(language)
    if comment is None:
        return [(piece(line, "text", _LIMIT),) for line in lines]
    pattern = re.compile(_PARTS.format(comment=comment))
    return [_coloured(line, pattern) for line in lines]


def _coloured(line: str, pattern: re.Pattern[str]) -> Line:
    made: list[Piece] = []
    at = 0
    for match in pattern.finditer(line):
        if match.start() > at:
            made.append(piece(line[at : match.start()], "text", _LIMIT))
        made.append(piece(match[0], _TONES[str(match.lastgroup)], _LIMIT))
        at = match.end()
    if at < len(line) or not made:
        made.append(piece(line[at:], "text", _LIMIT))
    return tuple(made)


_TONES: Final[dict[str, Tone]] = {name: name for name in ("muted", "assistant", "good", "accent", "key")}


def _of_diff(line: str) -> Tone:
    if line.startswith(("+++", "---", "@@")):
        return "muted"
    return {"+": "good", "-": "bad"}.get(line[:1], "text")  # type: ignore[return-value]
