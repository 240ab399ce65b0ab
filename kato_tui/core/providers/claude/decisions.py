"""Questions to the user (AskUserQuestion) and plan approvals (ExitPlanMode), with their answers.

Both are tool calls whose result is the user's answer: prompts and responses, not calls and results.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from kato_tui.core import text as texts
from kato_tui.core.model import events
from kato_tui.core.providers.base import opt, text_of
from kato_tui.core.providers.claude import authorship, pasted
from kato_tui.core.providers.claude.memory import digest

if TYPE_CHECKING:
    from kato_tui.core.providers.claude.translator import ClaudeTranslator

APPROVE: Final = "approve"
REJECT: Final = "reject"
#: Newer versions keep the plan in a file: the call is empty and the plan comes with the answer.
_PLAN_ELSEWHERE: Final = "Plan approval"
_APPROVED: Final = ("User has approved", "The user has approved", "User approved")
#: A question of the size of a book is no question; it is asked, but not remembered for the text fallback.
_MAX_QUESTION: Final = 1024
_MAX_QUESTIONS: Final = 8
_MAX_OPTIONS: Final = 16


def ask(t: ClaudeTranslator, call_id: str, name: str, tool_input: Any, where: dict[str, Any]) -> bool:
    """Emit the prompts of a decision tool; False when the call is none or cannot be read."""
    if name == "ExitPlanMode":
        plan = text_of(tool_input.get("plan")) if isinstance(tool_input, dict) else ""
        _ask_plan(t, call_id, plan, where)
        return True
    if name != "AskUserQuestion" or not isinstance(tool_input, dict):
        return False
    questions = _read(tool_input.get("questions"))
    if not questions:
        return False
    for index, (question, options, multi) in enumerate(questions):
        payload = opt(
            decisionId=f"{call_id}:{index}",
            decisionKey=hashlib.sha256(question.encode("utf-8", "replace")).hexdigest()[:12],
            prompt=t.clean(question),
            options=[
                opt(id=str(number), label=t.clean(label), description=t.clean(about) or None)
                for number, (label, about) in enumerate(options, 1)
            ],
            multiSelect=multi,
        )
        t.emit(events.ASSISTANT_DECISION, payload, **where)
    _remember(t, call_id, questions)
    return True


def _ask_plan(t: ClaudeTranslator, call_id: str, plan: str, where: dict[str, Any]) -> None:
    payload = {
        "decisionId": f"{call_id}:0",
        "decisionKey": events.PLAN_APPROVAL,
        "prompt": t.clean(plan) if plan.strip() else _PLAN_ELSEWHERE,
        "options": [{"id": "1", "label": APPROVE}, {"id": "2", "label": REJECT}],
    }
    t.emit(events.ASSISTANT_DECISION, payload, **where)
    t.memory.remember_decision(call_id, {"plan": digest(plan)})


def _read(questions: Any) -> list[tuple[str, list[tuple[str, str]], bool | None]]:
    """(question, [(label, description)], multi select) of every question, or nothing unless all can be read."""
    if not isinstance(questions, list) or not 0 < len(questions) <= _MAX_QUESTIONS:
        return []
    read = []
    for item in questions:
        question = item.get("question") if isinstance(item, dict) else None
        if not isinstance(question, str) or not question.strip():
            return []
        given = item.get("options")
        options = [
            (str(option["label"]), text_of(option.get("description")))
            for option in (given if isinstance(given, list) else [])
            if isinstance(option, dict) and isinstance(option.get("label"), str)
        ]
        multi = item.get("multiSelect")
        read.append((question, options[:_MAX_OPTIONS], multi if isinstance(multi, bool) else None))
    return read


def _remember(
    t: ClaudeTranslator, call_id: str, questions: list[tuple[str, list[tuple[str, str]], bool | None]]
) -> None:
    kept = [
        [question if len(question) <= _MAX_QUESTION else "", digest(question), [label for label, _ in options][:16]]
        for question, options, _ in questions
    ]
    if sum(len(label) for entry in kept for label in entry[2]) > _MAX_QUESTION:
        kept = [[question, mark, []] for question, mark, _ in kept]
    t.memory.remember_decision(call_id, {"questions": kept})


def answer(t: ClaudeTranslator, call_id: str, text: str, extra: Any, failed: bool | None) -> bool:
    """Emit the responses that a tool result holds; False when it has to stay a plain result."""
    asked = t.memory.asked(call_id)
    if asked is None and isinstance(extra, dict) and isinstance(extra.get("answers"), dict):
        # The question lies before what this translator has seen (a log read from its middle).
        questions = _read(extra.get("questions"))
        if questions:
            _remember(t, call_id, questions)
            asked = t.memory.asked(call_id)
    if asked is None:
        return False
    if "plan" in asked:
        return _plan_answer(t, call_id, asked["plan"], text, extra, failed)
    return not failed and _question_answers(t, call_id, asked["questions"], text, extra)


def declined(t: ClaudeTranslator, call_id: str, text: str, failed: bool | None) -> bool:
    """Whether the user dismissed a question instead of answering it; then that is told, without their words."""
    asked = t.memory.asked(call_id)
    if not failed or asked is None or "questions" not in asked or not authorship.is_rejection(text):
        return False
    t.emit(events.USER_DECISION, {"decisionId": f"{call_id}:0", "selections": []}, **t.here)
    return True


def _plan_answer(t: ClaudeTranslator, call_id: str, mark: str, text: str, extra: Any, failed: bool | None) -> bool:
    words = authorship.rejection_words(text)
    if failed and authorship.is_rejection(text):
        chosen = REJECT
    elif not failed and (text.startswith(_APPROVED) or isinstance(extra, dict)):
        chosen = APPROVE
    else:
        return False
    free = texts.whole(pasted.unwrap(words)[0]) if words and not t.other_agent else None
    payload = opt(decisionId=f"{call_id}:0", selections=[chosen], freeText=free)
    t.emit(events.USER_DECISION, payload, **t.here)
    plan = text_of(extra.get("plan")) if isinstance(extra, dict) else ""
    if plan.strip() and digest(plan) != mark:
        # The user edited the plan, or the call did not hold it: this is the only copy.
        t.say(events.PROVIDER_INFO, plan, "approved-plan")
    return True


def _question_answers(t: ClaudeTranslator, call_id: str, questions: list[list[Any]], text: str, extra: Any) -> bool:
    given = extra.get("answers") if isinstance(extra, dict) else None
    notes = extra.get("annotations") if isinstance(extra, dict) else None
    by_mark = {digest(key): value for key, value in given.items()} if isinstance(given, dict) else {}
    missing = [question for question, mark, _ in questions if mark not in by_mark]
    from_text = _answers_in(text, [question for question, _, _ in questions]) if missing else {}
    noted = {digest(key): value for key, value in notes.items()} if isinstance(notes, dict) else {}
    emitted = False
    for index, (question, mark, labels) in enumerate(questions):
        reply = by_mark.get(mark, from_text.get(question))
        note = noted.get(mark)
        remark = text_of(note.get("notes")) if isinstance(note, dict) else ""
        selections, free = _selections(reply, labels)
        free_text = "\n".join(part for part in (free, remark) if part)
        if selections or free_text:
            payload = opt(
                decisionId=f"{call_id}:{index}",
                selections=selections,
                freeText=texts.whole(pasted.unwrap(free_text)[0]) if free_text else None,
            )
            t.emit(events.USER_DECISION, payload, **t.here)
            emitted = True
    return emitted


def _selections(reply: Any, labels: list[str]) -> tuple[list[str], str]:
    """The chosen labels, and what the user wrote instead. Several labels come as one comma-separated string."""
    if isinstance(reply, list):
        parts = [part for part in reply if isinstance(part, str)]
        return [part for part in parts if part in labels], "\n".join(part for part in parts if part not in labels)
    if not isinstance(reply, str) or not reply:
        return [], ""
    if reply in labels:
        return [reply], ""
    parts = _split_labels(reply, labels)
    return (parts, "") if parts else ([], reply)


def _split_labels(reply: str, labels: list[str]) -> list[str]:
    """`reply` cut into known labels, which may hold commas themselves; nothing unless it is cut without a rest."""
    chosen: list[str] = []
    rest = reply
    while rest:
        label = max((label for label in labels if label and _starts(rest, label)), key=len, default=None)
        if label is None:
            return []
        chosen.append(label)
        rest = rest[len(label) :].removeprefix(",").lstrip()
    return chosen


def _starts(rest: str, label: str) -> bool:
    return rest.startswith(label) and (len(rest) == len(label) or rest[len(label)] == ",")


def _answers_in(text: str, questions: list[str]) -> dict[str, str]:
    """`"Q"="A"` pairs of the result's text, for versions without structured answers."""
    starts = sorted(
        (at, at + len(marker), question)
        for question in questions
        if question and (at := text.find(marker := f'"{question}"="')) >= 0
    )
    answers: dict[str, str] = {}
    for number, (_, begin, question) in enumerate(starts):
        limit = starts[number + 1][0] if number + 1 < len(starts) else len(text)
        # The last answer is followed by '". You can now continue…', the others by '", '.
        end = text.rfind('". ', begin, limit) if number + 1 == len(starts) else text.rfind('",', begin, limit)
        end = end if end >= 0 else text.rfind('"', begin, limit)
        if end >= 0:
            answers[question] = text[begin:end]
    return answers
