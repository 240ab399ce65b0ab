"""Feeds Claude logs to a translator the way a batch does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kato_tui.core.model.events import PAYLOADS
from kato_tui.core.providers.base import Draft, SourceFile, SourceKind
from kato_tui.core.providers.claude import Claude
from kato_tui.core.providers.claude.translator import ClaudeTranslator
from tests.unit import claude_log as claude


def source(kind: SourceKind = "main") -> SourceFile:
    parent = None if kind == "main" else claude.SESSION
    name = claude.SESSION if kind == "main" else f"{claude.SESSION}.agent-1"
    return SourceFile("claude", name, Path(f"/logs/{name}.jsonl"), kind, parent=parent)


def feed(translator: ClaudeTranslator, log: bytes) -> list[Draft]:
    drafts: list[Draft] = []
    position = 0
    for line in log.split(b"\n"):
        drafts += translator.feed(line, position)
        position += len(line) + 1
    return drafts


def run(*records: dict[str, Any], kind: SourceKind = "main") -> tuple[ClaudeTranslator, list[Draft]]:
    """The translator and the drafts after these records; every draft is valid and every record is accounted for."""
    translator = Claude().translator(source(kind))
    translator.tally = {}
    drafts = feed(translator, claude.lines(*records))
    for draft in drafts:
        PAYLOADS[draft.kind].model_validate(draft.payload)
    for row in translator.tally.values():
        assert row.read == row.translated + row.dropped + row.repeated + row.raw + row.invalid
    return translator, drafts


def told(*records: dict[str, Any], kind: SourceKind = "main") -> list[tuple[str, Any]]:
    """(kind, text or payload) of each event."""
    return [(draft.kind, draft.payload.get("text", draft.payload)) for draft in run(*records, kind=kind)[1]]


def typed_texts(*records: dict[str, Any]) -> list[str]:
    return [text for kind, text in told(*records) if kind == "user.message"]


def state(*records: dict[str, Any]) -> tuple[str, str, str | None]:
    agent = run(*records)[0].facts.agent_state
    return agent.state, agent.reason, agent.tool
