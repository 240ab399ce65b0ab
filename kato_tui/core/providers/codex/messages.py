"""What people and the assistant said: user, assistant and reasoning records in all their forms.

Who typed a user record? Legacy logs: `user_message` is the positive evidence, and in every real log it is the line
right behind the response item with the same text; so a plausible response item is held until its event comes. Other
records (tokens, settings) may come between. When the assistant answers first, no event will come: the held text is
the user's if the log has shown no user events at all, and information otherwise. Paginated logs: the mirrors
(`UserMessage`) are incomplete, so the response item counts at once and the mirror is the repeat.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from kato_tui.core import text as texts
from kato_tui.core.model import events
from kato_tui.core.providers.base import Record, only_list, only_text, text_of
from kato_tui.core.providers.codex import denylist, notices, questions, voice, wrappers
from kato_tui.core.providers.codex.wrappers import Part, digest

if TYPE_CHECKING:
    from kato_tui.core.providers.codex.translator import CodexTranslator, Handler

#: Held text is part of the saved state: beyond this a text is taken at its word at once.
_MAX_HELD: Final = 64 * 1024
_MAX_HELD_COUNT: Final = 8
_TEXT_TYPES: Final = ("input_text", "output_text", "text", "Text")
_MEDIA_TYPES: Final = ("input_image", "input_audio", "image", "audio")
_PHASES: Final = {"commentary": "commentary", "final_answer": "final", "final": "final"}
#: What the assistant said through a messaging tool, where only its beginning is known.
_CUT_SHORT: Final = "codex:code-mode-delivery:v1:incomplete:"
_PLAN: Final = ("<proposed_plan>", "</proposed_plan>")
#: Codex strips these from its events and items and leaves them in the response item; nobody is meant to see them.
_CITED: Final = "<oai-mem-citation>"
_CITATION: Final = re.compile(r"\s*<oai-mem-citation>.*?</oai-mem-citation>", re.DOTALL)


def message(t: CodexTranslator, body: Record) -> None:
    role = body.get("role")
    if role == "user":
        user_item(t, body)
    elif role == "assistant":
        assistant_item(t, body)
    elif role in ("developer", "system"):
        t.drop(denylist.INSTRUCTIONS)
    else:
        t.keep_block(f"response_item.message.{role}", body)


# The user.


def user_item(t: CodexTranslator, body: Record) -> None:
    """A response item in the user's role: mostly context for the model, sometimes the prompt."""
    typed: list[str] = []
    media: list[Record] = []
    names: list[str] = []
    before = len(t._drafts)
    for part in _parts(t, body, media):
        if part.role == "typed":
            typed.append(part.text)
        elif part.role == "label":
            names += [path for path in (wrappers.label_path(part.text),) if path]
        else:
            _injected(t, part)
    _name(media, names)
    text = "".join(typed)
    if text.strip() or media:
        _user_said(t, text, media, text_of(body.get("id")) or None, stated=_stated(body))
    elif len(t._drafts) == before:
        t.drop(denylist.INJECTED if body.get("content") else denylist.EMPTY_MESSAGE)


def _kinds(body: Record) -> list[Any]:
    passthrough = body.get("internal_chat_message_metadata_passthrough")
    kinds = passthrough.get("content_item_kinds") if isinstance(passthrough, dict) else None
    return kinds if isinstance(kinds, list) else []


def _stated(body: Record) -> bool:
    """Whether Codex itself says that the user wrote it: no event is needed then."""
    return any(text_of(kind).startswith("user.") for kind in _kinds(body))


def _parts(t: CodexTranslator, body: Record, media: list[Record]) -> list[Part]:
    content = body.get("content")
    if isinstance(content, str):
        return wrappers.split_block(content)
    kinds = _kinds(body)
    parts: list[Part] = []
    for index, block in enumerate(only_list(content)):
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in _TEXT_TYPES and isinstance(block.get("text"), str):
            parts += wrappers.split_block(block["text"], text_of(kinds[index]) if index < len(kinds) else "")
        elif kind in _MEDIA_TYPES:
            media.append(wrappers.image_facts(block))
        else:
            t.keep_block(f"user content {kind}", block)
    return parts


def _name(media: list[Record], names: list[str]) -> None:
    """Give images the paths that labels or the event name, when there is one for each."""
    if len(names) == len(media):
        for facts, name in zip(media, names, strict=True):
            facts.setdefault("name", texts.whole(name))


