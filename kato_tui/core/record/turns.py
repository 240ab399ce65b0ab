"""Finding the event at which a retroactive recording begins (spec §8: `from -3`, `from "text"`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from kato_tui.core.model import events
from kato_tui.core.record.destination import Begin, SinceText, TurnsBack, shown


class NoSuchTurn(Exception):
    """The past holds no such place; the message says what it does hold."""


def first_seq(begin: Begin, past: Iterable[dict[str, Any]]) -> int:
    """The seq to begin at, looking through the events of the `past` once."""
    if isinstance(begin, TurnsBack):
        return _turns_back(begin.count, past)
    return _since_text(begin, past)


def _turns_back(count: int, past: Iterable[dict[str, Any]]) -> int:
    turns: deque[int] = deque(maxlen=count)
    record: object = None
    for event in past:
        if not _is_users(event):
            continue
        # A message that was cut at its command lines is several events of one record, and still one turn.
        cursor = event["source"]["cursor"]["value"]
        if cursor != record:
            record = cursor
            turns.append(event["seq"])
    if not turns:
        raise NoSuchTurn(f"cannot begin from -{count}: the user has said nothing yet")
    return turns[0]


def _since_text(begin: SinceText, past: Iterable[dict[str, Any]]) -> int:
    wanted = begin.text.casefold()
    found = None
    for event in past:
        if event["kind"] == events.USER_MESSAGE and wanted in event["payload"]["text"].casefold():
            found = event["seq"]
    if found is None:
        raise NoSuchTurn(f'no message of the user contains "{shown(begin.text)}". Quote some of its exact words')
    return int(found)


def _is_users(event: dict[str, Any]) -> bool:
    return event["kind"] in (events.USER_MESSAGE, events.USER_DECISION)
