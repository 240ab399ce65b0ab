"""Where Claude logs are found, and whose they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kato_tui.core.model.facts import Facts
from kato_tui.core.providers.claude import Claude
from tests.unit import claude_log as claude


def _make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(claude.lines(claude.typed("hi")))


def _no_head(_path: Path) -> bytes:
    raise AssertionError("the name already tells")


def test_roots_follow_the_environment() -> None:
    home = Path("/home/me")
    assert Claude().roots({}, home) == [home / ".claude/projects"]
    several = {"CLAUDE_CONFIG_DIR": f"/a, /b{os.pathsep}~/c"}
    assert Claude().roots(several, home) == [Path("/a/projects"), Path("/b/projects"), home / "c/projects"]


def test_the_xdg_folder_counts_where_it_is_there(tmp_path: Path) -> None:
    usual, xdg = tmp_path / ".claude/projects", tmp_path / ".config/claude/projects"
    assert Claude().roots({}, tmp_path) == [usual]
    xdg.mkdir(parents=True)
    assert Claude().roots({}, tmp_path) == [usual, xdg]
    elsewhere = {"XDG_CONFIG_HOME": str(tmp_path / ".config")}
    assert Claude().roots(elsewhere, tmp_path / "other") == [tmp_path / "other/.claude/projects", xdg]


def test_only_session_logs_are_found(tmp_path: Path) -> None:
    session = claude.SESSION
    wanted = {
        f"p/{session}.jsonl",
        "p/agent-1.jsonl",
        f"p/{session}/subagents/agent-2.jsonl",
        f"p/{session}/subagents/workflows/run/agent-3.jsonl",
        f"p/{session}/subagents/workflows/run/journal.jsonl",
    }
    _make(tmp_path, *wanted, "p/notes.jsonl", "p/sessions-index.json", f"p/{session}/tool-results/x.txt", "x.jsonl")
    (tmp_path / "p" / session / "subagents" / "workflows" / "loop").symlink_to(tmp_path)
    assert {str(path.relative_to(tmp_path)) for path in Claude().walk(tmp_path)} == wanted


def test_a_missing_root_is_empty(tmp_path: Path) -> None:
    assert list(Claude().walk(tmp_path / "none")) == []


def test_a_session_is_named_by_its_file() -> None:
    path = Path(f"/x/p/{claude.SESSION}.jsonl")
    found = Claude().identify(path, _no_head)
    assert found is not None
    assert (found.provider_session_id, found.kind, found.parent) == (claude.SESSION, "main", None)
    assert Claude().identify(Path("/x/p/notes.jsonl"), _no_head) is None


@pytest.mark.parametrize(
    ("name", "session", "kind"),
    [
        ("subagents/agent-7.jsonl", "agent-7", "subagent"),
        ("subagents/workflows/run/agent-7.jsonl", "agent-7", "subagent"),
        ("subagents/workflows/run/journal.jsonl", "workflow-run", "workflow"),
    ],
)
def test_sub_agents_name_their_parent(name: str, session: str, kind: str) -> None:
    found = Claude().identify(Path(f"/x/p/{claude.SESSION}/{name}"), _no_head)
    assert found is not None
    assert (found.provider_session_id, found.kind) == (f"{claude.SESSION}.{session}", kind)
    assert found.parent == claude.SESSION


def test_a_flat_sub_agent_names_its_parent_inside() -> None:
    path = Path("/x/p/agent-7.jsonl")
    found = Claude().identify(path, lambda _: claude.lines(claude.user("look")))
    assert found is not None
    assert (found.provider_session_id, found.parent) == (f"{claude.SESSION}.agent-7", claude.SESSION)
    alone = Claude().identify(path, lambda _: b"{}\n")
    assert alone is not None
    assert (alone.provider_session_id, alone.parent) == ("agent-7", None)


def test_a_log_is_recognised_whatever_its_name() -> None:
    assert Claude().sniff(claude.lines({"type": "mode", "mode": "normal", "sessionId": "x"}))
    assert Claude().sniff(claude.lines(claude.typed("x" * 100))[:150])
    assert not Claude().sniff(b'{"type":"session_meta","payload":{"id":"x"}}\n{"type":"response_item","payload":{}}\n')
    assert not Claude().sniff(b'{"id":"1","type":"user","content":[{"text":"hi"}],"timestamp":"t"}\n')
    assert not Claude().sniff(b"# notes\n")


def test_of_several_files_of_one_session_the_fullest_is_read(tmp_path: Path) -> None:
    """A move to a worktree sometimes leaves a stub of book-keeping lines, which may be newer than the conversation."""
    _make(tmp_path, f"-w/{claude.SESSION}.jsonl", f"-w-worktree/{claude.SESSION}.jsonl")
    full, stub = (tmp_path / folder / f"{claude.SESSION}.jsonl" for folder in ("-w", "-w-worktree"))
    stub.write_bytes(claude.lines(claude.title("ai-title", "x")))
    os.utime(full, (1, 1))
    sources = [source for path in (full, stub) if (source := Claude().identify(path, _no_head))]
    assert [source.path for source in Claude().order(sources)] == [full]
    assert [source.path for source in Claude().order(sources[::-1])] == [full]


@pytest.mark.parametrize(
    ("cwd", "project", "folder"),
    [
        ("/w/my_app", "-w-my-app", "/w/my_app"),
        ("/w/my_app/src/deep", "-w-my-app", "/w/my_app"),
        ("/w/app/.claude/worktrees/x", "-w-app--claude-worktrees-x", "/w/app/.claude/worktrees/x"),
        ("/elsewhere", "-w-my-app", "/elsewhere"),
        ("/w/" + "long" * 60, "-w-" + "long" * 49 + "l-1a2b3c", "/w/" + "long" * 60),
    ],
)
def test_a_session_is_resumed_from_its_project_wherever_it_stands_now(cwd: str, project: str, folder: str) -> None:
    """It lies under the folder in which it was started, and most versions look for it nowhere else."""
    facts = Facts(cwd=cwd, resume_ids=["s"])
    command = Claude().resume_command(facts, f"/home/me/.claude/projects/{project}/{claude.SESSION}.jsonl")
    assert command == f"cd {folder} && claude --resume s"
