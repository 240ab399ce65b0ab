"""The process registry refines a state, and only when it proves something."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from kato_tui.core.providers.base import SourceFile
from kato_tui.core.providers.claude import Claude, processes

SESSION = "0f0f0f0f-0000-4000-8000-000000000001"


@pytest.fixture
def source(tmp_path: Path) -> SourceFile:
    (tmp_path / "sessions").mkdir()
    return SourceFile("claude", SESSION, tmp_path / "projects" / "-w" / f"{SESSION}.jsonl")


def _register(source: SourceFile, pid: int, session: str = SESSION) -> None:
    registry = source.path.parents[2] / "sessions"
    (registry / f"{pid}.json").write_bytes(orjson.dumps({"pid": pid, "sessionId": session}))


def _dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_registered_process_that_ended_is_gone(source: SourceFile) -> None:
    _register(source, _dead_pid())
    assert Claude().ended([source]) == {SESSION}


def test_a_running_process_is_not_gone(source: SourceFile) -> None:
    _register(source, _dead_pid())
    _register(source, os.getpid())
    assert Claude().ended([source]) == set()


def test_without_an_entry_nothing_is_claimed(source: SourceFile) -> None:
    _register(source, _dead_pid(), "another-session")
    assert Claude().ended([source]) == set()


@pytest.mark.parametrize("content", [b"", b"[]", b'{"pid": "x", "sessionId": 1}', b'{"pid": 1e30}', b"\xff"])
def test_odd_entries_are_passed_over(source: SourceFile, content: bytes) -> None:
    (source.path.parents[2] / "sessions" / "1.json").write_bytes(content)
    assert Claude().ended([source]) == set()


def test_a_registry_is_read_once_for_all_its_sessions(source: SourceFile, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = _dead_pid()
    _register(source, gone)
    read: list[Path] = []
    entries = processes._entries

    def counted(registry: Path) -> list[tuple[int, str]]:
        read.append(registry)
        return entries(registry)

    monkeypatch.setattr(processes, "_entries", counted)
    projects = source.path.parents[1]
    others = [SourceFile("claude", f"other-{n}", projects / f"-p{n % 3}" / f"other-{n}.jsonl") for n in range(30)]
    assert Claude().ended([source, *others]) == {SESSION}
    assert len(read) == 1
