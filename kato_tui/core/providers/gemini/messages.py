"""The messages of a Gemini chat as twin events: what was typed, said, thought, called and noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kato_tui.core import text as texts
from kato_tui.core.model import events
from kato_tui.core.model.facts import AgentState
from kato_tui.core.providers.base import Record, text_of
from kato_tui.core.providers.gemini import authorship, calls
from kato_tui.core.providers.gemini import content as parts

if TYPE_CHECKING:
    from kato_tui.core.providers.gemini.translate import GeminiTranslator

#: Messages that leave nothing to keep, and why.
DENYLIST: Final[dict[str, str]] = {
    "empty": "a message without text, thoughts or tool calls (yet): it is appended again when it has some",
    "re-created": "an earlier message under a new id, after a compaction or a context sync",
}

#: Fields that say when or about what was thought; with others beside them an empty thought is an unknown one.
_NO_THOUGHT: Final = frozenset({"subject", "description", "summary", "timestamp"})
#: The user pressed Escape: the turn is over although its last tool calls have ended well.
_CANCELLED: Final = "Request cancelled."


# Not frozen, here and below: that makes an object three times as dear, and each line of a log needs some.
@dataclass(slots=True)
class Message:
    """One message and where it stands: under which id and time it is told, and whether it is news."""

    record: Record
    type: str
    #: The provider's own id, for tool calls that have none.
    id: str | None
    content: parts.Content
    #: The id its events carry: None where the id proves nothing.
    event_id: str | None
    timestamp: str | None
    #: Whether the twin has to be asked for each of its events; where not, the translator's memory decides.
    check: bool = True
    copied: bool = False
    #: False for an old message under a new id: only its tool events, which have ids of their own, are told.
    speaks: bool = True
    #: Whether something happened just now: state and usage follow it.
    news: bool = True
    #: Whether it was met before, and whether its text is in the counts already.
    again: bool = False
    counted: bool = False
    #: Whether its time is its own: a list of messages may hold old ones re-created under new times.
    own_time: bool = True

    def where(self, **more: Any) -> Record:
        return {
            "event_type": self.type,
            "event_id": self.event_id,
            "timestamp": self.timestamp,
            "check": self.check,
            "copied": self.copied,
            **more,
        }


def tell(t: GeminiTranslator, message: Message) -> None:
    if message.timestamp and message.news:
        t.facts.saw_time(message.timestamp)
    handler = HANDLERS.get(message.type)
    if handler is None:
        t.keep_raw(f"message.{message.type}", message.record, **message.where())
        return
    handler(t, message)
    # Only when the handler told nothing: a verdict given before stands.
    if message.speaks:
        t.drop(DENYLIST["empty"])
    else:
        t.repeat(DENYLIST["re-created"])


def _unknown_parts(t: GeminiTranslator, message: Message, *told: str) -> None:
    for kind, part in message.content.left(*told):
        t.keep_raw(kind, part, **message.where())


def _listed(t: GeminiTranslator, message: Message, name: str) -> list[Any]:
    """A field that should hold a list; anything else in it is kept raw."""
    value = message.record.get(name)
    if value is not None and not isinstance(value, list):
        t.keep_raw(name, value, **message.where())
    return value if isinstance(value, list) else []


def _say(t: GeminiTranslator, message: Message, kind: str, text: str, subtype: str | None, **more: Any) -> None:
    text = t.clean(text)
    if text.strip():
        payload = {"text": text, "subtype": subtype} if subtype else {"text": text}
        t.emit(kind, {**payload, **more}, **message.where(counts=False))


# User turns.


def _user(t: GeminiTranslator, message: Message) -> None:
    prompted = calls.responses(t, message)
    if message.speaks:
        prompted = _user_text(t, message) or prompted
        _unknown_parts(t, message, "responses")
    if prompted and message.news:
        t.facts.agent_state = AgentState("working", "thinking", None, message.timestamp)


def _user_text(t: GeminiTranslator, message: Message) -> bool:
    """Tell the text of a user turn by who wrote it; whether the model is to answer it."""
    subtypes, written = [], []
    for part in message.content.texts:
        hook, text = authorship.split_hook(part)
        for piece in (hook, text):
            subtype = _injected(t, message, piece)
            if subtype is not None:
                subtypes.append(subtype)
            elif piece:
                written.append(piece)
    sent = "".join(written)
    # Since 0.28 `displayContent` is what was typed, before @file and custom commands were expanded.
    shown = parts.read(message.record.get("displayContent")).text
    if shown.strip():
        _typed(t, message, shown)
        if sent != shown:
            _say(t, message, events.PROVIDER_INFO, sent.removeprefix(shown).removeprefix("\n"), "expanded-prompt")
        return True
    text, references = authorship.split_references(sent)
    if text.strip() and authorship.is_slash_command(text):
        _say(t, message, events.PROVIDER_INFO, text, "slash-command")
        subtypes.append("slash-command")
    elif text.strip() or message.content.media:
        _typed(t, message, text)
        subtypes.append("typed")
    _say(t, message, events.PROVIDER_INFO, references, "expanded-prompt")
    return not authorship.PROMPTING.isdisjoint(subtypes)


def _typed(t: GeminiTranslator, message: Message, text: str) -> None:
    if t.source.kind == "subagent":
        # The parent agent wrote this prompt: no person's words, and never a command.
        _say(t, message, events.PROVIDER_INFO, text, "agent-prompt")
        if t.facts.title is None:
            t.facts.set_title(texts.one_line(text), "prompt")
        return
    t.emit_typed(text, message.content.media or None, **message.where(counts=not message.counted))


def _injected(t: GeminiTranslator, message: Message, text: str) -> str | None:
    """Tell a text part that the CLI wrote, and give its subtype; None for any other."""
    subtype = authorship.injected(text)
    if subtype is not None:
        _say(t, message, events.PROVIDER_INFO, text, subtype)
        if subtype == "session-context" and t.facts.cwd is None:
            t.facts.cwd = authorship.working_directory(text)
    return subtype


# Model turns.


def _model(t: GeminiTranslator, message: Message) -> None:
    model = parts.label(message.record.get("model")) or None
    tokens = message.record.get("tokens")
    text = message.content.text
    stand_in = authorship.FOR_THE_MODEL.get(text.strip()) if not tokens else None
    if stand_in:
        _say(t, message, events.PROVIDER_INFO, text, stand_in)
        return
    if model and message.news:
        t.facts.saw_model(model)
    if message.speaks:
        _thoughts(t, message, model)
        _model_text(t, message, model)
        _unknown_parts(t, message, "thoughts", "calls", "responses")
    outcome = calls.told(t, message, model, _listed(t, message, "toolCalls"))
    calls.responses(t, message)
    if message.news:
        t.usage.count(t.facts, message.id, tokens, again=message.again)
        if message.speaks or outcome is not None:
            t.facts.agent_state = outcome or _after_text(text, message.timestamp)


def _after_text(text: str, since: str | None) -> AgentState:
    """A reply without tool calls ends the turn. One without text as well was a mere tool call: the CLI writes the
    message when the model is done and appends it again, with its `toolCalls`, when these have ended."""
    if text.strip():
        return AgentState("needs-you", "idle", None, since)
    return AgentState("working", "acting", None, since)


def _thoughts(t: GeminiTranslator, message: Message, model: str | None) -> None:
    told = False
    for thought in _listed(t, message, "thoughts"):
        text, time = _thought(thought)
        if text is None:
            t.keep_raw("thought", thought, **message.where())
        elif (cleaned := t.clean(text)).strip():
            timestamp = (time or message.timestamp) if message.timestamp else None
            t.emit(events.ASSISTANT_THINKING, {"text": cleaned}, **message.where(timestamp=timestamp, model=model))
        told = True
    # After a sync the same thoughts also stand in the content, as the API sent them.
    for text in [] if told else message.content.thoughts:
        thought_text = t.clean(_laid_out(text))
        if thought_text.strip():
            t.emit(events.ASSISTANT_THINKING, {"text": thought_text}, **message.where(model=model))


def _thought(thought: Any) -> tuple[str | None, str | None]:
    if isinstance(thought, str):
        return thought, None
    if not isinstance(thought, dict):
        return None, None
    subject = text_of(thought.get("subject")).strip()
    body = (text_of(thought.get("description")) or text_of(thought.get("summary"))).strip()
    if not (subject or body) and not _NO_THOUGHT.issuperset(thought):
        return None, None
    heading = f"**{subject}**" if subject else ""
    return "\n\n".join(piece for piece in (heading, body) if piece), parts.iso(thought.get("timestamp"))


def _laid_out(text: str) -> str:
    """A thought part, `**subject** description`, in the form that `thoughts[]` entries get."""
    subject, closed, body = text.strip().removeprefix("**").partition("**")
    if not text.lstrip().startswith("**") or not closed:
        return text.strip()
    return "\n\n".join(piece for piece in (f"**{subject.strip()}**", body.strip()) if piece)


def _with_pictures(message: Message, text: str) -> str:
    """Text with a placeholder for each picture, for kinds of events that hold only text."""
    return "\n".join([*([text] if text else []), *(texts.media_text(facts) for facts in message.content.media)])


def _model_text(t: GeminiTranslator, message: Message, model: str | None) -> None:
    text = t.clean(_with_pictures(message, message.content.text))
    if text.strip():
        t.emit(events.ASSISTANT_MESSAGE, {"text": text}, **message.where(model=model, counts=not message.counted))


# The CLI's own notices.


def _notice(t: GeminiTranslator, message: Message) -> None:
    shown = parts.read(message.record.get("displayContent")).text
    text = shown if shown.strip() else message.content.text
    if message.speaks:
        _say(t, message, events.SYSTEM_MESSAGE, _with_pictures(message, text), None, level=message.type)
        _unknown_parts(t, message)
    if message.news and (message.type == "error" or text.strip() == _CANCELLED):
        t.facts.agent_state = AgentState("needs-you", "idle", None, message.timestamp)


HANDLERS: Final[dict[str, Callable[[GeminiTranslator, Message], None]]] = {
    "user": _user,
    "gemini": _model,
    # What third-party writers of this format call it.
    "model": _model,
    "info": _notice,
    "warning": _notice,
    "error": _notice,
}
