"""Where Claude Code keeps its logs, and whose log a file is. Reads names and heads, never whole files."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from kato_tui.core.providers.base import ReadHead, Record, SourceFile, text_of
from kato_tui.core.providers.parsing import parse
from kato_tui.core.text import one_line

#: Only UUID stems are sessions: `sessions-index.json` and other companions share the folder.
UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_AGENT: Final = re.compile(r"agent-(.+)\.jsonl")
_JOURNAL: Final = "journal.jsonl"
_MUNGED: Final = re.compile(r"[^A-Za-z0-9]")
#: Lines without a message that only this provider writes; each also carries one of `_ANCHORS`.
_BOOKKEEPING: Final = frozenset(
    {
        "summary",
        "ai-title",
        "custom-title",
        "last-prompt",
        "queue-operation",
        "file-history-snapshot",
        "permission-mode",
        "mode",
        "progress",
        "attachment",
        "system",
    }
)
_ANCHORS: Final = ("sessionId", "leafUuid", "messageId", "parentUuid", "uuid")
_HEAD_LINES: Final = 20
_MAX_SIDECAR: Final = 64 << 10


def roots(environ: Mapping[str, str], home: Path) -> list[Path]:
    """The `projects` folder of each configuration folder: hosts may run several, listed in one variable.

    Since 1.0.30 some installations use the XDG folder, which counts where it is there.
    """
    named = [part.strip() for part in re.split(rf"[,{os.pathsep}]", environ.get("CLAUDE_CONFIG_DIR", ""))]
    folders = [_expand(part, home) for part in named if part]
    if not folders:
        xdg = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "claude"
        folders = [home / ".claude", *([xdg] if (xdg / "projects").is_dir() else [])]
    return [folder / "projects" for folder in dict.fromkeys(folders)]


def _expand(folder: str, home: Path) -> Path:
    if folder == "~" or folder.startswith("~/"):
        return home / folder[2:]
    return Path(folder)


def is_project_of(folder: Path, name: str) -> bool:
    """Whether `name` is what the sessions of `folder` lie under. A long name is cut, and then it proves nothing."""
    return name == _MUNGED.sub("-", unicodedata.normalize("NFC", str(folder)))


def walk(root: Path) -> Iterator[Path]:
    """Every session, sub-agent and workflow log below `root`. Symlinked folders are not entered below a project."""
    for project in _folders(root, follow=True):
        files, folders = _list(project)
        for name in files:
            if name.endswith(".jsonl") and (UUID.fullmatch(name[:-6]) or _AGENT.fullmatch(name)):
                yield project / name
        for name in folders:
            if UUID.fullmatch(name):
                yield from _subagents(project / name / "subagents")


def _subagents(folder: Path) -> Iterator[Path]:
    yield from (folder / name for name in _list(folder)[0] if _AGENT.fullmatch(name))
    for run in _folders(folder / "workflows"):
        yield from (run / name for name in _list(run)[0] if name == _JOURNAL or _AGENT.fullmatch(name))


def _folders(folder: Path, *, follow: bool = False) -> list[Path]:
    return [folder / name for name in _list(folder, follow=follow)[1]]


def _list(folder: Path, *, follow: bool = False) -> tuple[list[str], list[str]]:
    """Names of the files and of the folders in `folder`, sorted; nothing for a folder that cannot be read."""
    files: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=follow):
                    folders.append(entry.name)
                elif entry.is_file():
                    files.append(entry.name)
    except OSError:
        return sorted(files), sorted(folders)
    return sorted(files), sorted(folders)


def identify(provider: str, path: Path, read_head: ReadHead) -> SourceFile | None:
    """By name. Only the flat sub-agent layout (2.0.x) needs the head: nothing in its name tells the parent."""
    name, folder = path.name, path.parent
    run = _workflow_parent(folder)
    if name == _JOURNAL and run:
        return SourceFile(provider, f"{run}.workflow-{folder.name}", path, "workflow", parent=run)
    agent = _AGENT.fullmatch(name)
    if agent:
        parent = run or (folder.parent.name if folder.name == "subagents" else _session_in(path, read_head))
        session = f"{parent}.agent-{agent[1]}" if parent else f"agent-{agent[1]}"
        return SourceFile(provider, session, path, "subagent", parent=parent)
    if path.suffix == ".jsonl" and UUID.fullmatch(path.stem):
        return SourceFile(provider, path.stem, path)
    return None


def _workflow_parent(folder: Path) -> str | None:
    """`<uuid>/subagents/workflows/<runId>`: the uuid."""
    if folder.parent.name == "workflows" and folder.parent.parent.name == "subagents":
        return folder.parent.parent.parent.name or None
    return None


def _session_in(path: Path, read_head: ReadHead) -> str | None:
    try:
        head = read_head(path)
    except OSError:
        return None
    for record in _records(head):
        session = text_of(record.get("sessionId"))
        if session:
            return session
    return None


def sniff(head: bytes) -> bool:
    """Whether a file of any name is a transcript. Codex and Gemini lines also have a `type`: it is not enough."""
    for record in _records(head):
        kind = record.get("type")
        if kind in ("user", "assistant") and isinstance(record.get("message"), dict):
            return True
        if isinstance(kind, str) and kind in _BOOKKEEPING and any(key in record for key in _ANCHORS):
            return True
    # A first line longer than the head (a pasted image) cannot be parsed here.
    return head.startswith(b"{") and b"\n" not in head and b'"parentUuid"' in head and b'"isSidechain"' in head


def _records(head: bytes) -> Iterator[Record]:
    for line in head.split(b"\n", _HEAD_LINES)[:_HEAD_LINES]:
        record = parse(line) if line.strip() else None
        if isinstance(record, dict):
            yield record


def agent_description(path: Path) -> str | None:
    """The `description` in the sidecar of a sub-agent's log (`agent-<id>.meta.json`), if there is one."""
    try:
        with path.with_suffix(".meta.json").open("rb") as file:
            sidecar = parse(file.read(_MAX_SIDECAR))
    except OSError:
        return None
    return one_line(text_of(sidecar.get("description"))) or None if isinstance(sidecar, dict) else None
