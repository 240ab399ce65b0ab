"""What a Codex translator remembers: which texts were already said, and which tool calls are open.

All of it is bounded and plain JSON, because it is saved with the session's metadata after every batch.
"""

from __future__ import annotations

from typing import Any, Final

from kato_tui.core.providers.base import Record
from kato_tui.core.providers.codex.wrappers import digest

_MAX_SAID: Final = 64
_MAX_CALLS: Final = 64
_MAX_KEY: Final = 128
#: Stands among the forms of what was said under an id.
_IDENTIFIED: Final = "#"


def key(identifier: str) -> str:
    """An id as part of the state: a hostile log may write megabytes for one."""
    return identifier if len(identifier) <= _MAX_KEY else digest(identifier)


class Said:
    """Texts of the current turn by digest, with the record forms that have told them.

    Codex writes one message in two or three forms: response item (r), event (e), completed item (i). A form that
    tells what another form told is a repeat; the same form again is a new message with the same words.
    """

    def __init__(self, saved: Any = None) -> None:
        self.entries: list[list[str]] = [list(entry) for entry in saved or []]

    def first(self, key: str, form: str, *, own_id: bool = False) -> bool:
        """Whether this form is the first to say `key`; otherwise it is noted as the mirror it is.

        What has an id of its own (`own_id`) is no mirror of words that were said under another one.
        """
        for entry in self.entries:
            if entry[0] == key and form not in entry[1] and not (own_id and _IDENTIFIED in entry[1]):
                entry[1] += form + (_IDENTIFIED if own_id else "")
                return False
        self.note(key, form + (_IDENTIFIED if own_id else ""))
        return True

    def mirrored(self, key: str, form: str) -> None:
        """`key`, if it was said, was said by this form too."""
        entry = next((entry for entry in self.entries if entry[0] == key and form not in entry[1]), None)
        if entry is not None:
            entry[1] += form

    def note(self, key: str, forms: str) -> None:
        """`key` was said by these forms at once."""
        self.entries.append([key, forms])
        del self.entries[:-_MAX_SAID]

    def holds(self, key: str) -> bool:
        return self.forms(key) is not None

    def forms(self, key: str) -> str | None:
        """The forms that have told `key`; None when none has."""
        return next((entry[1] for entry in self.entries if entry[0] == key), None)

    def clear(self) -> None:
        self.entries.clear()


class Calls:
    """The last tool calls: {id: {"n": name, "t"?: since, "c": forms of the call, "r"?: forms of its result, …}}."""

    def __init__(self, saved: Any = None) -> None:
        self.known: dict[str, Record] = {key: dict(call) for key, call in (saved or {}).items()}
        self._open: dict[str, Record] = {key: call for key, call in self.known.items() if "o" in call}

    def get(self, call_id: str) -> Record | None:
        return self.known.get(key(call_id))

    def open(self, call_id: str, name: str, form: str, since: str | None) -> Record:
        call: Record = {"n": name[:120], "c": form, "o": 1}
        if since:
            call["t"] = since
        name = key(call_id)
        for calls in (self.known, self._open):
            calls.pop(name, None)
            calls[name] = call
        while len(self.known) > _MAX_CALLS:
            oldest = next(iter(self.known))
            del self.known[oldest]
            self._open.pop(oldest, None)
        return call

    def answered(self, call_id: str) -> None:
        """No result of this call is waited for."""
        call = self._open.pop(key(call_id), None)
        if call is not None:
            del call["o"]

    def last_open(self) -> Record | None:
        """The newest call without a result."""
        return next(reversed(self._open.values()), None) if self._open else None

    def waiting(self) -> bool:
        """Whether a question that does not block the turn is still unanswered."""
        return any(call.get("w") for call in self.known.values())

    def end_turn(self) -> None:
        """A turn that is over waits for no result, whether one came or not."""
        for call in self._open.values():
            del call["o"]
        self._open.clear()
