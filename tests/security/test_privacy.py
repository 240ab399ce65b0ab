"""What kato-tui writes is the user's alone, and its logs say what was done, never what was said."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kato_tui.core.model.intents import Intent
from kato_tui.core.paths import Home
from tests.machine import CLAUDE, CODEX, GEMINI, Machine
from tests.scenes import SCENES
from tests.unit import claude_log

SECRET = "sk-live-0123456789abcdef"


@pytest.fixture
def lax_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def _day(base: Path) -> Machine:
    """Every assistant's day, secrets in them, with recordings, exports, refusals, a rewrite and a crash's leftovers."""
    machine = Machine(base)
    for place in (CLAUDE, CODEX, GEMINI):
        kind = place.provider
        Machine(base, place).write(place.lines(*SCENES[kind][1]))
    engine = machine.engine()
    engine.bring_up_to_date()
    said = [
        claude_log.typed(f"the password is {SECRET}\n::capture ~/deep/er/notes.md\n::start ~/.x/{SECRET}.md", "s1"),
        claude_log.assistant(claude_log.text(f"I see {SECRET}"), claude_log.call(command=SECRET), uuid="s2"),
        claude_log.result(f"out {SECRET}"),
        {"type": SECRET, "token": SECRET},
        claude_log.typed(f"::strat {SECRET}", "s3"),
    ]
    with machine.path.open("ab") as log:
        log.write(b'{"broken": "%b\n' % SECRET.encode())
        log.write(claude_log.lines(*({**one, "timestamp": "2026-11-18T10:00:00.000Z"} for one in said)))
    engine.discover()
    engine.bring_up_to_date()
    for argument in ("~/all.md", "~/all.jsonl", "/etc/x.md"):
        engine.submit(Intent(action="export", argument=argument, session=CLAUDE.session))
    engine.submit(Intent(action="stop"))
    with machine.home.twin(CLAUDE.key).open("ab") as twin:
        twin.write(b'{"torn')
    machine.write(machine.path.read_bytes()[100:])
    engine.discover()
    engine.bring_up_to_date()
    engine.close()
    machine.run()
    return machine


@pytest.mark.usefixtures("lax_umask")
def test_all_that_is_made_is_private_whatever_the_umask(tmp_path: Path) -> None:
    machine = _day(tmp_path)
    made = [machine.home.root, *machine.home.root.rglob("*"), *tmp_path.glob("all.*"), tmp_path / "deep"]
    made += (tmp_path / "deep").rglob("*")
    names = {path.name for path in made}
    assert {"notes.md", "all.md", "all.jsonl", "operational.jsonl", "audit.jsonl", "engine.lock"} <= names
    for path in made:
        assert path.lstat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_logs_hold_no_secret_and_nothing_of_the_conversation(tmp_path: Path) -> None:
    machine = _day(tmp_path)
    logs = b"".join(path.read_bytes() for path in machine.home.log_files())
    assert b'"allow"' in logs and b'"deny"' in logs and b'"command"' in logs
    # The one place of the secret is the name of a file that the user wanted written.
    for line in logs.splitlines():
        assert SECRET.encode() not in line or b'"deny"' in line, line
    for words in (b"password", b"I see", b"git diff", b"Keep the old name", b"SQLite"):
        assert words not in logs


def test_state_that_others_could_read_is_taken_back(tmp_path: Path) -> None:
    """A home that was made by hand, or copied from elsewhere: new files in it are private all the same."""
    home = Home(tmp_path / "kato")
    home.root.mkdir(mode=0o755)
    machine = Machine(tmp_path)
    machine.write(claude_log.lines(claude_log.typed("hi")))
    machine.run()
    for path in home.root.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path
