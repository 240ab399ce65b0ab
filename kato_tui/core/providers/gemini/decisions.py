"""Questions to the user: the `ask_user` tool (0.27 and later) and the plan approval of `exit_plan_mode`.

The user's answer stands only inside the tool result, so these calls become decisions instead of tool events.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import orjson

from kato_tui.core import text as texts
from kato_tui.core.providers.base import Record, opt, text_of
from kato_tui.core.providers.gemini.content import digest

ASK: Final = "ask_user"
PLAN: Final = "exit_plan_mode"
TOOLS: Final = frozenset({ASK, PLAN})

_DISMISSED: Final = ("User dismissed ask_user dialog", "User cancelled the plan approval")
_APPROVED: Final = "Plan approved"
_REJECTED: Final = "Plan rejected"
_FEEDBACK: Final = "Plan rejected. User feedback: "
_AFTER_FEEDBACK: Final = "\n\nThe plan is stored at:"
_PLAN_OPTIONS: Final = ("Approve", "Reject")
#: The answer box of a yes/no question lists no options of its own.
_YES_NO: Final = ("Yes", "No")

#: Bounds for what is remembered of a question until its answer comes.
_MAX_QUESTIONS: Final = 8
_MAX_LABELS: Final = 12
_MAX_LABEL: Final = 200


@dataclass(frozen=True, slots=True)
class Question:
    prompt: str
    header: str
    options: tuple[tuple[str, str], ...]
    multi: bool

    @property
    def labels(self) -> list[str]:
        return [label for label, _ in self.options]


def questions(name: str, args: Any) -> list[Question] | None:
    """The questions of a call, or None when they cannot be read and the call stays a plain tool call."""
    if not isinstance(args, dict):
        return None
    if name == PLAN:
        path = text_of(args.get("plan_path")) or text_of(args.get("plan_filename"))
        prompt = f"Approve the plan {path}?" if path else "Approve the plan?"
        return [Question(texts.clean(prompt), "plan", tuple((label, "") for label in _PLAN_OPTIONS), multi=False)]
    asked = args.get("questions")
    if name != ASK or not isinstance(asked, list) or not asked:
        return None
    found = [_question(item) for item in asked]
    return [question for question in found if question] if all(found) else None


def _question(item: Any) -> Question | None:
    if not isinstance(item, dict) or not text_of(item.get("question")):
        return None
    listed = item.get("options")
    options = [
        (texts.clean(option["label"]), texts.clean(text_of(option.get("description"))))
        for option in (listed if isinstance(listed, list) else [])
        if isinstance(option, dict) and isinstance(option.get("label"), str)
    ]
    if not options and item.get("type") == "yesno":
        options = [(label, "") for label in _YES_NO]
    header = texts.one_line(text_of(item.get("header")))
    return Question(texts.clean(item["question"]), header, tuple(options), item.get("multiSelect") is True)


def prompts(call_id: str, asked: list[Question]) -> list[Record]:
    return [
        opt(
            decisionId=f"{call_id}:{index}",
            decisionKey=question.header or digest(question.prompt),
            prompt=question.prompt,
            options=[
                opt(id=str(number), label=label, description=description or None)
                for number, (label, description) in enumerate(question.options, 1)
            ],
            multiSelect=question.multi or None,
        )
        for index, question in enumerate(asked)
    ]


def remembered(asked: list[Question]) -> list[Any]:
    """What is kept of the questions, as plain JSON, for an answer that comes in a message of its own."""
    return [
        [[label[:_MAX_LABEL] for label in question.labels[:_MAX_LABELS]], question.multi]
        for question in asked[:_MAX_QUESTIONS]
    ]


def recalled(kept: Any) -> list[Question]:
    return [Question("", "", tuple((label, "") for label in labels), multi) for labels, multi in kept]


def responses(name: str, call_id: str, asked: list[Question], text: str, *, cancelled: bool) -> list[Record] | None:
    """The answers in a result, or None when it holds none that can be read."""
    # A dialog closed in the terminal marks the call cancelled and never reaches the tool's own wording.
    if cancelled or text.startswith(_DISMISSED):
        return [_response(call_id, index, [], None) for index in range(len(asked))]
    if name == PLAN:
        return _plan_response(call_id, text)
    answers = _answers(text)
    if answers is None:
        return None
    return [_answer(call_id, index, question, answers.get(str(index))) for index, question in enumerate(asked)]


def _plan_response(call_id: str, text: str) -> list[Record] | None:
    if text.startswith(_APPROVED):
        return [_response(call_id, 0, [_PLAN_OPTIONS[0]], None)]
    if not text.startswith(_REJECTED):
        return None
    feedback = text.removeprefix(_FEEDBACK).partition(_AFTER_FEEDBACK)[0] if text.startswith(_FEEDBACK) else None
    return [_response(call_id, 0, [_PLAN_OPTIONS[1]], feedback)]


def _answers(text: str) -> Record | None:
    if not text.startswith("{"):
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    answers = value.get("answers")
    return answers if isinstance(answers, dict) else None


def _answer(call_id: str, index: int, question: Question, answer: Any) -> Record:
    if not isinstance(answer, str):
        return _response(call_id, index, [], None)
    if answer in question.labels:
        return _response(call_id, index, [answer], None)
    if not question.multi:
        return _response(call_id, index, [], answer)
    # The dialog joins the chosen labels and the user's own text into one string and marks neither.
    chosen: list[str] = []
    own: list[str] = []
    for piece in answer.split(", "):
        (chosen if piece in question.labels else own).append(piece)
    return _response(call_id, index, chosen, ", ".join(own))


def _response(call_id: str, index: int, selections: list[str], free_text: str | None) -> Record:
    own = texts.whole(free_text) if free_text else None
    return opt(decisionId=f"{call_id}:{index}", selections=selections, freeText=own)
