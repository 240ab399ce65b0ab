"""The list of providers: adding an assistant is one module and one line here."""

from __future__ import annotations

from pathlib import Path

from kato_tui.core.ingest import reader
from kato_tui.core.providers.base import Provider, SourceFile
from kato_tui.core.providers.claude import Claude
from kato_tui.core.providers.codex import Codex
from kato_tui.core.providers.gemini import Gemini

PROVIDERS: dict[str, Provider] = {provider.name: provider for provider in (Claude(), Codex(), Gemini())}


def detect(path: Path, provider: Provider | None = None) -> tuple[Provider, SourceFile] | None:
    """Whose log a file is when only the file is given: by its name, else by its first bytes."""
    candidates = [provider] if provider is not None else list(PROVIDERS.values())
    head = reader.read_head(path)
    for candidate in candidates:
        # The content decides between providers: a file copied elsewhere may carry any name.
        if provider is not None or candidate.sniff(head):
            source = candidate.identify(path, reader.read_head)
            return candidate, source or unnamed_source(candidate, path)
    return None


def unnamed_source(provider: Provider, path: Path) -> SourceFile:
    """A log under a name of its own: its name stands in for the session id."""
    compressed = path.suffix == ".zst"
    name = path.name.removesuffix(".zst")
    document = name.endswith(".json")
    return SourceFile(
        provider=provider.name,
        provider_session_id=name.rsplit(".", 1)[0] or name,
        path=path,
        layout="document" if document else "lines",
        compressed=compressed,
    )
