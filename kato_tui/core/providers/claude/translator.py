"""The fold over a Claude Code transcript: which record goes where, and what its envelope says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kato_tui.core import text as texts
from kato_tui.core.model import events
from kato_tui.core.model.facts import AgentState, TitleSource
from kato_tui.core.providers.base import Record, Translator, opt, text_of
from kato_tui.core.providers.claude import activity, assistant, attachments, notices, prompt_queue, user
from kato_tui.core.providers.claude.files import UUID
from kato_tui.core.providers.claude.memory import Memory, digest
from kato_tui.core.providers.claude.stamps import older, stamp

#: Record types that carry no conversation, each with the reason for leaving it out.
DENYLIST: Final = {
    "progress": "live display of a running tool; its result follows as a record of its own",
    "last-prompt": "repeats the newest prompt, cut short",
    "file-history-snapshot": "undo data of edited files",
    "file-history-delta": "undo data of edited files",
    "permission-mode": "setting of the running program",
    "mode": "setting of the running program",
    "bridge-session": "book-keeping of remote control",
    "tag": "label in the session picker",
    "agent-name": "label in the session picker",
    "agent-color": "label in the session picker",
    "agent-setting": "setting of the running program",
    "dev-mods": "setting of the running program",
    "isolation-latch": "setting of the running program",
    "atis-latch": "switch of the running program, written at every open and exit",
    "cost-state": "running totals of cost and time; tokens are counted message by message",
    "worktree-state": "which worktree the program stands in: its folder is on the records themselves",
    "relocated": "becomes the session's folder",
    "content-replacement": "which old tool results the model no longer sees",
    "attribution-snapshot": "which lines of files the assistant wrote",
    "artifact-autoreact-ledger": "book-keeping of published artifacts",
    "artifact-comment-monitor": "book-keeping of published artifacts",
    "history-suppression": "book-keeping of what is synced to a server",
    "marble-origami-commit": "which part of the history the model no longer sees",
    "marble-origami-snapshot": "which part of the history the model no longer sees",
    "marble-origami-reset": "which part of the history the model no longer sees",
    "fork-context-ref": "where the context of a forked sub-agent lies",
    "observer-ref": "which other agent looks on",
    "speculation-accept": "book-keeping of work done ahead",
    "started": "an agent of a workflow begins: it has a log of its own",
    "launched": "a workflow begins: its agents have logs of their own",
}
#: Title records: field and rank. The last one of a rank wins; they are appended again at every open and exit.
TITLES: Final[dict[str, tuple[str, TitleSource]]] = {
    "custom-title": ("customTitle", "custom"),
    "ai-title": ("aiTitle", "provider"),
    "summary": ("summary", "summary"),
}
_TITLE_REASON: Final = "becomes the session title"
#: Lines without a uuid start with their type, so that the bytes already prove what they are.
_PEEKED: Final = {
    f'{{"type":"{name}"'.encode(): (name, DENYLIST[name])
    for name in (
        "file-history-snapshot",
        "last-prompt",
        "permission-mode",
        "mode",
        "bridge-session",
        "atis-latch",
        "cost-state",
    )
}
_PEEK_PREFIX: Final = b'{"type":"'
_SUBTYPED: Final = {"system": "subtype", "queue-operation": "operation"}


class ClaudeTranslator(Translator):
    """One transcript. The handlers live in modules of their own and get this object as `t`.

    For the record at hand, `here` holds what its envelope says, as arguments for `emit`; `live` is whether
    something new happened in this very session (no side chain, no copy, no re-appended record).
    """

    memory: Memory
    here: dict[str, Any]
    time: str | None
    live: bool
    sidechain: bool
    reappended: bool

    def restore(self, state: Record) -> None:
        self.memory = Memory(state)
        self.here = {}
        self.time, self.live, self.sidechain, self.reappended = None, True, False, False
        if self.source.parent and self.facts.parent is None:
            self.facts.parent = self.source.parent

    def save(self) -> Record:
        return self.memory.save()

    def record_type(self, record: Record) -> str:
        kind = record.get("type")
        if kind == "assistant" or kind == "user":
            # Nine of ten records.
            return str(kind)
        kind = text_of(kind)
        if kind == "attachment":
            attachment = record.get("attachment")
            part = text_of(attachment.get("type")) if isinstance(attachment, dict) else ""
        elif kind in _SUBTYPED:
            part = text_of(record.get(_SUBTYPED[kind]))
        else:
            return kind if kind in HANDLERS else texts.one_line(kind, 80) or "untyped"
        return f"{kind}.{texts.one_line(part, 60)}" if part.strip() else kind

    def peek(self, line: bytes) -> tuple[str, str] | None:
        if not line.startswith(_PEEK_PREFIX):
            return None
        return _PEEKED.get(line[: line.find(b'"', len(_PEEK_PREFIX)) + 1])

    def translate(self, record: Record) -> None:
        self.memory.records += 1
        kind = record.get("type")
        handler = HANDLERS.get(kind) if isinstance(kind, str) else None
        if handler is None:
            self.keep_raw(self._type, record, timestamp=stamp(record.get("timestamp")), event_id=_id(record))
        else:
            handler(self, record)

    # What the handlers call.

    @property
    def emitted(self) -> bool:
        """Whether the record at hand already gave an event."""
        return self._emit_index > 0

    @property
    def type(self) -> str:
        return self._type

    @property
    def other_agent(self) -> bool:
        """Whether the prompts here come from a parent agent instead of the user."""
        return self.sidechain or self.source.kind != "main"

    def say(self, kind: str, text: str, subtype: str | None = None, level: str | None = None) -> None:
        """A notice, unless its text is empty."""
        text = self.clean(text)
        if text.strip():
            self.emit(kind, opt(text=text, subtype=subtype, level=level), **self.here)

    def set_state(self, change: Callable[[Memory, str | None], AgentState]) -> None:
        if self.live:
            self.facts.agent_state = change(self.memory, self.time)

    def enter(self, record: Record) -> None:
        """Read the envelope of a record that belongs to the conversation."""
        memory, get = self.memory, record.get
        event_id = text_of(get("uuid")) or None
        copied = "forkedFrom" in record and self._fork_of(record)
        # A fork keeps every timestamp but the last one, and nothing tells which is the last: none is trusted.
        time = self.time = None if copied else stamp(get("timestamp"))
        self.sidechain = get("isSidechain") is True and self.source.kind == "main"
        again = stale = met = False
        if event_id is not None:
            ident = digest(event_id)
            # Resuming in 1.0.x wrote the last rows again: the same uuid with a new time.
            again = memory.saw_record(ident, (get("message"), get("attachment"), get("content")))
            if time is not None:
                # A second /compact appends earlier rows again with their own uuid and time: they look old where they
                # stand. Asking the twin whether it has them costs a reading of all of it, so not for what is only
                # late and new.
                stale = older(time, memory.high_water)
                met = memory.met(ident, time)
            if memory.summaries and (title := memory.title_at(ident)):
                self.facts.set_title(title, "summary")
        self.reappended = again or (stale and older(time or "", memory.boundary))
        self.live = not (self.sidechain or copied or self.reappended)
        self.here = {
            "event_id": event_id,
            "timestamp": time,
            "turn_id": text_of(get("promptId")) or None,
            "check": again or (stale and met),
            "copied": copied or again,
            "counts": self.live,
        }
        if self.sidechain:
            self.here["event_type"] = f"sidechain.{self._type}"
        if time and not again and (memory.high_water is None or time > memory.high_water):
            memory.high_water = time
        if self.live:
            self._envelope_facts(record, time)

    def _fork_of(self, record: Record) -> bool:
        """The SDK's fork gives every copied record the session it came from; its time stays the true one."""
        origin = record.get("forkedFrom")
        if not isinstance(origin, dict):
            return False
        parent = text_of(origin.get("sessionId"))
        if parent and self.source.kind == "main" and self.facts.parent is None:
            self.facts.parent = parent
        return True

    def _envelope_facts(self, record: Record, time: str | None) -> None:
        facts, get = self.facts, record.get
        if time:
            facts.saw_time(time)
        # cwd and branch change inside one file (cd, worktrees): the newest counts.
        if (cwd := get("cwd")) != facts.cwd and cwd and isinstance(cwd, str):
            facts.cwd = cwd
        if (branch := get("gitBranch")) != facts.git_branch and branch and isinstance(branch, str):
            facts.git_branch = branch
        if (version := get("version")) != facts.cli_version and version and isinstance(version, str):
            facts.cli_version = version
        if not facts.resume_ids and self.source.kind == "main":
            self._resume_fact(record)

    def _resume_fact(self, record: Record) -> None:
        """The file name is the session; forked copies carry other ids. Files under other names only have those."""
        name = self.source.provider_session_id
        session = name if UUID.fullmatch(name) else text_of(record.get("sessionId"))
        if session:
            self.facts.saw_resume_id(session)


