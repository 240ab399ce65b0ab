"""Claude Code: everything kato-tui knows about its logs. Evidence for each trap is in the format notes."""

from kato_tui.core.providers.claude.provider import Claude

__all__ = ["Claude"]
