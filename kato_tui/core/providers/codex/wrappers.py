"""Who wrote the text of a user record, and what is wrapper in it. Pure functions over text.

Codex sends the model environment, instructions, hook output and shell results in the user's role; the official
list is `core/src/context/contextual_user_message.rs` (formats.md 2.4).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from kato_tui.core import text as texts
from kato_tui.core.providers.base import Record, text_of

Role = Literal["typed", "dropped", "info", "aborted", "shell", "reply", "label", "voice", "scheduled"]


@dataclass(frozen=True, slots=True)
class Part:
    """A run of a user record's text: who wrote it, and under which subtype it is kept."""

    role: Role
    text: str
    subtype: str = ""


#: (prefix, closing tag, role, subtype). Text after the closing tag is the user's own again.
_INJECTED: Final[tuple[tuple[str, str, Role, str], ...]] = (
    ("<environment_context>", "</environment_context>", "dropped", "environment"),
    ("# AGENTS.md instructions", "</INSTRUCTIONS>", "dropped", "agents-md"),
    ("<user_instructions>", "</user_instructions>", "dropped", "agents-md"),
    ("<recommended_plugins>", "</recommended_plugins>", "dropped", "plugins"),
    ("<codex_internal_context", "</codex_internal_context>", "dropped", "internal"),
    ("<goal_context>", "</goal_context>", "dropped", "goal"),
    ("<permissions instructions>", "</permissions instructions>", "dropped", "permissions"),
    ("<skill>", "</skill>", "info", "skill"),
    ("<subagent_notification>", "</subagent_notification>", "info", "sub-agent"),
    ("<hook_prompt", "</hook_prompt>", "info", "hook-prompt"),
    ("<user_action>", "</user_action>", "info", "review"),
    ("<turn_aborted>", "</turn_aborted>", "aborted", "turn-aborted"),
    ("<user_shell_command>", "</user_shell_command>", "shell", "shell"),
    ("<send_user_message_question_reply>", "</send_user_message_question_reply>", "reply", "reply"),
    ("<realtime_delegation>", "</realtime_delegation>", "voice", "voice"),
    ("<heartbeat>\n  <automation_id>", "</heartbeat>", "scheduled", "heartbeat"),
)
#: Whole texts that only a prefix betrays.
_INJECTED_LINES: Final[tuple[tuple[str, str], ...]] = (
    ("Another language model started to solve this problem", "compaction-summary"),
    ("Warning: The maximum number of unified exec processes", "warning"),
    ("Warning: apply_patch was requested via ", "warning"),
    ("Warning: Your account was flagged", "warning"),
)
_EXTERNAL: Final = re.compile(r"<(external_[\w-]{1,64})>")
#: Harness labels around an image: `<image>`, `<image name=[Image #1] path="...">`, `</image>`.
_IMAGE_LABEL: Final = re.compile(r"\s*(?:<image(?:\s[^>]{0,1000})?>|</image>)\s*")
_IMAGE_PATH: Final = re.compile(r'path="([^"]{1,1000})"')
#: A prompt that a schedule sends in the user's name (automations).
_HEARTBEAT: Final = "user.heartbeat"
#: Blocks whose kind Codex itself states (>= 0.151) and that are worth keeping as information.
_INFO_KINDS: Final = ("skills.selected_skill_instructions", "hooks.additional_context")
_MARKERS: Final = ("## My request for Codex:", "## My request:")
_FILES_HEADER: Final = "# Files mentioned by the user:"
_FILE_LINE: Final = re.compile(r"^## (?P<name>[^\n:]{1,300}): (?P<path>[^\n]{1,1000})$", re.MULTILINE)
#: An IDE preamble lists files and a selection; a marker deeper than this belongs to the user's own text.
_MAX_PREAMBLE: Final = 256 * 1024
_MAX_FILES: Final = 32

MEDIA_TYPES: Final[dict[str, str]] = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "mp4": "video/mp4",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
}


