"""Whatever waits in Claude's queue and however it leaves it: each prompt that was sent is shown once, and no other."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from tests.unit import claude_log as claude
from tests.unit.claude_run import run

Record = dict[str, Any]

#: How versions differ: whether lines say who wrote them, whether an attachment comes with what is taken in mid-turn,
#: whether `remove` says why, and whether it names the prompt.
STYLES: dict[str, Record] = {
    "before-2.1.97": {"origin": False, "attached": False, "reason": False, "named": None},
    "from-2.1.97": {"origin": True, "attached": True, "reason": False, "named": True},
    "from-2.1.246": {"origin": True, "attached": True, "reason": True, "named": True},
    "unnamed": {"origin": True, "attached": True, "reason": True, "named": False},
    "desktop": {"origin": True, "attached": False, "reason": True, "named": True},
}
_NOTE = "<task-notification>\n{}</task-notification>"
_SHORT = ("go on", "yes", "more\nwords")


class _Session:
    """Somebody types, Claude works, notices arrive, and sometimes the program dies."""

    def __init__(self, seed: str, style: str) -> None:
        self.random = random.Random(seed)
        self.style = STYLES[style]
        self.records: list[Record] = []
        self.sent: Counter[str] = Counter()
        self.waiting: list[tuple[bool, str]] = []
        self.busy = False
        for _ in range(self.random.randint(5, 30)):
            (self._work if self.busy else self._rest)()
        self._answer()

    def _uuid(self) -> str:
        return f"u{len(self.records)}"

    def _answer(self) -> None:
        name = self._uuid()
        self.records.append(claude.assistant(claude.text(f"answer {name}"), uuid=name, message=f"m{name}"))

    def _line(self, words: str, source: str) -> None:
        human = not words.startswith("<task")
        says: Record = {"origin": {"kind": "human" if human else "task-notification"}, "promptSource": source}
        self.records.append(claude.user(words, self._uuid(), **(says if self.style["origin"] else {})))
        self.sent[words] += human
        self.busy = True

    def _rest(self) -> None:
        if self.waiting:
            words = self.waiting.pop(0)[1]
            self.records.append(claude.queue("dequeue"))
            self._line(words, "queued" if not words.startswith("<task") else "system")
        else:
            self._line(self.random.choice((*_SHORT, f"prompt {self._uuid()}")), "typed")

    def _work(self) -> None:
        chance = self.random.random()
        if chance < 0.4:
            human = self.random.random() < 0.7
            words = self.random.choice((*_SHORT, f"prompt {self._uuid()}")) if human else _NOTE.format(self._uuid())
            self.waiting.append((human, words))
            self.records.append(claude.queue("enqueue", words))
        elif chance < 0.6 and self.waiting:
            self._take_in()
        elif chance < 0.65 and self.waiting:
            self.records.append(claude.queue("popAll", self.waiting[0][1]))
            self.waiting.clear()
        elif chance < 0.7 and self.style["origin"]:
            self.waiting.clear()
            self.busy = False
        elif chance < 0.8:
            self.busy = False
        else:
            self._answer()

    def _take_in(self) -> None:
        removed: list[Record] = []
        attached: list[Record] = []
        for human, words in self.waiting:
            self.sent[words] += human
            named = self.style["named"] if self.style["named"] is not None else self.random.random() < 0.5
            why: Record = {"reason": "absorbed_mid_turn"} if self.style["reason"] else {}
            removed.append(claude.queue("remove", words if named else None, **why))
            if self.style["attached"] or (self.style["origin"] and not human):
                kind = "human" if human else "task-notification"
                mode = "prompt" if human else kind
                name = f"{self._uuid()}.{len(attached)}"
                given: Record = {"prompt": words, "commandMode": mode, "origin": {"kind": kind}}
                attached.append(claude.attachment("queued_command", name, **given))
        self.waiting.clear()
        self.records += self.random.choice((removed + attached, attached + removed))
        self._answer()


@pytest.mark.parametrize("style", STYLES)
def test_every_prompt_that_was_sent_is_shown_once(style: str) -> None:
    for number in range(150):
        session = _Session(f"{style} {number}", style)
        _, drafts = run(*session.records)
        shown = Counter(draft.payload["text"] for draft in drafts if draft.kind == "user.message")
        assert shown == +session.sent, number
