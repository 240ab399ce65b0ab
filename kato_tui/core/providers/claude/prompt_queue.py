"""Prompts typed while the assistant works: the queue records, and the attachment that replaced them.

Before 2.1.97 (and in some later versions) such a prompt is nowhere but in the queue records: `enqueue` then
`remove` is a prompt delivered in the middle of a turn, `enqueue` then `dequeue` one that becomes a normal user
line, `popAll` pulls everything back into the editor. Since 2.1.97 a `queued_command` attachment has the prompt,
usually next to the queue records, and says who wrote it. Since 2.1.246 `remove` says why: then the attachment, which
may come behind it, is waited for. Each prompt is shown once, whichever of its copies comes first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from kato_tui.core.providers.base import Record, text_of
from kato_tui.core.providers.claude import authorship, user
from kato_tui.core.providers.claude.authorship import AGENT, HUMAN, MACHINE, UNKNOWN, Author
from kato_tui.core.providers.claude.memory import MAX_MARKED, MAX_QUEUE_CHARS, MAX_QUEUED, MAX_QUEUED_CHARS, digest

if TYPE_CHECKING:
    from kato_tui.core.providers.claude.translator import ClaudeTranslator

_HELD: Final = "queued: shown when it is delivered"
_BECOMES_LINE: Final = "leaves the queue as a user line of its own"
_TAKEN_BACK: Final = "pulled back into the editor, not sent"
_NOTHING: Final = "nothing in the queue"
_SHOWN: Final = "queued prompt already shown"
_EMPTY: Final = "empty queued prompt"
_NOT_SENT: Final = "left the queue without being sent"
#: Why a `remove` is no delivery: the agent that a message was meant for is gone.
_LOST: Final = frozenset(("agent_stopped",))
#: How an entry was shown while it still waited.
_EARLY: Final = "early"
_ATTACHED: Final = "attached"


def translate(t: ClaudeTranslator, record: Record) -> None:
    operation = record.get("operation")
    handler = _OPERATIONS.get(operation) if isinstance(operation, str) else None
    if handler is None:
        t.keep_raw(t.type, record)
        return
    t.enter(record)
    handler(t, record)


def _enqueue(t: ClaudeTranslator, record: Record) -> None:
    text, media = _read(t, record.get("content"))
    entry: Record = {"text": text, "media": media, "mark": _mark(text), "shown": ""}
    queue = t.memory.queue
    queue.append(entry)
    if len(text) > MAX_QUEUED_CHARS:
        _show_early(t, entry)
    held = [one for one in queue if not one["shown"]]
    if len(held) > MAX_QUEUED:
        _show_early(t, held[0])
    if len(queue) > MAX_MARKED:
        _show_early(t, queue[0])
        t.memory.deliver(queue.pop(0)["mark"])
    for waiting in queue:
        if sum(len(one["text"]) for one in queue) <= MAX_QUEUE_CHARS:
            break
        _show_early(t, waiting)
    t.drop(_HELD)


def _show_early(t: ClaudeTranslator, entry: Record) -> None:
    """More than the state may hold: shown now, and its second copy left out, rather than lost."""
    if not entry["shown"]:
        _say(t, entry["text"], entry["media"], _queued_author(t))
        entry["text"], entry["media"], entry["shown"] = "", [], _EARLY


def _dequeue(t: ClaudeTranslator, _record: Record) -> None:
    if t.memory.queue:
        entry = t.memory.queue.pop(0)
        if entry["shown"] == _EARLY:
            t.memory.deliver(entry["mark"])
        elif not entry["shown"] and len(t.memory.left) < MAX_QUEUED:
            t.memory.left.append({**entry, "when": t.time})
    t.drop(_BECOMES_LINE)


def settle(t: ClaudeTranslator) -> None:
    """The model answers, so no other copy comes any more of what left the queue: the queue has the only one."""
    left, t.memory.left = t.memory.left, []
    here = t.here
    for entry in left:
        t.here = {**here, "event_id": None, "timestamp": entry["when"]}
        _say(t, entry["text"], entry["media"], _queued_author(t))
    t.here = here


def _pop_all(t: ClaudeTranslator, _record: Record) -> None:
    t.memory.queue.clear()
    t.drop(_TAKEN_BACK)


def _remove(t: ClaudeTranslator, record: Record) -> None:
    """Some versions repeat the content; without it the oldest entry goes."""
    queue = t.memory.queue
    reason = text_of(record.get("reason"))
    text, media = _read(t, record.get("content"))
    mark = _mark(text)
    if text:
        index = next((i for i, waiting in enumerate(queue) if waiting["mark"] == mark), None)
        if index is None and not t.memory.without_delivered(authorship.peel(text)[1]):
            t.repeat(_SHOWN)
            return
        held = queue.pop(index) if index is not None else {"shown": ""}
        entry: Record = {"text": text, "media": media, "mark": mark, "shown": held["shown"]}
    elif queue:
        entry = queue.pop(0)
    else:
        t.drop(_NOTHING)
        return
    if reason in _LOST:
        t.drop(_NOT_SENT)
        return
    if reason and not entry["shown"] and len(t.memory.left) < MAX_QUEUED:
        t.memory.left.append({**entry, "when": t.time, "absorbed": True})
        t.drop(_HELD)
        return
    if not entry["shown"]:
        _show(t, entry)
        t.drop(_EMPTY)
        return
    if entry["shown"] == _EARLY:
        t.memory.deliver(entry["mark"])
    t.repeat(_SHOWN)


def _mark(text: str) -> list[Any]:
    """How the second copy of a prompt is recognised: without the wrappers that an IDE puts before it."""
    rest = authorship.peel(text)[1]
    return [len(rest), digest(rest)]


def _show(t: ClaudeTranslator, entry: Record) -> None:
    """Emit a prompt from the queue; its second copy may follow as an attachment or a user line."""
    _say(t, entry["text"], entry["media"], _queued_author(t))
    if entry["mark"][0]:
        t.memory.deliver(entry["mark"])


def _queued_author(t: ClaudeTranslator) -> Author:
    return Author(AGENT, "agent-prompt") if t.other_agent else Author(UNKNOWN, "")


def _say(t: ClaudeTranslator, text: str, media: list[Record], who: Author) -> None:
    state, calls = t.facts.agent_state, dict(t.memory.open)
    user.say(t, [text] if text else [], media, who, fresh=True)
    if calls:
        # Typed in the middle of a turn: the calls of that turn are still running.
        t.facts.agent_state, t.memory.open = state, calls


_OPERATIONS: Final[dict[str, Callable[[ClaudeTranslator, Record], None]]] = {
    "enqueue": _enqueue,
    "dequeue": _dequeue,
    "remove": _remove,
    "popAll": _pop_all,
}


def _read(t: ClaudeTranslator, content: Any) -> tuple[str, list[Record]]:
    """The IDE plug-ins enqueue lists of blocks, the terminal plain strings."""
    if isinstance(content, str):
        return content, []
    if isinstance(content, list):
        parts, media = user.read_blocks(t, content)
        return "\n".join(parts), media[:8]
    if content is not None:
        t.keep_raw("queued-prompt", content, **t.here)
    return "", []


def attached(t: ClaudeTranslator, attachment: Record) -> None:
    """A `queued_command`: since 2.1.97 text typed mid-turn is only here."""
    text, media = _read(t, attachment.get("prompt"))
    mark = _mark(text)
    if not _left_queue(t, mark):
        if text and not t.memory.without_delivered(authorship.peel(text)[1], line=False):
            t.repeat(_SHOWN)
            return
        if _waits(t, mark):
            t.repeat(_SHOWN)
            return
    _say(t, text, media, _attached_author(t, attachment))
    t.drop(_EMPTY)


def _left_queue(t: ClaudeTranslator, mark: list[Any]) -> bool:
    """Whether this is what a `remove` gave up a moment ago."""
    left = t.memory.left
    index = next((i for i, entry in enumerate(left) if entry["mark"] == mark), None) if t.live else None
    if index is not None:
        del left[index]
    return index is not None


def _waits(t: ClaudeTranslator, mark: list[Any]) -> bool:
    """Note on its queue record that the prompt is shown now; whether it was shown before, too long to be held."""
    waiting = next((one for one in t.memory.queue if one["mark"] == mark and one["shown"] != _ATTACHED), None)
    if waiting is None:
        if mark[0]:
            # Its queue record is not known any more: a `remove` may still name it.
            t.memory.deliver(mark)
        return False
    early = bool(waiting["shown"] == _EARLY)
    waiting["text"], waiting["media"], waiting["shown"] = "", [], _ATTACHED
    return early


def _attached_author(t: ClaudeTranslator, attachment: Record) -> Author:
    if t.other_agent:
        return Author(AGENT, "agent-prompt")
    origin = attachment.get("origin")
    kind = text_of(origin.get("kind")) if isinstance(origin, dict) else ""
    if kind == "human":
        return Author(HUMAN, "")
    mode = text_of(attachment.get("commandMode"))
    if kind or mode not in ("", "prompt", "bash"):
        return Author(MACHINE, (kind or mode)[:80])
    return Author(UNKNOWN, "") if authorship.machine_subtype(text_of(attachment.get("prompt"))) else Author(HUMAN, "")
