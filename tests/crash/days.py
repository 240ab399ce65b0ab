"""Scripted days: each step is what people and assistants do between two looks of the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.crash.town import CLAUDE, CODEX, DOCUMENT, GEMINI, Town
from tests.unit import gemini_log

Step = Callable[[Town], None]


def _says(name: str, words: str = "", reply: str = "") -> Step:
    return lambda town: town.logs[name].turn(words, reply)


def _both(town: Town) -> None:
    """Two sessions begin to write into one file."""
    town.logs[CODEX].turn("::start ~/notes/shared.jsonl")
    town.logs[CLAUDE].turn("::record ~/notes/shared.jsonl")


def _all(town: Town) -> None:
    for log in town.logs.values():
        log.turn("and on")


def _restart(town: Town) -> None:
    town.close()


def _compacted(town: Town) -> None:
    """Claude Code writes earlier rows once more, with their ids, and goes on."""
    log = town.logs[CLAUDE]
    log.add(*log.records[2:4])
    log.turn("after the compaction")


def _pruned(town: Town) -> None:
    """The head of the log is gone, and something new at its end."""
    log = town.logs[CLAUDE]
    log.records = log.records[2:]
    log.rewritten(log.records)
    log.turn("after the cut")


def _changed(town: Town) -> None:
    """A message of the document gets a tool call long after it was written: its reader has to find its place anew."""
    log = town.logs[DOCUMENT]
    log.records[1] = {**log.records[1], "toolCalls": [gemini_log.call("late", output="found")]}
    log.turn("after the change")


def _rewound(town: Town) -> None:
    """The user takes back the last turn and asks something else."""
    log = town.logs[GEMINI]
    log.turn("a turn to be taken back")
    log.add(gemini_log.rewind(f"{log.name}-u{log.number}"))
    log.turn("another way")


#: Starts, stops, captures and a resumed recording, in Markdown and JSONL; one file of two sessions.
_WORK: Final = [
    _says(CLAUDE, "::start ~/notes/a.md"),
    _says(CODEX, "::record ~/notes/deep/b.jsonl\n::capture ~/notes/d.md", "long " * 80),
    _both,
    _says(CLAUDE, "::stop dest:~/notes/a.md\nunseen", "words " * 30),
    _restart,
    _says(CLAUDE, "::start ~/notes/a.md"),
    _all,
]

#: Logs that are changed where they were already read.
_CHANGES: Final = [
    _says(CLAUDE, "::start ~/notes/a.md"),
    _says(DOCUMENT, "::capture ~/notes/g.md"),
    _says(GEMINI, "::start ~/notes/r.jsonl"),
    _compacted,
    _changed,
    _rewound,
    _pruned,
    _says(DOCUMENT, "::stop\n::start ~/notes/g.md"),
]

DAYS: Final[dict[str, list[Step]]] = {"work": _WORK, "changes": _CHANGES}
