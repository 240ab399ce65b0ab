"""File edits as unified diffs, from what a tool call says about them.

A call knows the text before and after, not where in the file it stands, so hunks carry no line numbers.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, Final

from kato_tui.core.record.markdown_text import line

_CONTEXT: Final = 3
#: Matching is quadratic; a change larger than this (lines before times lines after) is shown as old, then new.
_MAX_MATCHING: Final = 10_000
_PATH: Final = 400


def header(path: str, moved: str = "") -> str:
    return f"--- {line(path, _PATH)}\n+++ {line(moved or path, _PATH)}"


def replaced(old: str, new: str) -> str:
    """One hunk that turns `old` into `new`; "" when they are the same."""
    return "\n".join(["@@", *_hunk(old.splitlines(), new.splitlines())]) if old != new else ""


def written(content: str) -> str:
    return "\n".join("+" + row for row in content.splitlines())


def _hunk(old: list[str], new: list[str]) -> Iterator[str]:
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    before, after = old[head : len(old) - tail], new[head : len(new) - tail]
    yield from (" " + row for row in old[max(0, head - _CONTEXT) : head])
    if len(before) * len(after) <= _MAX_MATCHING:
        yield from _matched(before, after)
    else:
        yield from ("-" + row for row in before)
        yield from ("+" + row for row in after)
    end = len(old) - tail
    yield from (" " + row for row in old[end : end + _CONTEXT])


def _common(one: list[str], other: list[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _matched(before: list[str], after: list[str]) -> Iterator[str]:
    if set(before).isdisjoint(after):
        # Most edits: nothing of the old lines stays, which a search for what does would find out slowly.
        yield from ("-" + row for row in before)
        yield from ("+" + row for row in after)
        return
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag == "equal":
            yield from (" " + row for row in before[first:last])
        else:
            yield from ("-" + row for row in before[first:last])
            yield from ("+" + row for row in after[start:end])


def changed(path: str, change: Any) -> str | None:
    """One entry of Codex' `changes`: a diff, or the content of a file that was added or deleted."""
    if not isinstance(change, dict):
        return None
    kind = change.get("type")
    diff, content, moved = change.get("unified_diff"), change.get("content"), change.get("move_path")
    top = header(path, moved if isinstance(moved, str) else "")
    if isinstance(diff, str):
        return f"{top}\n{diff.rstrip()}"
    if isinstance(content, str):
        sign = "-" if kind == "delete" else "+"
        return "\n".join([top, *(sign + row for row in content.splitlines())])
    return top
