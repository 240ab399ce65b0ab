"""User lines: nine of ten are tool results; the rest may be typed, injected, or a command in a wrapper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kato_tui.core import text as texts
from kato_tui.core.model import events
from kato_tui.core.providers.base import Record, text_of
from kato_tui.core.providers.claude import activity, authorship, pasted, results
from kato_tui.core.providers.claude.authorship import AGENT, HUMAN, MACHINE, Author

if TYPE_CHECKING:
    from kato_tui.core.providers.claude.translator import ClaudeTranslator

#: Injected texts that are not even worth a notice.
DENIED_TEXTS: Final = {
    "local-command-caveat": "boilerplate that tells the model to ignore local command output",
}
_EMPTY: Final = "empty user text"
_SHOWN: Final = "queued prompt already shown"
_IMAGE_SOURCE: Final = "[Image: source: "
_PLACEHOLDER: Final = "[Image #"


def translate(t: ClaudeTranslator, record: Record) -> None:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        t.enter(record)
        _prompt_line(t, record, [content], [])
        return
    if not isinstance(content, list):
        t.keep_raw("user", record)
        return
    t.enter(record)
    for block in content:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            results.translate(t, record, content)
            return
    parts, media = read_blocks(t, content)
    _prompt_line(t, record, parts, media)


def read_blocks(t: ClaudeTranslator, content: list[Any]) -> tuple[list[str], list[Record]]:
    """The texts and the media facts of prompt blocks; an unknown block is kept raw, alone."""
    parts: list[str] = []
    media: list[Record] = []
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(block, str):
            parts.append(block)
        elif kind == "text" and isinstance(block.get("text"), str):
            parts.append(block["text"])
        elif kind in ("image", "document"):
            media.append(results.media_of(block))
        else:
            t.keep_raw(f"user.{text_of(kind) or 'block'}", block, **t.here)
    if media:
        # A block that is nothing but the placeholder of its image says nothing of its own.
        parts = [
            part for part in parts if not (part.startswith(_PLACEHOLDER) and part.endswith("]") and len(part) < 16)
        ]
    return parts, media


def _prompt_line(t: ClaudeTranslator, record: Record, parts: list[str], media: list[Record]) -> None:
    author = authorship.author_of(record, other_agent=t.other_agent)
    if t.memory.left and t.live:
        t.memory.arrived("\n".join(parts), human=author.who != MACHINE)
    if t.memory.queue and t.live and record.get("promptSource") == "typed":
        # A program that died took its queue with it: else the prompt would have had to wait as well.
        t.memory.queue.clear()
    # Only a line that says it was typed cannot be the second copy of a prompt from the queue.
    say(t, parts, media, author, fresh=record.get("promptSource") == "typed")
    if not t.emitted:
        t.drop(_EMPTY)


def say(t: ClaudeTranslator, parts: list[str], media: list[Record], author: Author, *, fresh: bool) -> None:
    """Emit what a prompt holds: injected parts as notices, commands unwrapped, the rest as the user's message."""
    typed: list[str] = []
    for part in parts:
        rest = part if author.who == MACHINE else _peel(t, part)
        if not rest.strip():
            continue
        if rest.strip() in authorship.INTERRUPTIONS:
            t.say(events.SYSTEM_MESSAGE, rest, "interrupted")
            t.set_state(activity.idle)
            continue
        subtype = _injected(rest, author)
        if subtype is not None and not fresh and not t.memory.without_delivered(rest):
            t.repeat(_SHOWN)
        elif subtype is not None:
            _notice(t, rest, subtype)
        elif author.who == AGENT or not _command(t, rest):
            typed.append(rest)
    if not typed and not media:
        return
    text = "\n".join(typed)
    if author.who == AGENT or author.who == MACHINE:
        _agent_prompt(t, text, media, author)
        return
    if text and not fresh:
        text = t.memory.without_delivered(text)
        if not text and not media:
            t.repeat(_SHOWN)
            return
    text, quoted = pasted.unwrap(text)
    t.emit_typed(text, media or None, quoted, **t.here)
    t.set_state(activity.prompted)


def _peel(t: ClaudeTranslator, part: str) -> str:
    if part.startswith(_IMAGE_SOURCE) and part.endswith("]"):
        t.say(events.PROVIDER_INFO, part, "image-source")
        return ""
    peeled, rest = authorship.peel(part)
    for subtype, content in peeled:
        t.say(events.PROVIDER_INFO, content, subtype)
    return rest


def _injected(text: str, author: Author) -> str | None:
    """The subtype of a text that no user and no parent agent wrote."""
    if author.who == HUMAN:
        return None
    subtype = authorship.machine_subtype(text)
    if author.who != MACHINE:
        return subtype
    return subtype if subtype and author.subtype == "meta" else author.subtype


def _notice(t: ClaudeTranslator, text: str, subtype: str) -> None:
    if subtype in DENIED_TEXTS:
        t.drop(DENIED_TEXTS[subtype])
        return
    kind = events.SYSTEM_MESSAGE if subtype == "hook-stopped" else events.PROVIDER_INFO
    if subtype in ("local-command-stdout", "local-command-stderr", "bash-output"):
        text = authorship.command_output(text)
        if not text.strip():
            t.drop("empty output of a local command")
            return
    t.say(kind, text, subtype)
    if subtype == "hook-stopped":
        t.set_state(activity.idle)
    elif subtype not in authorship.NO_TURN:
        t.set_state(activity.busy)


def _command(t: ClaudeTranslator, text: str) -> bool:
    """A slash command or a shell command of the user, out of its wrapper; False for any other text.

    No change of state: a local command starts no turn, and one that expands to a prompt is followed by a line
    with the expanded text, which does.
    """
    shell = authorship.shell_command(text)
    if shell is not None:
        t.emit(events.USER_MESSAGE, {"text": f"!{texts.whole(shell)}"}, **t.here)
        return True
    command = authorship.slash_command(text)
    if command is None:
        return False
    name, arguments = command
    if arguments:
        text, quoted = pasted.unwrap(f"{name} {arguments}")
        t.emit_typed(text, None, quoted, **t.here)
    else:
        # Not through emit_typed: a bare "/model" is a poor title for a session.
        t.emit(events.USER_MESSAGE, {"text": texts.whole(name)}, **t.here)
    expanded = authorship.inner(text, "command-contents")
    if expanded:
        t.say(events.PROVIDER_INFO, expanded, "command-contents")
    return True


def local_command(t: ClaudeTranslator, text: str) -> None:
    """The content of a `local_command` record: the same wrappers under another record type."""
    if t.memory.left and t.live:
        t.memory.arrived(text)
    subtype = authorship.machine_subtype(text)
    if subtype is not None:
        _notice(t, text, subtype)
    elif t.other_agent or not _command(t, text):
        t.say(events.PROVIDER_INFO, text, "local-command")


def _agent_prompt(t: ClaudeTranslator, text: str, media: list[Record], author: Author) -> None:
    """What a parent agent or the harness asks: never the user's words, never a command."""
    lines = [text] if text else []
    lines += [texts.media_text(facts) for facts in media]
    t.say(events.PROVIDER_INFO, "\n".join(lines), author.subtype)
    if t.source.kind != "main" and text and t.facts.title is None:
        t.facts.set_title(texts.one_line(text), "prompt")
    t.set_state(activity.busy)