def _id(record: Record) -> str | None:
    return text_of(record.get("uuid")) or None


def _title(t: ClaudeTranslator, record: Record) -> None:
    field, rank = TITLES[t.type]
    title = texts.one_line(text_of(record.get(field)))
    leaf = text_of(record.get("leafUuid"))
    # Old versions head a file with the summaries of other conversations: their leaves are not in this file.
    if not leaf or t.memory.is_own_leaf(leaf, title):
        t.facts.set_title(title, rank)
    t.drop(_TITLE_REASON)


def _result(t: ClaudeTranslator, record: Record) -> None:
    """The last record of a run: it ends the turn (spec §10); what it holds varies too much to be read."""
    t.enter(record)
    t.set_state(activity.idle)
    t.keep_raw("result", record, **t.here)


def _denied(t: ClaudeTranslator, record: Record) -> None:
    t.drop(DENYLIST[text_of(record.get("type"))])


def _relocated(t: ClaudeTranslator, record: Record) -> None:
    """`EnterWorktree` and `/cd` move a session together with its log; written two or three times for one move."""
    t.facts.cwd = text_of(record.get("relocatedCwd")) or t.facts.cwd
    t.drop(DENYLIST["relocated"])


def _link(field: str, title: str = "") -> Callable[[ClaudeTranslator, Record], None]:
    """A pull request or a published page. Appended again at every open: told once."""

    def handler(t: ClaudeTranslator, record: Record) -> None:
        url = text_of(record.get(field))
        if not url:
            t.keep_raw(t.type, record)
        elif t.memory.saw_link(digest(url)):
            t.repeat("link already told")
        else:
            t.enter(record)
            name = texts.one_line(text_of(record.get(title)))
            t.say(events.PROVIDER_INFO, f"{name}: {url}" if name else url, t.type)

    return handler


def _continued(t: ClaudeTranslator, record: Record) -> None:
    """Sent to the background (`/bg`), the conversation goes on in a copy under another id; only this record says so."""
    session = text_of(record.get("continuedInSessionId"))
    if not session:
        t.keep_raw(t.type, record)
        return
    t.enter(record)
    t.set_state(activity.idle)
    t.say(events.PROVIDER_INFO, f"The conversation goes on in session {session}", t.type)


HANDLERS: Final[dict[str, Callable[[ClaudeTranslator, Record], None]]] = {
    "user": user.translate,
    "assistant": assistant.translate,
    "system": notices.translate,
    "attachment": attachments.translate,
    "queue-operation": prompt_queue.translate,
    "pr-link": _link("prUrl"),
    "frame-link": _link("frameUrl", "title"),
    "continued-in": _continued,
    "result": _result,
    **dict.fromkeys(TITLES, _title),
    **dict.fromkeys(DENYLIST, _denied),
    "relocated": _relocated,
}
