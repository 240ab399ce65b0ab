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

    def first(self, key: str, form: str) -> bool:
        """Whether this form is the first to say `key`; otherwise it is noted as the mirror it is."""
        for entry in self.entries:
            if entry[0] == key and form not in entry[1]:
                entry[1] += form
                return False
        self.entries.append([key, form])
        del self.entries[:-_MAX_SAID]
        return True

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
        #: False once a look at all of them found none open: mostly there is none.
        self._some_open = True

    def get(self, call_id: str) -> Record | None:
        return self.known.get(key(call_id))

    def open(self, call_id: str, name: str, form: str, since: str | None) -> Record:
        call: Record = {"n": name[:120], "c": form, "o": 1}
        if since:
            call["t"] = since
        self.known.pop(key(call_id), None)
        self.known[key(call_id)] = call
        self._some_open = True
        while len(self.known) > _MAX_CALLS:
            del self.known[next(iter(self.known))]
        return call

    def answered(self, call_id: str) -> None:
        """No result of this call is waited for."""
        self.known.get(key(call_id), {}).pop("o", None)

    def last_open(self) -> Record | None:
        """The newest call without a result."""
        if self._some_open:
            for call in reversed(self.known.values()):
                if "o" in call:
                    return call
            self._some_open = False
        return None

    def waiting(self) -> bool:
        """Whether a question that does not block the turn is still unanswered."""
        return any(call.get("w") for call in self.known.values())

    def end_turn(self) -> None:
        """A turn that is over waits for no result, whether one came or not."""
        while (call := self.last_open()) is not None:
            del call["o"]
