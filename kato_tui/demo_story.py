"""The story of the demonstration: a small team builds Harbour, a web page with tide tables, with three assistants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from kato_tui.demo_logs import ClaudeLog, CodexLog, GeminiLog, Now

#: Recordings get these ids in this order: two of them share their short form, so that a stop can be ambiguous.
RECORDING_IDS: Final = (
    "7ade0001-5c1e-4a10-9b6e-0000000000a1",
    "7ade0001-9f20-4c33-8d71-0000000000a2",
    "c5f70002-1d2e-4b44-9a10-0000000000b1",
    "9e310003-77aa-4f0b-8c52-0000000000c1",
)

_TEST_RUN: Final = "tests/test_tides.py ....F....\nE   assert '23:58' == '00:02'\n1 failed, 8 passed in 0.41s"
_TEST_GREEN: Final = "tests/test_tides.py .........\n9 passed in 0.38s"
_EXPLANATION: Final = """The port is in UTC+1, the test compares with UTC:

```python
assert tide.at == datetime.now().time()
```

Two ways out:

1. **freeze the clock** of the test, or
2. compare times that know their zone.

The first is one line; the second also mends `harbour/feed.py`."""
_TEST: Final = "tests/test_tides.py"
_OLD: Final = "def test_next_tide():\n    assert tide.at == datetime.now().time()\n"
_NEW: Final = "def test_next_tide(frozen):\n    assert tide.at == frozen.time()\n"


@dataclass(frozen=True, slots=True)
class Beat:
    """One thing that happens: how long after the one before, what to tell about it, and the writing itself."""

    after: float
    told: str
    play: Callable[[], None]


class Stage:
    """The sessions of the story, with their pens. Made before the engine starts: what is in them then is history."""

    def __init__(self, home: Path, now: Now) -> None:
        self.cwd = home / "code" / "harbour"
        self.notes = home / "notes"
        self.cwd.mkdir(parents=True, exist_ok=True)
        self.notes.mkdir(parents=True, exist_ok=True)
        self.tests = ClaudeLog(home, self.cwd, "4b1f6c1e-2d70-4f0c-9a55-6f1d2c3b4a50", now, "fix/midnight-tide")
        self.design = ClaudeLog(home, self.cwd, "9d0e7f2a-8c41-4e6b-b2a7-0c9e8d7f6a51", now, "main")
        yesterday: Now = lambda: now() - timedelta(hours=20)  # noqa: E731
        self.legacy = CodexLog(home, self.cwd, "019a7c10-3b2a-7e10-8f00-52d1c0a9b801", yesterday, paginated=False)
        self.export = CodexLog(home, self.cwd, "019aa3f4-61c7-7b22-9d10-7be2f1c0d902", now, paginated=True)
        self.cache = GeminiLog(home, self.cwd, "e2c4a6b8-1357-4bdf-8ace-02468ace1357", now)
        self.pending = ""
        self._history()

    def _history(self) -> None:
        self.legacy.user("bring the linter up to date and fix what it finds")
        call = self.legacy.call("exec_command", cmd="ruff check .")
        self.legacy.result(call, "Found 3 errors (3 fixed, 0 remaining).")
        self.legacy.say("ruff is at its newest version; it found three unused imports, which I removed.")
        self.design.user("sketch the tide page: what does a visitor want to see first?")
        self.design.title("Design of the tide page")
        self.design.say("The next high water, as a time and a height, and how long it is until then.")
        self.tests.user("the tide test fails around midnight, but only sometimes")
        self.tests.title("Flaky tide test at midnight")
        self.cache.user("how does the cache in harbour/feed.py decide that a table is stale?")
        self.cache.say("By the day of the table: after midnight, local time of the port, it is fetched anew.")

    # The script.

    def script(self) -> Iterator[Beat]:
        yield from self._opening()
        yield from self._export_story()
        yield from self._crossing()
        yield from self._closing()

    def _opening(self) -> Iterator[Beat]:
        tests = self.tests
        yield Beat(1, "Claude: the user starts a recording", lambda: tests.user("::start\nrun it and show me"))
        yield Beat(2, "Claude runs the tests", lambda: self._hold(tests.call("Bash", command="pytest -q")))
        yield Beat(3, "the test fails", lambda: tests.result(self.pending, _TEST_RUN))
        yield Beat(2, "Claude explains", lambda: tests.say(_EXPLANATION))
        notes = "::start ~/notes/midnight.md\ngood find. keep this part in my notes as well"
        yield Beat(3, "the user records to notes as well", lambda: tests.user(notes))

    def _export_story(self) -> Iterator[Beat]:
        export = self.export
        question = "Which separator shall the CSV use?"
        options = (("Comma", "what most programs expect"), ("Semicolon", "what spreadsheets here expect"))
        capture = "::capture ~/notes/csv-export.md\nadd a CSV export of a month of tides"
        yield Beat(2, "Codex: everything is captured", lambda: export.user(capture))
        yield Beat(2, "Codex asks", lambda: self._hold(export.ask(question, *options)))
        yield Beat(4, "the user answers", lambda: export.answer(self.pending, question, "Semicolon"))
        patch = "*** Begin Patch\n*** Add File: harbour/export.py\n+import csv\n*** End Patch"
        yield Beat(2, "Codex writes the file", lambda: self._hold(export.call("apply_patch", input=patch)))
        yield Beat(1, "the patch is in", lambda: export.result(self.pending, "Success. Updated: A harbour/export.py"))
        yield Beat(
            2, "Codex is done", lambda: export.say("`harbour export --month` writes semicolons; tests included.")
        )

    def _crossing(self) -> Iterator[Beat]:
        tests, cache = self.tests, self.cache
        stop = "::stop id:7ade0001\nfix the test then"
        yield Beat(2, "Claude: a stop that could mean two recordings", lambda: tests.user(stop))
        yield Beat(1, "Claude begins a reply", lambda: tests.say("Comparing times with their zone needs a change in"))
        yield Beat(1, "the stream broke: the reply is taken back", lambda: tests.truncate(1))
        yield Beat(
            1, "Claude says it another way", lambda: tests.say("I freeze the clock of the test at 00:02 port time.")
        )
        yield Beat(1, "Claude edits the test", lambda: self._hold(tests.edit(_TEST, _OLD, _NEW)))
        yield Beat(1, "the edit is in", lambda: tests.edited(self.pending, _TEST, _OLD, _NEW))
        yield Beat(2, "Claude runs the tests again", lambda: self._hold(tests.call("Bash", command="pytest -q")))
        yield Beat(2, "all green", lambda: tests.result(self.pending, _TEST_GREEN))
        yield Beat(2, "Gemini: a question", lambda: cache.user("::start\nmake the cache expire an hour earlier"))
        yield Beat(1, "Gemini reads a file", lambda: self._hold(cache.call("read_file", file_path="harbour/feed.py")))
        yield Beat(1, "the file", lambda: cache.result(self.pending, "STALE_AFTER = timedelta(hours=24)\n"))
        yield Beat(2, "Gemini answers", lambda: cache.say("Set STALE_AFTER to 23 hours."))

    def _closing(self) -> Iterator[Beat]:
        tests, cache = self.tests, self.cache
        yield Beat(2, "Gemini: the user takes the question back", lambda: cache.rewind(cache.last_user))
        yield Beat(1, "and asks anew", lambda: cache.user("better: expire it at local midnight"))
        yield Beat(2, "Gemini answers", lambda: cache.say("Then compare dates in the port's own zone."))
        question = "Commit this now?"
        options = (("Yes", "one commit"), ("Not yet", "keep looking"))
        yield Beat(2, "Claude asks", lambda: self._hold(tests.ask(question, *options)))
        yield Beat(3, "the user answers", lambda: tests.answer(self.pending, question, "Yes"))
        yield Beat(2, "Claude is done", lambda: tests.say("Committed as `Freeze the clock in the midnight test`."))
        yield Beat(2, "a command with a slip", lambda: tests.user("::strat ~/notes/x.md"))
        wrong = "::stop dest:~/notes/midnight.md\nthanks, that is all for the notes"
        yield Beat(2, "the notes are complete", lambda: tests.user(wrong))
        yield Beat(2, "a path that is not allowed", lambda: self.design.user("::record /etc/harbour.md"))

    def chorus(self, number: int) -> Iterator[Beat]:
        """What goes on after the story, for as long as somebody watches."""
        ports = ("Brest", "Saint-Malo", "Dover", "Hamburg", "Bergen")
        port = ports[number % len(ports)]
        yield Beat(6, f"Claude: {port} is next", lambda: self.tests.user(f"now the same for {port}"))
        yield Beat(3, "Claude runs the tests", lambda: self._hold(self.tests.call("Bash", command=f"pytest -k {port}")))
        yield Beat(4, "all green", lambda: self.tests.result(self.pending, _TEST_GREEN))
        yield Beat(3, "Claude is done", lambda: self.tests.say(f"{port} passes, at midnight too."))
        yield Beat(5, "Codex: a question", lambda: self.export.user(f"does the export know {port}?"))
        yield Beat(3, "Codex answers", lambda: self.export.say(f"Yes: {port} is in the list of ports."))

    def _hold(self, call_id: str) -> None:
        """The call that waits for its result."""
        self.pending = call_id
