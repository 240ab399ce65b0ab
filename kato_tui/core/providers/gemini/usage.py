"""Tokens of a Gemini chat, each message counted once although it is appended again with every change."""

from __future__ import annotations

from typing import Any, Final

from kato_tui.core.model.facts import Facts
from kato_tui.core.providers.base import Record
from kato_tui.core.providers.gemini.content import name_of

#: Token counts are filled in soon after their message, so few messages need watching.
MAX_OPEN: Final = 32
#: Beyond any model; sums of it stay far below what JSON readers take.
_MAX_TOKENS: Final = 2**40


class Counted:
    """The usage already counted for the newest messages: a later value replaces an earlier one."""

    def __init__(self, state: list[Any]) -> None:
        self._open: dict[str, list[int]] = {ident: list(counts) for ident, counts in state}

    def save(self) -> list[Any]:
        return [[ident, counts] for ident, counts in self._open.items()]

    def count(self, facts: Facts, message_id: str | None, tokens: Any, *, again: bool) -> None:
        """Count `tokens` for a message; `again` when it was met before."""
        fresh = _normalised(tokens) if isinstance(tokens, dict) else [0] * 5
        if message_id is not None:
            ident = name_of(message_id)
            before = self._open.pop(ident, None)
            if before is None and again:
                return
            if before is not None:
                if not any(fresh):
                    fresh = before
                _add(facts, before, -1)
            self._open[ident] = fresh
            if len(self._open) > MAX_OPEN:
                del self._open[next(iter(self._open))]
        _add(facts, fresh, 1)
        prompt = _number(tokens.get("input")) if isinstance(tokens, dict) else 0
        if prompt:
            facts.context_tokens = prompt


def _normalised(tokens: Record) -> list[int]:
    """[input, output, cached, thoughts, total]. Gemini's `input` is the whole prompt, cached part included; prompt
    tokens of tool use come on top of it. Its `output` is without the thoughts, which the others count as output."""
    prompt, cached = _number(tokens.get("input")), _number(tokens.get("cached"))
    output, thoughts, tool = _number(tokens.get("output")), _number(tokens.get("thoughts")), _number(tokens.get("tool"))
    total = _number(tokens.get("total")) or prompt + output + thoughts + tool
    return [max(prompt - cached, 0) + tool, output + thoughts, min(cached, prompt), thoughts, total]


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX_TOKENS else 0


def _add(facts: Facts, counts: list[int], sign: int) -> None:
    spent, output, cached, thoughts, total = counts
    facts.usage.add(sign * spent, sign * output, sign * cached, 0, sign * thoughts, sign * total)
