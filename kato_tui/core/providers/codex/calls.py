"""Tool calls and their results: response items, and the `*_end` events that mirror or complete them.

A call and its result each come in up to two forms under one call id; the first form is kept. Commands that run
inside code mode (`exec`) have ids of their own and no response item: for them the event is the call and the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import orjson

from kato_tui.core.model import events
from kato_tui.core.providers.base import Record, opt, text_of
from kato_tui.core.providers.codex import outputs, questions
from kato_tui.core.providers.codex.wrappers import digest

if TYPE_CHECKING:
    from kato_tui.core.providers.codex.translator import CodexTranslator, Handler

Describe = Callable[[Record], tuple[str, Any]]
Result = Callable[[Record], Record]


def call(t: CodexTranslator, call_id: str, name: str, given: Any, form: str) -> bool:
    """Emit a tool call unless another form has told it; False for such a repeat."""
    known = t.calls.get(call_id)
    if known is not None and form not in known["c"]:
        known["c"] += form
        return False
    t.calls.open(call_id, name, form, t.when)
    t.say(events.TOOL_CALL, opt(toolCallId=call_id, name=t.clean(name) or "tool", input=given), "tool_call", call_id)
    t.be_busy()
    return True


def result(t: CodexTranslator, call_id: str, fields: Record, form: str) -> bool:
    """Emit a tool result unless another form has told it; False for such a repeat."""
    known = t.calls.get(call_id)
    late = False
    if known is not None:
        t.calls.answered(call_id)
        told = known.get("r", "")
        known["r"] = told + form
        late = bool(known.pop("running", None))
        if told and form not in told and not late:
            t.be_busy()
            return False
        if form == "r" and outputs.RUNNING in fields.get("text", "")[:400]:
            # The command outlives this result: what it prints later comes with its end event.
            known["running"] = 1
    if isinstance(fields.get("text"), str):
        fields["text"] = t.clean(fields["text"])
    # A second result of one call is another event: it must not pass for a repeat of the first in a replay.
    event_type = "tool_result_late" if late else "tool_result"
    t.say(events.TOOL_RESULT, {"toolCallId": call_id, **fields}, event_type, call_id)
    t.be_busy()
    return True


def _id(t: CodexTranslator, body: Record) -> str:
    """The call's id; for records without one, a name made from what it says, which a migration does not move."""
    found = text_of(body.get("call_id")) or text_of(body.get("callId")) or text_of(body.get("id"))
    if found:
        return found
    said = orjson.dumps(body, option=orjson.OPT_SORT_KEYS, default=str).decode()
    return f"{t._type.rpartition('.')[2]}-{digest(said)}"


def tool_name(body: Record, default: str = "tool") -> str:
    name, namespace = text_of(body.get("name")) or default, text_of(body.get("namespace"))
    if not namespace or name.startswith(namespace):
        return name
    return f"{namespace.rstrip('_')}__{name}" if namespace.startswith("mcp__") else f"{namespace}.{name}"


def function_call(t: CodexTranslator, body: Record) -> None:
    call_id, name = _id(t, body), tool_name(body)
    given = _arguments(body.get("arguments"))
    if text_of(body.get("name")) in questions.TOOLS and questions.ask(t, call_id, name, given):
        return
    if not call(t, call_id, name, given, "r"):
        t.repeat()


