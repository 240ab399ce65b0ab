"""Codex tells most things twice, and people say the same again and again: each is there as often as it was said."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.unit import codex_log as codex
from tests.unit.test_codex import fold

_WORDS = ("go on", "yes", "Done.", "two\nlines")
STYLES = ("legacy", "events-only", "paginated", "without-kinds", "mirrors-missing")


class _Thread:
    def __init__(self, seed: str, style: str) -> None:
        self.random = random.Random(seed)
        self.style = style
        self.said: Counter[tuple[str, str]] = Counter()
        paginated = style not in ("legacy", "events-only")
        self.records = [codex.meta(history_mode="paginated") if paginated else codex.meta()]
        for turn in range(self.random.randint(1, 4)):
            name = f"019a0000-{1000 + turn}-7000-8000-000000000002"
            self.records += [codex.started(name), codex.context()]
            self._prompt()
            for _ in range(self.random.randint(1, 7)):
                self.random.choice((self._prompt, self._answer, self._answer, self._call))()
            ends = (codex.done(name), codex.event("turn_aborted", turn_id=name, reason="interrupted"))
            self.records.append(self.random.choice(ends))

    def _number(self) -> str:
        return str(len(self.records))

    def _both(self, item: codex.Record, mirror: codex.Record, missing: float) -> None:
        """A response item and its mirror, in either order; one of them may be missing where there are two of a kind."""
        pair = [item, mirror] if self.random.random() < 0.7 else [mirror, item]
        self.records += [self.random.choice(pair)] if self.random.random() < missing else pair

    def _prompt(self) -> None:
        words = self.random.choice((*_WORDS, f"prompt {self._number()}"))
        self.said["user.message", words] += 1
        if self.style == "legacy":
            self.records += codex.prompt(words)
        elif self.style == "events-only":
            self.records.append(codex.user_event(words))
        else:
            item = codex.user_item(words, kinds=None if self.style == "without-kinds" else ["user.text"])
            content = [{"type": "text", "text": words}]
            mirror = codex.completed("UserMessage", id=f"u{self._number()}", content=content)
            if self.style == "mirrors-missing" and self.random.random() < 0.5:
                self.records.append(item)
            else:
                self._both(item, mirror, 0)

    def _answer(self) -> None:
        words = self.random.choice((*_WORDS, f"answer {self._number()}"))
        self.said["assistant.message", words] += 1
        phase = self.random.choice((None, "commentary", "final_answer"))
        if self.style in ("legacy", "events-only"):
            self._both(codex.assistant_item(words, phase), codex.agent_event(words, phase), 0)
        else:
            name = f"msg_{self._number()}"
            content = [{"type": "Text", "text": words}]
            mirror = codex.completed("AgentMessage", id=name, content=content, phase=phase)
            self._both(codex.assistant_item(words, phase, id=name), mirror, 0.2)

    def _call(self) -> None:
        name = f"c{self._number()}"
        self.records += [codex.call(name), codex.output(name, "out")]


@pytest.mark.parametrize("style", STYLES)
def test_whatever_was_said_is_told_as_often_as_it_was_said(style: str) -> None:
    for number in range(150):
        thread = _Thread(f"{style} {number}", style)
        drafts, _ = fold(*thread.records)
        told = Counter((draft.kind, draft.payload["text"]) for draft in drafts if draft.kind.endswith(".message"))
        told = Counter({key: count for key, count in told.items() if not key[0].startswith("system")})
        assert told == thread.said, number