def _injected(t: CodexTranslator, part: Part) -> None:
    if part.role == "aborted":
        notices.aborted(t, wrappers.inside(part.text, "turn_aborted").strip(), "r")
    elif part.role == "shell":
        command, result = wrappers.shell_command(part.text)
        _typed(t, f"!{command}", [], None)
        if result.strip():
            t.notice(events.PROVIDER_INFO, result, "shell-result")
    elif part.role in _SENT:
        _SENT[part.role](t, part.text, "r")
    elif part.subtype == "hook-prompt":
        hook_prompt(t, wrappers.inside(part.text, "hook_prompt"), "r")
    elif part.role == "info":
        t.notice(events.PROVIDER_INFO, part.text, part.subtype)


def hook_prompt(t: CodexTranslator, text: str, form: str) -> None:
    """What a hook told the model: an item and a user-role response item say the same."""
    if t.once(f"hook:{digest(text.strip())}", form):
        t.notice(events.PROVIDER_INFO, text, "hook-prompt")
    else:
        t.repeat()


def _reply(t: CodexTranslator, text: str, form: str) -> None:
    """The answers to an asynchronous question arrive as a user message."""
    answers = wrappers.inside(text, "send_user_message_question_reply").strip()
    if not t.once(f"reply:{digest(answers)}", form):
        t.repeat()
    elif not questions.replies(t, answers):
        t.notice(events.PROVIDER_INFO, text, "question-reply")


def _scheduled(t: CodexTranslator, text: str, form: str) -> None:
    """A saved prompt that a schedule sends: written once by the user or by the assistant, and not typed now."""
    if t.once(f"scheduled:{digest(text.strip())}", form):
        t.notice(events.PROVIDER_INFO, wrappers.inside(text, "instructions").strip(), "heartbeat")
        t.be_busy()
    else:
        t.repeat()


#: What arrives in the user's role and was not typed there, by role; each comes in several forms.
_SENT: Final[dict[str, Callable[[CodexTranslator, str, str], None]]] = {
    "reply": _reply,
    "voice": voice.delegated,
    "scheduled": _scheduled,
}


def _user_said(t: CodexTranslator, text: str, media: list[Record], item_id: str | None, *, stated: bool) -> None:
    key = digest(text)
    bare = t._type.startswith("bare.")
    held = sum(len(entry["text"]) for entry in t.held) + len(text)
    if bare or t.paginated or held > _MAX_HELD or len(t.held) >= _MAX_HELD_COUNT:
        settle(t)
        if t.said["user"].first(key, "r"):
            _typed(t, text, media, item_id)
        else:
            t.repeat()
        return
    if any(entry[0] == key and entry[1] == "e" for entry in t.said["user"].entries):
        t.said["user"].first(key, "r")
        t.repeat()
        return
    entry = {"text": text, "media": media, "id": item_id, "when": t.when, "copied": t.copied}
    t.held.append({**entry, "stated": True} if stated else entry)
    t.be("working", "thinking")
    t.drop(denylist.HELD)


def user_message(t: CodexTranslator, body: Record) -> None:
    """The legacy event: a prompt for certain."""
    if body.get("kind") in ("environment_context", "user_instructions"):
        # 0.3x sent the injected texts as events too; the response item has told what they are.
        t.drop(denylist.INJECTED)
        return
    text = only_text(body.get("message"))
    media = [wrappers.url_facts(text_of(url)) for url in only_list(body.get("images"))]
    paths = [path for path in only_list(body.get("local_images")) if isinstance(path, str)]
    t.has_user_events = True
    confirm_user(t, text, media, paths, "e")


def confirm_user(t: CodexTranslator, text: str, media: list[Record], paths: list[str], form: str) -> None:
    """A record that is positive evidence: it confirms a held text, repeats one that was told, or stands alone."""
    if not text.strip() and not media and not paths:
        t.drop(denylist.EMPTY_MESSAGE)
        return
    index = _held_at(t, text)
    if index is not None:
        earlier, entry, t.held = t.held[:index], t.held[index], t.held[index + 1 :]
        _settle(t, earlier, as_user=False)
        _name(entry["media"], paths)
        t.said["user"].note(digest(text), f"r{form}")
        _typed(t, entry["text"], entry["media"], entry["id"], entry)
        return
    key = digest(text)
    if t.once_told(f"scheduled:{digest(text.strip())}"):
        _scheduled(t, text, form)
        return
    if t.review and t.said["user"].holds(key):
        t.repeat("the prompt of a review, twice")
    elif not t.said["user"].first(key, form):
        t.repeat()
    elif sent := wrappers.own_prompt(text):
        _SENT[sent.role](t, text, form)
    else:
        media += [wrappers.file_facts(path) for path in paths]
        _typed(t, text, media, None)


