"""Identity of sessions (spec §3): keys for storage, UUIDs for people, both derived and never guessed."""

from __future__ import annotations

import uuid
from functools import lru_cache
from typing import Final

#: Fixed for ever: session ids are derived from it, so that they survive the loss of all state.
_SESSION_NAMESPACE: Final = uuid.UUID("6f1b1f5e-5d0c-5a7e-9a51-6b61746f2d74")

SHORT_ID_LENGTH: Final = 8


def session_key(provider: str, provider_session_id: str) -> str:
    return f"{provider}:{provider_session_id}"


@lru_cache(maxsize=16_384)
def session_id(key: str) -> str:
    """The session's own UUID, the same on every machine and after every loss of state."""
    return str(uuid.uuid5(_SESSION_NAMESPACE, key.encode("utf-8", "surrogatepass").hex()))


def short_id(full_id: str) -> str:
    return full_id[:SHORT_ID_LENGTH]
