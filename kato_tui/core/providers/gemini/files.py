"""Where Gemini CLI keeps its chats and which session a file belongs to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Final

from kato_tui.core.model import events
from kato_tui.core.model.events import CursorKind
from kato_tui.core.model.facts import Facts
from kato_tui.core.providers.base import Provider, ReadHead, Record, SourceFile, Translator
from kato_tui.core.providers.gemini import authorship, head
from kato_tui.core.providers.gemini.translate import GeminiTranslator

_SUFFIXES: Final = (".json", ".jsonl")
#: Before 0.29 a project's folder was the sha256 of its path. 0.29 copied it to a slug and left the old one behind.
_HASHED_PROJECT: Final = re.compile(r"[0-9a-f]{64}")
_MAX_PROJECT_ROOT: Final = 4096

#: What tells two events of one provider id apart. A tool result that is masked later is no second result, and a
#: question answered is answered once; a changed text under the same message id is a revision and is kept.
_IDENTITY: Final[dict[str, str]] = {
    events.TOOL_CALL: "toolCallId",
    events.TOOL_RESULT: "toolCallId",
    events.ASSISTANT_DECISION: "decisionId",
    events.USER_DECISION: "decisionId",
}


class Gemini(Provider):
    name: ClassVar[str] = "gemini"
    resume_words: ClassVar[str] = "gemini --resume"
    identity_fields: ClassVar[Mapping[str, str]] = _IDENTITY
    cursor_kind: ClassVar[CursorKind] = "item-index"

    def roots(self, environ: Mapping[str, str], home: Path) -> list[Path]:
        base = environ.get("GEMINI_CLI_HOME")
        return [(Path(base) if base else home) / ".gemini" / "tmp"]

    def walk(self, root: Path) -> Iterator[Path]:
        """`<project>/chats/session-*` and the sub-agents' files one folder below. Nothing else is a chat:
        `logs.json`, checkpoints, `.tmp-<pid>` and `.unreadable-<ms>` leftovers stay out by name."""
        for project in _entries(root):
            for entry in _entries(Path(project.path) / "chats"):
                if entry.name.startswith("session-") and entry.name.endswith(_SUFFIXES):
                    yield Path(entry.path)
                elif _is_folder(entry):
                    yield from (Path(e.path) for e in _entries(Path(entry.path)) if e.name.endswith(_SUFFIXES))

    def identify(self, path: Path, read_head: ReadHead) -> SourceFile | None:
        if path.suffix not in _SUFFIXES:
            return None
        try:
            found = head.read(read_head(path))
        except OSError:
            return None
        if found is None:
            return None
        # Since 0.37 a sub-agent's chat lies in a folder named after its parent's session; before, beside it.
        # A project may itself be called `chats`.
        nested = path.parent.parent.name == "chats" and path.parent.name != "chats"
        parent = path.parent.name if nested else None
        return SourceFile(
            provider=self.name,
            provider_session_id=f"{parent}.{found.session_id}" if parent else found.session_id,
            path=path,
            kind="subagent" if parent or found.kind == "subagent" else "main",
            layout="document" if path.suffix == ".json" else found.layout,
            generation="jsonl" if path.suffix == ".jsonl" else "",
            parent=parent,
        )

    def sniff(self, head_bytes: bytes) -> bool:
        found = head.read(head_bytes)
        return found.hashed if found else head.holds_messages(head_bytes)

    def translator(self, source: SourceFile, state: Record | None = None, facts: Facts | None = None) -> Translator:
        return GeminiTranslator(source, state, facts)

    def order(self, sources: list[SourceFile]) -> list[SourceFile]:
        """The legacy document, then the JSONL that 0.39 went on with: same message ids, so what both hold is one.

        Of the copies in a hash folder and a slug folder only the one still written to is read.
        """
        newest: dict[str, SourceFile] = {}
        for source in sorted(sources, key=_freshness):
            newest[source.generation] = source
        return [newest[generation] for generation in sorted(newest)]

    def facts_beside(self, source: SourceFile, facts: Facts) -> None:
        """Chats rarely name their folder; since 0.29 a file of their project does."""
        if facts.cwd is None:
            facts.cwd = _project_root(source.path)


def _project_root(path: Path) -> str | None:
    """What the `.project_root` file of the chat's project says, if it is there and names a folder."""
    project = _project(path)
    if project is None:
        return None
    try:
        with (project / ".project_root").open("rb") as file:
            root = file.read(_MAX_PROJECT_ROOT).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return authorship.folder(root)


def _project(path: Path) -> Path | None:
    """The project folder that holds the `chats` folder of `path`."""
    for folder in list(path.parents)[:2]:
        if folder.name == "chats":
            return folder.parent
    return None


def _freshness(source: SourceFile) -> tuple[int, int, bool, str]:
    project = _project(source.path)
    slug = project is not None and _HASHED_PROJECT.fullmatch(project.name) is None
    try:
        stat = source.path.stat()
    except OSError:
        return 0, 0, slug, str(source.path)
    return stat.st_mtime_ns, stat.st_size, slug, str(source.path)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What `folder` holds, in a stable order; nothing where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