def _held_at(t: CodexTranslator, text: str) -> int | None:
    """The held record that an event confirms: the one with its words, else one that holds them among others."""
    held = [entry["text"] for entry in t.held]
    if text in held:
        return held.index(text)
    return next((index for index, words in enumerate(held) if text and text in words), None)


def settle(t: CodexTranslator) -> None:
    """No event will come for the held texts: decide by what the log has shown so far."""
    held, t.held = t.held, []
    _settle(t, held, as_user=not t.has_user_events)


def _settle(t: CodexTranslator, held: list[Record], *, as_user: bool) -> None:
    for entry in held:
        if entry.get("stated") or (as_user and not wrappers.looks_injected(entry["text"])):
            t.said["user"].note(digest(entry["text"]), "r")
            _typed(t, entry["text"], entry["media"], entry["id"], entry)
        elif entry["text"].strip():
            _at(t, entry, events.PROVIDER_INFO, {"text": texts.clean(entry["text"]), "subtype": "context"})


def _at(t: CodexTranslator, entry: Record, kind: str, payload: Record) -> None:
    """Emit at the time of the held record rather than of the record that released it."""
    t.emit(kind, payload, timestamp=entry["when"], turn_id=t.turn, copied=entry["copied"], event_type="context")


def _typed(
    t: CodexTranslator, text: str, media: list[Record], item_id: str | None, entry: Record | None = None
) -> None:
    """A prompt. In a sub-agent it is the parent agent's, and under review it is Codex's own."""
    when, copied = (entry["when"], entry["copied"]) if entry else (t.when, t.copied)
    prompt, mentioned = wrappers.strip_preamble(text)
    known = {facts.get("name") for facts in media}
    media = media + [facts for facts in mentioned if facts.get("name") not in known]
    where: Record = {"timestamp": when, "turn_id": t.turn, "copied": copied, "event_id": item_id}
    if not prompt.strip() and not media:
        t.drop(denylist.EMPTY_MESSAGE)
        return
    if not copied and (t.subagent or t.review):
        subtype = "agent-prompt" if t.subagent else "review-prompt"
        shown = texts.clean(prompt) if prompt.strip() else texts.media_text(media[0])
        t.emit(events.PROVIDER_INFO, {"text": shown, "subtype": subtype}, event_type="user_message", **where)
        t._prompt_title(texts.one_line(prompt))
    else:
        t.emit_typed(prompt, media or None, event_type="user_message", **where)
    t.be_busy()


# The assistant.


def assistant_item(t: CodexTranslator, body: Record) -> None:
    content = body.get("content")
    delivered = text_of(t.harness.get("delivered_assistant_message"))
    if delivered.startswith(_CUT_SHORT):
        # The record itself only says that the words are not there.
        content = delivered.removeprefix(_CUT_SHORT)
    blocks = [{"type": "output_text", "text": content}] if isinstance(content, str) else only_list(content)
    texts_: list[str] = []
    for block in blocks:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in _TEXT_TYPES and isinstance(block.get("text"), str):
            texts_.append(block["text"])
        elif kind == "refusal":
            texts_.append(text_of(block.get("refusal")))
        else:
            t.keep_block(f"assistant content {kind}", block)
    if t.harness.get("compaction_output") is True:
        t.notice(events.PROVIDER_INFO, "".join(texts_), "compaction-summary")
        return
    assistant_said(t, texts_, body.get("phase"), "r", text_of(body.get("id")))


def agent_message(t: CodexTranslator, body: Record) -> None:
    assistant_said(t, [only_text(body.get("message"))], body.get("phase"), "e")


def assistant_said(t: CodexTranslator, blocks: list[str], phase: Any, form: str, item_id: str = "") -> None:
    """One message, told by up to three forms.

    The event comes once per block, and leaves out a `<proposed_plan>`, which has an item of its own; so forms are
    compared part by part, and only what no form has told yet is emitted.
    """
    blocks = [_CITATION.sub("", block) if _CITED in block else block for block in blocks]
    parts = [part for block in blocks for part in _plan_parts(block) if part.strip()]
    if not parts:
        t.drop(denylist.EMPTY_MESSAGE)
        return
    own_id = bool(item_id) and t.said["assistant"].forms(_id_key(item_id)) is None
    if item_id and _same_item(t, item_id, parts, form, holds_plan=_PLAN[0] in "".join(blocks)):
        t.repeat()
    else:
        _say_new(t, blocks, parts, phase, form, own_id=own_id)
    if phase == "final_answer" or (phase is None and not t.has_turns):
        t.be_idle()
    else:
        t.be_busy()


