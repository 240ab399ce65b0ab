"""The fold over a Codex rollout. This module keeps the state and chooses the handler; handlers say what records mean.

Four formats are read: TypeScript documents, bare response items (<= 0.31), "legacy" lines with events that mirror
the response items, and "paginated" lines (>= 0.147) whose mirrors are `item_completed` records.

Copied history. A legacy fork or sub-agent starts with its own session_meta, then the parent's meta and lines, all
stamped with the time of copying. Copying begins at a meta of another thread and ends at the first record that proves
to be younger than this thread: a turn id (UUIDv7) or a `started_at` at or after the thread's own birth; or, in logs
whose turns have neither, a pause of a second between two lines (copies are written in one burst). A paginated
sub-agent states the boundary itself (`subagent_history_start_ordinal`); a paginated fork copies nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from kato_tui.core import text as texts
from kato_tui.core.model import events
from kato_tui.core.model.facts import AgentState
from kato_tui.core.providers.base import Record, Translator, text_of
from kato_tui.core.providers.codex import calls, items, messages, meta, notices, times, voice
from kato_tui.core.providers.codex.denylist import DENYLIST
from kato_tui.core.providers.codex.memory import Calls, Said, key

Handler = Callable[["CodexTranslator", Record], None]

#: Record type -> handler of its payload.
HANDLERS: Final[dict[str, Handler]] = {
    **meta.HANDLERS,
    **messages.HANDLERS,
    **calls.HANDLERS,
    **items.HANDLERS,
    **notices.HANDLERS,
    **voice.HANDLERS,
}

for _name in [name for name in HANDLERS if name.startswith("response_item.")]:
    # Old logs have the same items without their envelope.
    HANDLERS.setdefault(f"bare.{_name.removeprefix('response_item.')}", HANDLERS[_name])

#: Records that may stand between a prompt's response item and its event without deciding who wrote the prompt.
_UNDECIDED: Final = frozenset(
    {
        "session_meta",
        "turn_context",
        "world_state",
        "event_msg.token_count",
        "event_msg.thread_name_updated",
        "event_msg.thread_settings_applied",
        "event_msg.user_message",
        "event_msg.item_completed.UserMessage",
        "response_item.message",
    }
)
#: The bytes that prove the top-level type of a line which is dropped unread.
_BULK: Final = re.compile(rb'\{"timestamp":"[^"\\]{0,40}",(?:"ordinal":\d{1,18},)?"type":"world_state"')
_BULK_NAME: Final = b'"world_state"'
_BULK_REACH: Final = 120
_STATE_LINE: Final = b'{"record_type":"state"}'
#: Copies are written in one burst; a longer pause between two lines ends it where no turn tells its age.
_BURST_PAUSE_MS: Final = 1000

_MODEL_KINDS: Final = frozenset(
    {
        events.ASSISTANT_MESSAGE,
        events.ASSISTANT_THINKING,
        events.ASSISTANT_DECISION,
        events.TOOL_CALL,
        events.TOOL_RESULT,
    }
)


class CodexTranslator(Translator):
    def restore(self, state: Record) -> None:
        self.thread: str | None = state.get("thread")
        self.subagent: bool = state.get("subagent", self.source.kind == "subagent")
        #: Whether the log has a transcript of what was said aloud.
        self.speaks: bool = state.get("speaks", False)
        self.paginated: bool = state.get("paginated", False)
        self.has_user_events: bool = state.get("userEvents", False)
        self.has_turns: bool = state.get("turns", False)
        self.turn: str | None = state.get("turn")
        self.model: str | None = state.get("model")
        self.review: str | None = state.get("review")
        self.copying: bool = state.get("copying", False)
        self.copy_until: int | None = state.get("copyUntil")
        self.born: int | None = state.get("born")
        self.dated_turns: bool = state.get("datedTurns", False)
        self.last_line: int | None = state.get("lastLine")
        self.inherits: bool = state.get("inherits", False)
        self.spent: list[int] | None = state.get("spent")
        self.held: list[Record] = list(state.get("held", ()))
        self.items_done: int = state.get("itemsDone", 0)
        saved = state.get("said", {})
        self.said: dict[str, Said] = {name: Said(saved.get(name)) for name in ("user", "assistant", "thought", "once")}
        self.calls = Calls(state.get("calls"))
        if state.get("thinking"):
            self.newest = events.ASSISTANT_THINKING
        # Of the record at hand only.
        self.when: str | None = None
        self.copied = False
        #: What Codex itself notes beside the payload.
        self.harness: Record = {}

    def save(self) -> Record:
        state: Record = {
            "thread": self.thread,
            "subagent": self.subagent,
            "speaks": self.speaks,
            "paginated": self.paginated,
            "userEvents": self.has_user_events,
            "turns": self.has_turns,
            "turn": self.turn,
            "model": self.model,
            "review": self.review,
            "copying": self.copying,
            "copyUntil": self.copy_until,
            "born": self.born,
            "datedTurns": self.dated_turns,
            "lastLine": self.last_line,
            "inherits": self.inherits,
            "spent": self.spent,
            "held": [dict(entry) for entry in self.held],
            "itemsDone": self.items_done,
            "said": {name: [list(entry) for entry in said.entries] for name, said in self.said.items() if said.entries},
            "calls": {key: dict(call) for key, call in self.calls.known.items()},
            "thinking": self.newest == events.ASSISTANT_THINKING,
        }
        return {key: value for key, value in state.items() if value not in (None, False, [], {}, 0)} | {
            "subagent": self.subagent
        }

    def peek(self, line: bytes) -> tuple[str, str] | None:
        if line.startswith(_STATE_LINE):
            return "bare.state", DENYLIST["bare.state"]
        # Of all lines, so the cheap look comes first.
        if _BULK_NAME in line[:_BULK_REACH] and _BULK.match(line):
            return "world_state", DENYLIST["world_state"]
        return None

    def record_type(self, record: Record) -> str:
        kind = record.get("type")
        payload = record.get("payload")
        if isinstance(payload, dict):
            return _enveloped(str(kind), payload)
        if isinstance(kind, str) and "payload" not in record:
            return f"bare.{kind}"
        if record.get("record_type") == "state":
            return "bare.state"
        if "id" in record and "timestamp" in record and kind is None:
            return "bare.meta"
        return "bare.message" if kind is None and "role" in record else str(kind or "untyped")

    def translate(self, record: Record) -> None:
        payload = record.get("payload")
        bare = not isinstance(payload, dict)
        body: Record = record if bare else payload  # type: ignore[assignment]
        self._date(record, body, bare=bare)
        kind = self._type
        if turn := turn_of(body):
            self.turn = turn
        if self.held and (kind not in _UNDECIDED or body.get("role") == "assistant"):
            messages.settle(self)
            # If the record turns out to be damaged it must not take a prompt with it that was held until now.
            self._mark()
        handler = HANDLERS.get(kind)
        if handler is not None:
            handler(self, body)
        elif kind in DENYLIST:
            self.drop(DENYLIST[kind])
        else:
            self._keep_whole(record)

    def _keep_whole(self, record: Record) -> None:
        """Keep the record raw, and count it so even when it released a held prompt before."""
        self._verdict = None
        self.keep_raw(self._type, record, timestamp=self.when, turn_id=self.turn, copied=self.copied)

    def translate_document(self, document: Record) -> None:
        """A TypeScript rollout: items without times. A document that grew is continued behind the last item."""
        session = document.get("session")
        if self.items_done == 0 and isinstance(session, dict):
            self.item("document.session", session, lambda body: meta.bare_meta(self, body), 0)
        found = document.get("items")
        entries = found if isinstance(found, list) else []
        for index in range(self.items_done, len(entries)):
            record = entries[index] if isinstance(entries[index], dict) else {"item": entries[index]}
            self.item(self.record_type(record), record, self.translate, index + 1)
        self.items_done = max(self.items_done, len(entries))

    # Time, and whose history this is.

    def _date(self, record: Record, body: Record, *, bare: bool) -> None:
        """Decide when the record at hand happened, and whether it happened in this session at all."""
        line_time = None if bare else times.iso(record.get("timestamp"))
        if self.copying or self.copy_until is not None:
            self._leave_copy(record, body, line_time)
        self.copied = self.copying
        noted = record.get("metadata")
        self.harness = noted if isinstance(noted, dict) and not bare else {}
        self.copied = self.copied or bool(self.harness.get("inherited_user_message"))
        self.when = _original_time(body) if self.copied else line_time
        if line_time and not self.copied:
            self.facts.saw_time(line_time)

    def _leave_copy(self, record: Record, body: Record, line_time: str | None) -> None:
        if self.copy_until is not None:
            ordinal = record.get("ordinal")
            self.copying = isinstance(ordinal, int) and ordinal < self.copy_until
            if isinstance(ordinal, int) and not self.copying:
                self.copy_until = None
                self._start_own()
            return
        now = times.iso_ms(line_time)
        if self._is_own(body, now):
            self.copying = False
            self._start_own()
        self.last_line = now if now is not None else self.last_line

    def _is_own(self, body: Record, now: int | None) -> bool:
        if self._type == "session_meta":
            return False
        turn_time = times.uuid7_ms(body.get("turn_id"))
        if turn_time is None and "started" in self._type:
            seconds = times.epoch_ms(body.get("started_at"))
            turn_time = None if seconds is None else seconds + 999
        if turn_time is not None:
            self.dated_turns = True
            return self.born is not None and turn_time >= self.born
        if self.dated_turns or now is None or self.last_line is None:
            return False
        return now - self.last_line >= _BURST_PAUSE_MS

    def _start_own(self) -> None:
        """Nothing of the parent is open or sayable again in this session."""
        self.turn = None
        self.review = None
        self.calls.end_turn()
        for said in self.said.values():
            said.clear()

    # What handlers call.

    def say(self, kind: str, payload: Record, event_type: str, event_id: str | None = None) -> None:
        """Emit with the time, turn, model and origin of the record at hand.

        `event_type` names the thing that is said and not the form that said it: a migration rewrites forms.
        """
        self.emit(
            kind,
            payload,
            event_id=event_id,
            timestamp=self.when,
            turn_id=self.turn,
            model=self.model if kind in _MODEL_KINDS else None,
            copied=self.copied,
            event_type=event_type,
        )

    def notice(self, kind: str, text: str, subtype: str, level: str | None = None) -> None:
        """A `system.message` or `provider.info`; an empty one is dropped."""
        text = self.clean(text)
        if not text.strip():
            self.drop("empty notice")
            return
        payload: Record = {"text": text, "subtype": subtype}
        if level:
            payload["level"] = level
        self.say(kind, payload, subtype)

    def keep_block(self, name: str, block: Any) -> None:
        """Keep one unknown part of a known record."""
        self.keep_raw(name, block, timestamp=self.when, turn_id=self.turn, copied=self.copied)

    def name_after(self, prompt: str) -> None:
        """A prompt that did not come through `emit_typed` may name the session too."""
        if not self.copied:
            self._prompt_title(texts.one_line(prompt))

    def once(self, key: str, form: str) -> bool:
        """Whether no other form has told this about the current turn yet."""
        return self.said["once"].first(key, form)

    def once_told(self, key: str) -> bool:
        """Whether some form has told this about the current turn."""
        return self.said["once"].holds(key)

    def forget_turn(self) -> None:
        for said in self.said.values():
            said.clear()

    def be(self, state: Any, reason: Any, tool: str | None = None, since: str | None = None) -> None:
        """Set the agent state; copied history tells nothing about this session's agent."""
        if not self.copied:
            self.facts.agent_state = AgentState(state, reason, tool, since or self.when)

    def be_busy(self) -> None:
        """Working: at the newest open call, else thinking."""
        call = self.calls.last_open()
        if call is None:
            self.be("working", "thinking")
        elif "q" in call:
            self.be("needs-you", "decision", None, call.get("t"))
        else:
            self.be("working", "acting", call["n"], call.get("t"))

    def be_idle(self) -> None:
        """The turn is over; a question that did not block it may still wait for its answer."""
        self.be("needs-you", "decision" if self.calls.waiting() else "idle")


def _enveloped(kind: str, payload: Record) -> str:
    if kind in DENYLIST:
        return kind
    sub = payload.get("type")
    if sub is None:
        # Some writers leave the type of a message out.
        return "response_item.message" if kind == "response_item" and "role" in payload else kind
    name = f"{kind}.{sub}"
    if sub == "item_completed":
        item = payload.get("item")
        return f"{name}.{item.get('type')}" if isinstance(item, dict) else name
    return name


def _original_time(body: Record) -> str | None:
    """The time that a copied payload kept from its first life."""
    passthrough = body.get("internal_chat_message_metadata_passthrough")
    created = passthrough.get("create_time") if isinstance(passthrough, dict) else None
    return (
        times.iso(created) or times.iso(body.get("completed_at_ms")) if created or "completed_at_ms" in body else None
    )


def turn_of(body: Record) -> str | None:
    """The turn that a payload names itself."""
    passthrough = body.get("internal_chat_message_metadata_passthrough")
    own = text_of(body.get("turn_id"))
    if not own and isinstance(passthrough, dict):
        own = text_of(passthrough.get("turn_id"))
    return key(own) if own else None
