"""A folder that one assistant's logs lie behind is closed: the others go on, and it is said."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kato_tui.commands import show
from kato_tui.core.ingest.discover import is_folder
from tests.machine import CLAUDE, CODEX, Machine
from tests.unit import claude_log, codex_log

Close = Callable[[Path], None]


@pytest.fixture
def close(monkeypatch: pytest.MonkeyPatch) -> Close:
    """Close a folder, also for root: whatever lies behind it can neither be looked at nor listed."""
    closed: list[Path] = []

    def barred(work: Callable[..., Any]) -> Callable[..., Any]:
        def refusing(path: Any, *args: Any, **more: Any) -> Any:
            if isinstance(path, str | Path) and any(one in Path(path).parents for one in closed):
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return work(path, *args, **more)

        return refusing

    for name in ("stat", "scandir", "open"):
        monkeypatch.setattr(os, name, barred(getattr(os, name)))
    return closed.append


def _machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path, CLAUDE)
    machine.write(claude_log.lines(claude_log.user("hello")))
    rollout = tmp_path / CODEX.path
    rollout.parent.mkdir(parents=True)
    rollout.write_bytes(codex_log.lines(codex_log.meta(), *codex_log.prompt("hi")))
    return machine


def test_a_closed_folder_of_one_assistant_is_told_and_stops_no_other(tmp_path: Path, close: Close) -> None:
    machine = _machine(tmp_path)
    close(tmp_path / ".codex")
    assert machine.run().problems == {}
    engine = machine.engine()
    roots = {one.path: one for one in engine.engine_status().roots}
    engine.close()
    closed = roots[str(tmp_path / ".codex" / "sessions")]
    assert closed.exists and closed.problem == "permission denied"
    assert len(machine.events()) == 1
    (line, *_) = show.closed_roots({"roots": [one.model_dump(exclude_none=True) for one in roots.values()]})
    assert str(closed.path) in line and "kato-tui doctor" in line


def test_a_hint_from_behind_a_folder_that_was_closed_meanwhile_is_no_change(tmp_path: Path, close: Close) -> None:
    machine = _machine(tmp_path)
    engine = machine.engine()
    engine.bring_up_to_date()
    close(tmp_path / ".codex")
    assert engine.look({tmp_path / CODEX.path, (tmp_path / CODEX.path).parent}) == set()
    assert not is_folder((tmp_path / CODEX.path).parent)
    assert CLAUDE.key in engine.sessions and CODEX.key not in engine.sessions
    # It cannot be seen, which is not to say that it is gone.
    assert engine.survey.session_status(CODEX.key).source_gone is False
    engine.close()


def test_a_log_that_came_back_is_not_told_as_gone(tmp_path: Path) -> None:
    machine = _machine(tmp_path)
    machine.run()
    away = machine.path.rename(tmp_path / "away.jsonl")
    machine.run()
    away.rename(machine.path)
    engine = machine.engine()
    engine.discover()
    assert engine.survey.session_status(CLAUDE.key).source_gone is False
    engine.close()
