"""The Codex provider: its files, and who reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Final

from kato_tui.core.model import events
from kato_tui.core.model.facts import Facts
from kato_tui.core.providers.base import Provider, ReadHead, Record, SourceFile, text_of
from kato_tui.core.providers.codex import files
from kato_tui.core.providers.codex.translator import CodexTranslator

#: The field that alone tells two events of a kind apart. A migration (`codex migrate-rollouts`) rewrites a file
#: with other item ids, phases and result details, but keeps call ids and texts.
_IDENTITY: Final[dict[str, str]] = {
    events.TOOL_CALL: "toolCallId",
    events.TOOL_RESULT: "toolCallId",
    events.ASSISTANT_DECISION: "decisionId",
    events.USER_DECISION: "decisionId",
    events.USER_MESSAGE: "text",
    events.ASSISTANT_MESSAGE: "text",
    events.ASSISTANT_THINKING: "text",
}


class Codex(Provider):
    name: ClassVar[str] = "codex"
    resume_words: ClassVar[str] = "codex resume"
    identity_fields: ClassVar[Mapping[str, str]] = _IDENTITY

    def roots(self, environ: Mapping[str, str], home: Path) -> list[Path]:
        base = Path(environ["CODEX_HOME"]) if environ.get("CODEX_HOME") else home / ".codex"
        return [base / "sessions", base / "archived_sessions"]

    def walk(self, root: Path) -> Iterator[Path]:
        return files.walk(root)

    def identify(self, path: Path, read_head: ReadHead) -> SourceFile | None:
        source = files.from_name(self.name, path)
        if source is None:
            return self._by_content(path, read_head)
        return source if source.layout == "document" else _with_parent(source, files.first_meta(read_head(path)))

    def _by_content(self, path: Path, read_head: ReadHead) -> SourceFile | None:
        """A copy of a rollout under another name, as given on a command line."""
        if not path.name.endswith((".jsonl", ".json", ".jsonl.zst")):
            return None
        head = read_head(path)
        if not files.sniff(head):
            return None
        meta = files.first_meta(head)
        thread = text_of(meta.get("id")) or path.name.partition(".")[0]
        layout: Any = "document" if path.name.endswith(".json") else "lines"
        compressed = path.name.endswith(".zst")
        return _with_parent(SourceFile(self.name, thread, path, layout=layout, compressed=compressed), meta)

    def sniff(self, head: bytes) -> bool:
        return files.sniff(head)

    def translator(
        self, source: SourceFile, state: Record | None = None, facts: Facts | None = None
    ) -> CodexTranslator:
        return CodexTranslator(source, state, facts)

    def order(self, sources: list[SourceFile]) -> list[SourceFile]:
        """One file per generation, oldest generation first; a revert file copies nothing, so all are read.

        While Codex compresses or resumes, the plain file and its .zst exist side by side: the plain one wins.
        Rollout ids are UUIDv7, so they sort by time; the first file has none.
        """
        generations: dict[str, list[SourceFile]] = {}
        for source in sources:
            generations.setdefault(source.generation, []).append(source)
        return [super(Codex, self).order(generations[key])[0] for key in sorted(generations)]


def _with_parent(source: SourceFile, meta: Record) -> SourceFile:
    kind: Any = "subagent" if files.is_subagent(meta) else "main"
    return replace(source, kind=kind, parent=files.parent_of(meta))
