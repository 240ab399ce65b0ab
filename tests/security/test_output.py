"""Nothing of a log acts on the terminal that shows it: tables, JSON, the engine's own lines, errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kato_tui import cli
from kato_tui.core import identity
from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.hub import Delta
from kato_tui.core.providers.registry import PROVIDERS
from kato_tui.exit_codes import USAGE
from kato_tui.headless import _json_lines, _lines
from tests.conftest import ManualClock
from tests.machine import CLAUDE, CODEX, Machine
from tests.security import hostile

SESSION = identity.session_id(CLAUDE.key)
OTHER = identity.session_id(CODEX.key)
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("--no-ui", "--once"),
    ("status", "--all"),
    ("status", "--all", "--json"),
    ("sessions", "--all"),
    ("sessions", "--all", "--json"),
    ("events", SESSION),
    ("export", SESSION, "-"),
    ("export", OTHER, "-"),
    ("start", SESSION),
    ("start", SESSION, "~/{0}.md"),
    ("start", SESSION, "/etc/{0}.md"),
    ("capture", OTHER, "~/notes {0}.md"),
    ("recordings",),
    ("recordings", "--json"),
    ("stop", "{0}"),
    ("stop", "--session", "{0}"),
    ("events", "{0}"),
    ("clean", "--older-than", "0"),
    ("clean", "--session", SESSION),
    ("doctor",),
    ("doctor", "--json"),
    ("{0}",),
    ("start", SESSION, "--{0}"),
)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield tmp_path


@pytest.mark.parametrize("kind", sorted(hostile.ALL))
def test_no_command_prints_what_a_terminal_acts_on(
    machine: Path, capfdbinary: pytest.CaptureFixture[bytes], kind: str
) -> None:
    text = hostile.ALL[kind]
    hostile.write(machine, text)
    for command in COMMANDS:
        arguments = [part.format(text).replace("\x00", "") for part in command]
        try:
            cli.run(arguments)
        except SystemExit as ended:
            assert ended.code == USAGE
        out, err = capfdbinary.readouterr()
        # A Markdown export to stdout is a file: it may hold directions of people's own scripts, no control characters.
        active = hostile.CONTROLS if command[0] == "export" else hostile.ACTIVE
        for output in (out, err):
            found = active.search(output.decode())
            assert not found, (command, kind, output[max(0, found.start() - 60) :][:120])


@pytest.mark.parametrize("kind", sorted(hostile.ALL))
def test_the_engines_own_lines_are_clean(tmp_path: Path, kind: str) -> None:
    """`--no-ui` and `--no-ui --json` of an engine that was told hostile things."""
    text = hostile.ALL[kind]
    hostile.write(tmp_path, text)
    machine = Machine(tmp_path)
    engine = Engine(machine.home, Config(), PROVIDERS, {}, tmp_path, ManualClock())
    engine.start()
    engine.bring_up_to_date()
    engine.say("x", "error", f"said {text}")
    notices = tuple(
        {"id": 1, **one.model_dump(mode="json", by_alias=True, exclude_none=True)} for one in engine.notices
    )
    engine.close()
    glances = ({"sessionShortId": text, "seq": 1, "kind": "user.message", "text": text, "tool": text},)
    progress = {"done": 0, "total": 0, "bytes": 0}
    delta = Delta(1, glances, 1, (text,), notices, progress, closed=False)
    for line in [*_lines(delta), *_json_lines(delta, progress)]:
        assert not hostile.ACTIVE.search(line) and "\n" not in line
