"""`request_user_input` and its asynchronous variant: questions become decision prompts, answers responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from kato_tui.core.model import events
from kato_tui.core.providers.base import Record, opt, text_of
from kato_tui.core.providers.codex import denylist
from kato_tui.core.providers.codex.memory import key
from kato_tui.core.providers.codex.wrappers import digest

if TYPE_CHECKING:
    from kato_tui.core.providers.codex.translator import CodexTranslator

ASYNC: Final = "request_user_input_async"
TOOLS: Final = frozenset({"request_user_input", ASYNC})
_NOTE: Final = "user_note: "
#: What stands in a response in place of an answer that the user was told is secret.
_SECRET: Final = "[secret]"
_MAX_QUESTIONS: Final = 16
_MAX_OPTIONS: Final = 32
_MAX_LABEL: Final = 200


def ask(t: CodexTranslator, call_id: str, name: str, arguments: Any) -> bool:
    """Emit the questions of a call; False when they cannot be read and the call must stay a tool call."""
    found = arguments.get("questions") if isinstance(arguments, dict) else None
    asked = found if isinstance(found, list) else []
    if not 0 < len(asked) <= _MAX_QUESTIONS or not all(isinstance(q, dict) and _prompt(q) for q in asked):
        return False
    call = t.calls.open(call_id, name, "r", t.when)
    call["q"] = [[key(text_of(q.get("id"))), q.get("isSecret") is True, _labels(q)] for q in asked]
    if name.endswith(ASYNC):
        call["w"] = len(asked)
    for index, question in enumerate(asked):
        t.say(events.ASSISTANT_DECISION, _decision(t, call_id, index, question), "request_user_input", call_id)
    t.be_busy()
    return True


def _prompt(question: Record) -> str:
    return text_of(question.get("question")) or text_of(question.get("header"))


def _options(question: Record) -> list[Record]:
    options = question.get("options")
    found = [o for o in options if isinstance(o, dict) and text_of(o.get("label"))] if isinstance(options, list) else []
    return found[:_MAX_OPTIONS]


def _labels(question: Record) -> list[str]:
    return [text_of(option["label"])[:_MAX_LABEL] for option in _options(question)]


def _decision(t: CodexTranslator, call_id: str, index: int, question: Record) -> Record:
    options = [
        opt(
            id=str(number),
            label=t.clean(option["label"]),
            description=t.clean(text_of(option.get("description"))) or None,
        )
        for number, option in enumerate(_options(question), 1)
    ]
    if question.get("isOther") is True:
        options.append({"id": "other", "label": "Other"})
    own_id = text_of(question.get("id"))
    return opt(
        decisionId=f"{call_id}:{index}",
        decisionKey=own_id or digest(_prompt(question)),
        providerQuestionId=own_id or None,
        prompt=t.clean(_prompt(question)),
        options=options,
        multiSelect=True if question.get("multiSelect") is True else None,
    )


def answer(t: CodexTranslator, call_id: str, call: Record, output: Any) -> bool:
    """Emit the answers in a call's output; False when there are none to read (cancelled, aborted)."""
    t.calls.answered(call_id)
    reply = _parsed(output)
    if call["n"].endswith(ASYNC) and isinstance(reply, dict) and reply.get("accepted") is True:
        t.drop(denylist.ACKNOWLEDGED)
        t.be_busy()
        return True
    answers = reply.get("answers") if isinstance(reply, dict) else None
    if not isinstance(answers, dict):
        call.pop("w", None)
        return False
    by_key = {key(own_id): given for own_id, given in answers.items()}
    for index, (own_id, secret, labels) in enumerate(call["q"]):
        given = by_key.get(own_id)
        given = given.get("answers") if isinstance(given, dict) else given
        texts = [text for text in given if isinstance(text, str)] if isinstance(given, list) else [text_of(given)]
        _respond(t, f"{call_id}:{index}", own_id, [text for text in texts if text], labels, secret=secret)
    call.pop("w", None)
    t.be_busy()
    return True


def replies(t: CodexTranslator, text: str) -> bool:
    """Emit the answers of `<send_user_message_question_reply>`; False when they cannot be read."""
    found = _parsed(text)
    read = 0
    for entry in found if isinstance(found, list) else []:
        item = _parsed(entry.get("questionItemId")) if isinstance(entry, dict) else None
        if not (isinstance(item, list) and len(item) == 3 and text_of(item[1]) and isinstance(item[2], int)):
            continue
        call_id, index = item[1], item[2]
        call = t.calls.get(call_id) or {}
        asked = call.get("q", [])
        own_id, secret, labels = asked[index] if 0 <= index < len(asked) else ("", False, None)
        _respond(t, f"{call_id}:{index}", own_id, [text_of(entry.get("answer"))], labels, secret=secret)
        if call.get("w"):
            call["w"] -= 1
        read += 1
    if read:
        t.be_busy()
    return read > 0


def _respond(
    t: CodexTranslator, decision_id: str, own_id: str, given: list[str], labels: list[str] | None, *, secret: bool
) -> None:
    """An answer that is no option's label is the user's own text; without the labels it passes for a selection."""
    notes = [text.removeprefix(_NOTE) for text in given if text.startswith(_NOTE)]
    chosen = [text for text in given if not text.startswith(_NOTE)]
    if labels is not None:
        notes = [text for text in chosen if text[:_MAX_LABEL] not in labels] + notes
        chosen = [text for text in chosen if text[:_MAX_LABEL] in labels]
    if secret:
        chosen, notes = ([_SECRET] if given else []), []
    payload = opt(
        decisionId=decision_id,
        providerQuestionId=own_id or None,
        selections=chosen,
        freeText="\n".join(notes) or None,
    )
    t.say(events.USER_DECISION, payload, "request_user_input", decision_id.rpartition(":")[0])


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return None
