"""Voice (>= 0.15x): what was said aloud, and what the voice model hands on to Codex in the user's role.

Nobody types here, so nothing of it is a command.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final

from kato_tui.core import text as texts
from kato_tui.core.model import events
from kato_tui.core.providers.base import Record, text_of
from kato_tui.core.providers.codex.denylist import EMPTY_MESSAGE
from kato_tui.core.providers.codex.wrappers import digest

if TYPE_CHECKING:
    from kato_tui.core.providers.codex.translator import CodexTranslator, Handler

_INPUT: Final = re.compile(r"<input>(.*?)</input>", re.DOTALL)
_SPEAKERS: Final = {"user": events.USER_MESSAGE, "assistant": events.ASSISTANT_MESSAGE}


def segment(t: CodexTranslator, body: Record) -> None:
    """A part of the transcript of what was said."""
    kind = _SPEAKERS.get(text_of(body.get("role")))
    text = t.clean(text_of(body.get("text")))
    if kind is None:
        t.keep_block("realtime_item.transcript_segment", body)
    elif not text.strip():
        t.drop(EMPTY_MESSAGE)
    else:
        t.speaks = True
        t.say(kind, {"text": text}, "transcript_segment", text_of(body.get("id")) or None)
        if kind == events.USER_MESSAGE:
            t.name_after(text)


def delegated(t: CodexTranslator, text: str, form: str) -> None:
    """The voice model's summary of what the user wants done: the user's words only where no transcript has them."""
    if not t.once(f"voice:{digest(text)}", form):
        t.repeat()
        return
    found = _INPUT.search(text)
    wanted = texts.whole(html.unescape(found[1]).strip()) if found else ""
    if not wanted:
        t.drop(EMPTY_MESSAGE)
    elif t.speaks or t.subagent:
        t.notice(events.PROVIDER_INFO, wanted, "voice-request")
    else:
        t.say(events.USER_MESSAGE, {"text": wanted}, "user_message")
        t.name_after(wanted)
    t.be_busy()


HANDLERS: Final[dict[str, Handler]] = {"realtime_item.transcript_segment": segment}
