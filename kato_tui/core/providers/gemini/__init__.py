"""Google Gemini CLI: whole-file JSON documents before 0.39, append-only JSONL with replay records since."""

from kato_tui.core.providers.gemini.files import Gemini

__all__ = ["Gemini"]