def _arguments(arguments: Any) -> Any:
    """Arguments are a JSON string; one that cannot be read is kept as it is."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return {"arguments": arguments} if arguments else None


def custom_tool_call(t: CodexTranslator, body: Record) -> None:
    given = body.get("input")
    if not call(t, _id(t, body), tool_name(body), {"input": given} if isinstance(given, str) else given, "r"):
        t.repeat()


def local_shell_call(t: CodexTranslator, body: Record) -> None:
    if not call(t, _id(t, body), "local_shell", body.get("action"), "r"):
        t.repeat()


def tool_search_call(t: CodexTranslator, body: Record) -> None:
    given = {key: body[key] for key in ("arguments", "query", "execution") if key in body}
    if not call(t, _id(t, body), "tool_search", given or None, "r"):
        t.repeat()


def web_search_call(t: CodexTranslator, body: Record) -> None:
    """Has no call id, and no result in the log: it is linked to its event by what it did."""
    _web_search(t, _id(t, body), body.get("action"), "r")


def web_search_end(t: CodexTranslator, body: Record) -> None:
    action = body.get("action")
    given = action if isinstance(action, dict) else opt(query=body.get("query"))
    _web_search(t, _id(t, body), given, "i" if ".item_completed." in t._type else "e")


def _web_search(t: CodexTranslator, call_id: str, action: Any, form: str) -> None:
    same = t.once("web:" + digest(orjson.dumps(action, option=orjson.OPT_SORT_KEYS, default=str).decode()), form)
    if not same or not call(t, call_id, "web_search", action, form):
        t.repeat()
        return
    t.calls.answered(call_id)
    t.be_busy()


def image_generation_call(t: CodexTranslator, body: Record) -> None:
    """`result` is the picture itself in base64: left out."""
    form = {"response_item": "r", "event_msg": "i" if ".item_completed." in t._type else "e"}
    described(t, body, form.get(t._type.partition(".")[0], "r"), _image_generation, _image_result)


def _image_generation(body: Record) -> tuple[str, Any]:
    return "image_generation", opt(prompt=body.get("revised_prompt"))


def _image_result(body: Record) -> Record:
    kept = {key: body[key] for key in ("status", "saved_path") if isinstance(body.get(key), str)}
    return opt(json=kept or None)


def output(t: CodexTranslator, body: Record) -> None:
    """`function_call_output`, `custom_tool_call_output`, `tool_search_output`."""
    call_id = _id(t, body)
    given = body["output"] if "output" in body else body.get("tools")
    known = t.calls.get(call_id)
    if known is not None and "q" in known and questions.answer(t, call_id, known, given):
        return
    fields = outputs.of_output(given)
    if not result(t, call_id, fields, "r"):
        t.repeat()


def described(t: CodexTranslator, body: Record, form: str, describe: Describe, fields: Result) -> None:
    """A record that is call and result in one; whichever of the two is known already is not told again."""
    call_id = _id(t, body)
    name, given = describe(body)
    told_call = call(t, call_id, name, given, form)
    if not result(t, call_id, fields(body), form) and not told_call:
        t.repeat()


def _ended(describe: Describe, fields: Result) -> Handler:
    def handler(t: CodexTranslator, body: Record) -> None:
        if body.get("source") in ("user_shell", "userShell"):
            t.repeat("the <user_shell_command> record tells it")
        else:
            described(t, body, "e", describe, fields)

    return handler


def exec_command(body: Record) -> tuple[str, Any]:
    return "exec_command", opt(command=body.get("command"), cwd=body.get("cwd"), stdin=body.get("interaction_input"))


def patch(body: Record) -> tuple[str, Any]:
    return "apply_patch", outputs.changes(body)


def mcp(body: Record) -> tuple[str, Any]:
    invocation = body.get("invocation")
    source = invocation if isinstance(invocation, dict) else body
    return f"mcp__{source.get('server')}__{source.get('tool')}", source.get("arguments")


def dynamic(body: Record) -> tuple[str, Any]:
    return tool_name({"name": body.get("tool"), "namespace": body.get("namespace")}), body.get("arguments")


def view_image(body: Record) -> tuple[str, Any]:
    return "view_image", opt(path=body.get("path"))


def collab(body: Record) -> tuple[str, Any]:
    """Spawning, messaging, awaiting and closing other agents."""
    return text_of(body.get("tool")) or text_of(body.get("type")).removesuffix("_end"), opt(prompt=body.get("prompt"))


def dynamic_request(t: CodexTranslator, body: Record) -> None:
    name, given = dynamic(body)
    if not call(t, _id(t, body), name, given, "e"):
        t.repeat()


def dynamic_response(t: CodexTranslator, body: Record) -> None:
    if not result(t, _id(t, body), outputs.of_dynamic(body), "e"):
        t.repeat()


HANDLERS: Final[dict[str, Handler]] = {
    "response_item.function_call": function_call,
    "response_item.custom_tool_call": custom_tool_call,
    "response_item.local_shell_call": local_shell_call,
    "response_item.web_search_call": web_search_call,
    "response_item.tool_search_call": tool_search_call,
    "response_item.image_generation_call": image_generation_call,
    "response_item.function_call_output": output,
    "response_item.custom_tool_call_output": output,
    "response_item.local_shell_call_output": output,
    "response_item.tool_search_output": output,
    "event_msg.exec_command_end": _ended(exec_command, outputs.of_command),
    "event_msg.patch_apply_end": _ended(patch, outputs.of_patch),
    "event_msg.mcp_tool_call_end": _ended(mcp, outputs.of_mcp),
    "event_msg.view_image_tool_call": _ended(view_image, outputs.of_rest),
    "event_msg.web_search_end": web_search_end,
    "event_msg.image_generation_end": image_generation_call,
    "event_msg.dynamic_tool_call_request": dynamic_request,
    "event_msg.dynamic_tool_call_response": dynamic_response,
    "event_msg.collab_agent_spawn_end": _ended(collab, outputs.of_rest),
    "event_msg.collab_agent_interaction_end": _ended(collab, outputs.of_rest),
    "event_msg.collab_waiting_end": _ended(collab, outputs.of_rest),
    "event_msg.collab_close_end": _ended(collab, outputs.of_rest),
    "event_msg.collab_resume_end": _ended(collab, outputs.of_rest),
}
