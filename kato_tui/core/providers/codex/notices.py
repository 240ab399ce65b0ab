"""Turns, compaction, review, rollbacks, errors: what happened around the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kato_tui.core.model import events
from kato_tui.core.providers.base import Record, only_text, text_of
from kato_tui.core.providers.codex import meta
from kato_tui.core.providers.codex.denylist import DENYLIST

if TYPE_CHECKING:
    from kato_tui.core.providers.codex.translator import CodexTranslator, Handler


def turn_started(t: CodexTranslator, body: Record) -> None:
    t.has_turns = True
    t.forget_turn()
    t.calls.end_turn()
    meta.turn_window(t, body)
    t.be("working", "thinking")
    t.drop(DENYLIST[t._type])


def turn_complete(t: CodexTranslator, body: Record) -> None:
    _end_turn(t)
    error = body.get("error")
    message = text_of(error.get("message")) if isinstance(error, dict) else text_of(error)
    if message:
        t.notice(events.SYSTEM_MESSAGE, message, "turn-error", "error")
    else:
        t.drop(DENYLIST[t._type])


def turn_aborted(t: CodexTranslator, body: Record) -> None:
    _end_turn(t)
    reason = text_of(body.get("reason"))
    aborted(t, f"Turn aborted ({reason})" if reason else "Turn aborted", "e")


def aborted(t: CodexTranslator, text: str, form: str) -> None:
    """Told by the event and by a `<turn_aborted>` text for the model: once is enough."""
    if t.once("aborted", form):
        t.notice(events.SYSTEM_MESSAGE, text or "Turn aborted", "turn-aborted")
    else:
        t.repeat()


def _end_turn(t: CodexTranslator) -> None:
    t.has_turns = True
    t.calls.end_turn()
    t.be_idle()


def rolled_back(t: CodexTranslator, body: Record) -> None:
    """The lines of the turns stay in the file, and so do their events in the twin."""
    count = body.get("num_turns")
    turns = f"last {count} turns" if isinstance(count, int) and count != 1 else "last turn"
    t.notice(events.SYSTEM_MESSAGE, f"The {turns} rolled back", "rolled-back")


def compacted(t: CodexTranslator, body: Record) -> None:
    """Its `replacement_history` repeats the conversation (up to 90 % of a file) and is never read."""
    _compacted(t, "c")
    summary = only_text(body.get("message"))
    if summary.strip():
        t.notice(events.PROVIDER_INFO, summary, "compaction-summary")


def context_compacted(t: CodexTranslator, body: Record) -> None:  # noqa: ARG001
    _compacted(t, {"response_item": "r", "event_msg": "e"}.get(t._type.partition(".")[0], "r"))


def context_compaction_item(t: CodexTranslator, item: Record) -> None:  # noqa: ARG001
    _compacted(t, "i")


def _compacted(t: CodexTranslator, form: str) -> None:
    if t.once("compacted", form):
        t.notice(events.SYSTEM_MESSAGE, "Context compacted", "compacted")
    else:
        t.repeat()


def entered_review(t: CodexTranslator, body: Record) -> None:
    """Until it ends, prompts are Codex's own, unless the user wrote the instructions of the review."""
    target = body.get("target")
    custom = isinstance(target, dict) and target.get("type") == "custom"
    t.review = None if custom else "review"
    hint = text_of(body.get("user_facing_hint")) or text_of(body.get("review"))
    _review(t, "entered", f"Review started: {hint}" if hint else "Review started")


def exited_review(t: CodexTranslator, body: Record) -> None:
    t.review = None
    output = body.get("review_output")
    verdict = text_of(output.get("overall_correctness")) if isinstance(output, dict) else ""
    _review(t, "exited", f"Review finished: {verdict}" if verdict else "Review finished")
    findings = output.get("findings") if isinstance(output, dict) else None
    # The assistant message that follows renders the findings; here they are only counted.
    if isinstance(findings, list) and findings:
        t.notice(events.PROVIDER_INFO, f"{len(findings)} review findings", "review")


def _review(t: CodexTranslator, which: str, text: str) -> None:
    form = "i" if ".item_completed." in t._type else "e"
    if t.once(f"review-{which}", form):
        t.notice(events.SYSTEM_MESSAGE, text, "review")
    else:
        t.repeat()


def failure(level: str) -> Handler:
    def handler(t: CodexTranslator, body: Record) -> None:
        text = text_of(body.get("message")) or text_of(body.get("reason"))
        t.notice(events.SYSTEM_MESSAGE, text or t._type.partition(".")[2], level, level)

    return handler


def undo_completed(t: CodexTranslator, body: Record) -> None:
    worked = body.get("success") is not False
    default = "Undo completed" if worked else "Undo failed"
    t.notice(events.SYSTEM_MESSAGE, text_of(body.get("message")) or default, "undo", None if worked else "error")


def guardian_assessment(t: CodexTranslator, body: Record) -> None:
    parts = [text_of(body.get(key)) for key in ("status", "risk_level", "rationale")]
    t.notice(events.PROVIDER_INFO, "Guardian: " + ", ".join(part for part in parts if part), "guardian")


def sub_agent_activity(t: CodexTranslator, body: Record) -> None:
    agent = text_of(body.get("agent_path")) or text_of(body.get("agent_thread_id"))
    form = "i" if ".item_completed." in t._type else "e"
    activity = text_of(body.get("kind")) or "active"
    if t.once(f"sub-agent:{_short(body.get('event_id') or body.get('id'))}:{activity}", form):
        t.notice(events.PROVIDER_INFO, f"Sub-agent {activity}: {agent}", "sub-agent")
    else:
        t.repeat()


def _short(value: Any) -> str:
    return text_of(value)[:80]


HANDLERS: Final[dict[str, Handler]] = {
    "event_msg.task_started": turn_started,
    "event_msg.turn_started": turn_started,
    "event_msg.task_complete": turn_complete,
    "event_msg.turn_complete": turn_complete,
    "event_msg.turn_aborted": turn_aborted,
    "event_msg.thread_rolled_back": rolled_back,
    "compacted": compacted,
    "event_msg.context_compacted": context_compacted,
    "response_item.compaction": context_compacted,
    "response_item.compaction_summary": context_compacted,
    "response_item.context_compaction": context_compacted,
    "event_msg.entered_review_mode": entered_review,
    "event_msg.exited_review_mode": exited_review,
    "event_msg.error": failure("error"),
    "event_msg.stream_error": failure("error"),
    "event_msg.warning": failure("warning"),
    "event_msg.undo_completed": undo_completed,
    "event_msg.guardian_assessment": guardian_assessment,
    "event_msg.sub_agent_activity": sub_agent_activity,
}
