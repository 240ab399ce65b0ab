"""The family of errors that kato-tui raises on purpose. Each message names the thing, the reason and the next step."""

from __future__ import annotations


class KatoError(Exception):
    """Base of all: the message is meant for the user."""


class ConfigError(KatoError):
    """The configuration cannot be used as it is."""


class NeedsRebuild(KatoError):
    """The stored state of one session cannot be trusted or understood; nothing of it has been touched."""


class SourceUnreadable(KatoError):
    """A log cannot be read now; it is tried again when it changes."""


class HomeBusy(KatoError):
    """Another engine owns this home."""


class SessionNotFound(KatoError):
    """No session by that name."""
