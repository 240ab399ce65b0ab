"""OpenAI Codex CLI: rollout files in `$CODEX_HOME/sessions`, in the four formats it has written since 2025."""

from __future__ import annotations

from kato_tui.core.providers.codex.provider import Codex

__all__ = ["Codex"]