def digest(text: str) -> str:
    """A short name for a text, to recognise it again without keeping it."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def split_block(text: str, kind: str = "") -> list[Part]:
    """The parts of one text block of a user record. `kind` is its entry of `content_item_kinds`, if any."""
    wrapped = _wrapped(text)
    if kind == _HEARTBEAT:
        return [Part("scheduled", text, "heartbeat")]
    if kind.startswith("user."):
        # Question replies, shell commands and image labels are sent as user.text too, so wrappers still count.
        own = wrapped and wrapped[0].role in ("reply", "shell", "aborted", "label", "voice", "scheduled")
        return wrapped if own and wrapped else [Part("typed", text)]
    if kind and kind != "unknown" and not wrapped:
        return [Part("info" if kind in _INFO_KINDS else "dropped", text, kind)]
    return wrapped or [Part("typed", text)]


def _wrapped(text: str) -> list[Part] | None:
    start = text[:200].lstrip()
    if not start.startswith(("<", "#", "A", "W")):
        return None
    if _IMAGE_LABEL.fullmatch(text):
        return [Part("label", text)]
    for prefix, closing, role, subtype in _INJECTED:
        if start.startswith(prefix):
            return _cut(text, closing, role, subtype)
    external = _EXTERNAL.match(start)
    if external:
        return _cut(text, f"</{external[1]}>", "dropped", "external")
    for prefix, subtype in _INJECTED_LINES:
        if start.startswith(prefix):
            return [Part("info", text, subtype)]
    return None


def _cut(text: str, closing: str, role: Role, subtype: str) -> list[Part]:
    """Split behind the closing tag: a genuine prompt can follow an injected block."""
    end = text.rfind(closing)
    if end < 0:
        return [Part(role, text, subtype)]
    end += len(closing)
    rest = text[end:]
    parts = [Part(role, text[:end], subtype)]
    if rest.strip():
        parts += _wrapped(rest) or [Part("typed", rest)]
    return parts


def looks_injected(text: str) -> bool:
    """Whether a text without positive evidence is one single tagged block, as every injected text is."""
    stripped = text.strip()
    match = re.match(r"<([a-z][\w-]{2,60})[ >]", stripped[:80])
    return match is not None and stripped.endswith(f"</{match[1]}>")


def inside(text: str, tag: str) -> str:
    """What stands between `<tag>` and its last closing tag, or the whole text."""
    start = text.find(">", text.find(f"<{tag}")) + 1
    end = text.rfind(f"</{tag}>")
    return text[start:end] if 0 < start <= end else text


def own_prompt(text: str) -> Part | None:
    """What in the user's role looks typed even to Codex's own events, and is not."""
    wrapped = _wrapped(text)
    return wrapped[0] if wrapped and wrapped[0].role in ("reply", "voice", "scheduled") else None


def shell_command(text: str) -> tuple[str, str]:
    """(command, result) of a `<user_shell_command>` block: the user typed `!command`."""
    if "<command>" not in text:
        return inside(text, "user_shell_command").strip(), ""
    head, _, rest = text.partition("</command>")
    command = head.partition("<command>")[2].strip("\n")
    return command, inside(rest, "result").strip("\n") if "<result>" in rest else ""


def strip_preamble(text: str) -> tuple[str, list[Record]]:
    """A prompt without its IDE preamble, and the files that the preamble attaches to it.

    Official rule (`tui/src/ide_context/prompt.rs`): the text after the last marker. It only holds for a text that
    begins with the preamble's heading, or a user who quotes the marker would lose what stands before it.
    """
    head = text[:200].lstrip()
    first_line = head.partition("\n")[0].rstrip()
    if not (first_line.startswith("# ") and first_line.endswith(":")) and not head.startswith(_MARKERS[0]):
        return text, []
    for marker in _MARKERS:
        at = text.rfind(marker)
        if 0 <= at <= _MAX_PREAMBLE and (at == 0 or text[at - 1] == "\n"):
            return text[at + len(marker) :].removeprefix("\n"), _mentioned_files(text[:at])
    return text, []


def _mentioned_files(preamble: str) -> list[Record]:
    start = preamble.find(_FILES_HEADER)
    if start < 0:
        return []
    matches = _FILE_LINE.finditer(preamble, start)
    return [file_facts(match["path"]) for match, _ in zip(matches, range(_MAX_FILES), strict=False)]


def file_facts(path: str) -> Record:
    extension = path.rpartition(".")[2].lower()
    return texts.media_facts(MEDIA_TYPES.get(extension), None, path)


def image_facts(block: Record) -> Record:
    """Facts about an image block: `image_url` is a data: URL or an address, in old logs inside an object."""
    url = block.get("image_url")
    if isinstance(url, dict):
        url = url.get("url")
    return url_facts(text_of(url), str(block.get("type", "")))


def url_facts(url: str, kind: str = "image") -> Record:
    default = "audio/*" if "audio" in kind else "image/*"
    if url.startswith("data:"):
        head, _, data = url.partition(",")
        return texts.media_facts(head[5:].partition(";")[0] or default, data)
    return texts.media_facts(default, None, url[:1000] or None)


def label_path(text: str) -> str | None:
    """The path that an image label names."""
    match = _IMAGE_PATH.search(text[:1200])
    return match[1] if match else None


def joined(blocks: Any, *kinds: str) -> str:
    """The text blocks of the given types, concatenated as the model reads them."""
    if not isinstance(blocks, list):
        return text_of(blocks)
    return "".join(text_of(b.get("text")) for b in blocks if isinstance(b, dict) and b.get("type") in kinds)
