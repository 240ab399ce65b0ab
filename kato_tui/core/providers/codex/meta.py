"""Records that become facts: session_meta, turn_context, token counts, titles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from kato_tui.core import text as texts
from kato_tui.core.model import events
from kato_tui.core.providers.base import Record, text_of
from kato_tui.core.providers.codex import files, times
from kato_tui.core.providers.codex.denylist import DENYLIST

if TYPE_CHECKING:
    from kato_tui.core.providers.codex.translator import CodexTranslator, Handler

#: Fields of total_token_usage, in the order in which `spent` keeps them.
_COUNTS: Final = (
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
    "cache_write_input_tokens",
)


def session_meta(t: CodexTranslator, body: Record) -> None:
    """Only the first meta identifies. A later one with the same id repeats it, with the branch of its own day; one
    with another id is the parent's, copied into a fork or sub-agent together with the lines that follow."""
    thread = text_of(body.get("id"))
    if t.thread is not None and thread != t.thread:
        if t.copy_until is None:
            t.copying = True
            t.last_line = None
        t.repeat("the parent's meta, copied")
        return
    if t.thread is not None:
        t.paginated = t.paginated or body.get("history_mode") == "paginated"
        _branch(t, body)
        t.repeat("the same session_meta again")
        return
    t.thread = thread or t.source.provider_session_id
    t.born = times.uuid7_ms(thread) or times.iso_ms(times.iso(body.get("timestamp")))
    t.paginated = body.get("history_mode") == "paginated"
    t.subagent = t.subagent or files.is_subagent(body)
    t.inherits = bool(body.get("forked_from_id") or body.get("history_base"))
    start = body.get("subagent_history_start_ordinal")
    t.copy_until = start if isinstance(start, int) and start > 0 else None
    _identity_facts(t, body, t.thread)
    origin = text_of(body.get("forked_from_id"))
    if body.get("history_base") and origin not in ("", t.thread) and not t.subagent:
        # A paginated fork copies nothing: what it goes on from is only in the log of its origin.
        t.notice(events.PROVIDER_INFO, f"The conversation begins in session {origin}", "continued-from")
    else:
        t.drop(DENYLIST["session_meta"])


def bare_meta(t: CodexTranslator, body: Record) -> None:
    """The first line of a bare log. Its timestamp was local time labelled Z until 2025-09-04: not used."""
    if t.thread is not None:
        t.repeat("the same meta again")
        return
    t.thread = text_of(body.get("id")) or t.source.provider_session_id
    _identity_facts(t, body, t.thread)
    t.drop(DENYLIST["bare.meta"])


def _identity_facts(t: CodexTranslator, body: Record, thread: str) -> None:
    facts = t.facts
    facts.saw_resume_id(thread)
    facts.parent = files.parent_of(body) or facts.parent
    facts.cwd = text_of(body.get("cwd")) or facts.cwd
    facts.cli_version = text_of(body.get("cli_version")) or facts.cli_version
    facts.model_provider = text_of(body.get("model_provider")) or facts.model_provider
    _branch(t, body)


def _branch(t: CodexTranslator, body: Record) -> None:
    """A repeated meta names the branch of its own day."""
    git = body.get("git")
    if isinstance(git, dict):
        t.facts.git_branch = text_of(git.get("branch")) or t.facts.git_branch


def turn_context(t: CodexTranslator, body: Record) -> None:
    model = texts.one_line(text_of(body.get("model")))
    if model:
        t.model = model
    if not t.copied:
        if model:
            t.facts.saw_model(model)
        t.facts.cwd = text_of(body.get("cwd")) or t.facts.cwd
    t.drop(DENYLIST["turn_context"])


def thread_name_updated(t: CodexTranslator, body: Record) -> None:
    if not t.copied:
        t.facts.set_title(texts.one_line(text_of(body.get("thread_name"))), "provider")
    t.drop(DENYLIST["event_msg.thread_name_updated"])


def token_count(t: CodexTranslator, body: Record) -> None:
    """The running total of the thread, repeated after every request: only what it grew by is spent.

    A fork's total goes on from its parent's, which this session did not spend.
    """
    info = body.get("info")
    if isinstance(info, dict):
        total, last = _counts(info.get("total_token_usage")), _counts(info.get("last_token_usage"))
        if total is not None:
            _spend(t, total, last)
        if not t.copied:
            _context(t, last, info)
    t.drop(DENYLIST["event_msg.token_count"])


def _spend(t: CodexTranslator, total: list[int], last: list[int] | None) -> None:
    before = t.spent
    t.spent = total
    if t.copied:
        return
    if before is None and not t.inherits:
        before = [0] * len(_COUNTS)
    if before is None or total[4] < before[4]:
        # The total went on from history that is not here, or started anew (revert): the last request tells.
        grown = last or [0] * len(_COUNTS)
    else:
        grown = [now - then for now, then in zip(total, before, strict=True)]
    read, cached, output, reasoning, everything, written = grown
    t.facts.usage.add(read - cached, output, cached, written, reasoning, everything)


def _context(t: CodexTranslator, last: list[int] | None, info: Record) -> None:
    """The context is what the last request held, apart from the running total."""
    if last is not None:
        t.facts.context_tokens = last[4]
    _window(t, info.get("model_context_window"))


def _window(t: CodexTranslator, window: Any) -> None:
    if _is_count(window) and window > 0 and not t.copied:
        t.facts.context_window = window


def _counts(usage: Any) -> list[int] | None:
    if not isinstance(usage, dict):
        return None
    found: Iterable[Any] = map(usage.get, _COUNTS)
    counts = [value if _is_count(value) else 0 for value in found]
    if not counts[4]:
        counts[4] = counts[0] + counts[2]
    return counts


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53


def turn_window(t: CodexTranslator, body: Record) -> None:
    """task_started states the context window before the first request does."""
    _window(t, body.get("model_context_window"))


HANDLERS: Final[dict[str, Handler]] = {
    "session_meta": session_meta,
    "bare.meta": bare_meta,
    "turn_context": turn_context,
    "event_msg.token_count": token_count,
    "event_msg.thread_name_updated": thread_name_updated,
}