def _same_item(t: CodexTranslator, item_id: str, parts: list[str], form: str, *, holds_plan: bool) -> bool:
    """Whether a record with this id was told: an AgentMessage shares the id of its response item, not every word."""
    said = t.said["assistant"]
    key = _id_key(item_id)
    forms = said.forms(key)
    if forms is None:
        said.note(key, form)
        return False
    if form in forms:
        # No mirror but the same form again: an id that is used twice hides no words.
        return all(said.holds(digest(part.strip())) for part in parts)
    said.first(key, form)
    if holds_plan:
        # The mirror leaves the plan out: words decide about a response item that holds one.
        return False
    for part in parts:
        said.mirrored(digest(part.strip()), form)
    return True


def _id_key(item_id: str) -> str:
    return f"id:{digest(item_id)}"


def _say_new(t: CodexTranslator, blocks: list[str], parts: list[str], phase: Any, form: str, *, own_id: bool) -> None:
    said = t.said["assistant"]
    whole = digest("".join(blocks).strip())
    if len(parts) > 1 and any(entry[0] == whole and form not in entry[1] for entry in said.entries):
        said.first(whole, form)
        t.repeat()
        return
    new = [part for part in parts if said.first(digest(part.strip()), form, own_id=own_id)]
    if len(new) == len(parts) > 1:
        said.note(whole, form)
    if not new:
        t.repeat()
        return
    payload: Record = {"text": t.clean(_without_marks("".join(blocks)) if len(new) == len(parts) else "".join(new))}
    if isinstance(phase, str):
        payload["phase"] = _PHASES.get(phase, "other")
    if payload["text"].strip():
        t.say(events.ASSISTANT_MESSAGE, payload, "agent_message")
    else:
        t.drop(denylist.EMPTY_MESSAGE)


def _plan_parts(text: str) -> list[str]:
    start, end = text.find(_PLAN[0]), text.rfind(_PLAN[1])
    if not 0 <= start < end:
        return [text]
    return [text[:start] + text[end + len(_PLAN[1]) :], text[start + len(_PLAN[0]) : end]]


def _without_marks(text: str) -> str:
    """The words of an answer without the marks around its plan, which are for Codex."""
    return text.replace(_PLAN[0], "").replace(_PLAN[1], "") if _plan_parts(text) != [text] else text


# Reasoning.


def reasoning(t: CodexTranslator, body: Record) -> None:
    sections = [only_text(block["text"]) for block in only_list(body.get("summary"))]
    raw = [only_text(block["text"]) for block in only_list(body.get("content"))]
    thought(t, sections + raw, "r")


def agent_reasoning(t: CodexTranslator, body: Record) -> None:
    thought(t, [only_text(body.get("text"))], "e")


def thought(t: CodexTranslator, sections: list[str], form: str) -> None:
    """The event comes once per section of a summary, the response item holds them all.

    Some models think in steps whose summaries repeat all the steps before: what was said since the last thing that
    was done is not said again.
    """
    told = False
    for section in (t.clean(section) for section in sections):
        if section.strip():
            name = digest(section.strip())
            repeated = t.newest == events.ASSISTANT_THINKING and t.said["thought"].holds(name)
            if t.said["thought"].first(name, form) and not repeated:
                t.say(events.ASSISTANT_THINKING, {"text": section}, "reasoning")
            told = True
    if told:
        t.repeat()
    else:
        t.drop(denylist.EMPTY_REASONING)
    t.be_busy()


def agent_mail(t: CodexTranslator, body: Record) -> None:
    """A message between agents (>= 0.143): nobody typed it."""
    content = body.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else only_list(content)
    # The words may be encrypted: then nobody but the agents can read them.
    text = "".join(only_text(block["text"]) for block in blocks if "encrypted_content" not in block)
    if text.strip():
        author, recipient = text_of(body.get("author")), text_of(body.get("recipient"))
        t.notice(events.PROVIDER_INFO, f"{author} -> {recipient}\n{text}", "agent-mail")
    else:
        t.drop(denylist.ENCRYPTED_MAIL)


HANDLERS: Final[dict[str, Handler]] = {
    "response_item.message": message,
    "response_item.reasoning": reasoning,
    "response_item.agent_message": agent_mail,
    "inter_agent_communication": agent_mail,
    "event_msg.user_message": user_message,
    "event_msg.agent_message": agent_message,
    "event_msg.agent_reasoning": agent_reasoning,
    "event_msg.agent_reasoning_raw_content": agent_reasoning,
}
