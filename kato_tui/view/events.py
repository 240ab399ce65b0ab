"""Events as rows: time, who, what. Pure; takes the short form that the engine's feed has (`core/glance.py`)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from kato_tui.view.blocks import Item
from kato_tui.view.cells import Line, Piece, Tone, crop, pad, piece
from kato_tui.view.safe import safe
from kato_tui.view.words import Json, clock, local, with_home

PROMPTS: Final = frozenset({"user.message", "user.kato-command", "user.decision.response"})
_SPEAKER: Final = 10
_SHOWN: Final = 20_000
_SPACES: Final = re.compile(r"\s+")


class Look(NamedTuple):
    """How a kind of event is told from the others: a glyph, a word, and the tones of speaker and text."""

    glyph: str
    word: str
    tone: Tone
    text: Tone


KINDS: Final[dict[str, Look]] = {
    "user.message": Look("❯", "you", "user", "strong"),
    "user.kato-command": Look("»", "command", "accent", "accent"),
    "user.decision.response": Look("✓", "answer", "user", "strong"),
    "assistant.message": Look("●", "assistant", "assistant", "text"),
    "assistant.thinking": Look("∴", "thinking", "thinking", "thinking"),
    "assistant.decision.prompt": Look("◆", "asks", "warn", "warn"),
    "assistant.tool.call": Look("▸", "tool", "tool", "text"),
    "assistant.tool.result": Look("◂", "result", "tool", "muted"),
    "system.message": Look("·", "system", "muted", "muted"),
    "provider.info": Look("·", "info", "muted", "muted"),
    "provider.raw": Look("?", "unknown", "muted", "muted"),
}
_OTHER: Final = Look("?", "unknown", "muted", "muted")


def row(event: Json, size: int, user_home: str = "", *, with_session: bool = False) -> Line:
    look = KINDS.get(str(event["kind"]), _OTHER)
    failed = bool(event.get("failed"))
    tone: Tone = "bad" if failed else look.tone
    glyph = "✗" if failed else look.glyph
    time = clock(event.get("time")) if size >= 44 else clock(event.get("time"), seconds=False)
    line = [Piece(f"{time} ", "muted")]
    if with_session:
        line.append(piece(f"{event['sessionShortId']} ", "muted", 12))
    line += [Piece(f"{glyph} ", tone), Piece(pad(speaker(event), _SPEAKER) + " ", tone)]
    text = with_home(str(event.get("text") or "")[: size * 4], user_home)
    line.append(piece(_SPACES.sub(" ", text).strip(), look.text))
    return crop(line, size)


def speaker(event: Json) -> str:
    """Who or what speaks: the tool by its name, the assistant by the short name of its model."""
    look = KINDS.get(str(event["kind"]), _OTHER)
    if event.get("tool"):
        return safe(str(event["tool"]), 40)
    if event["kind"] == "assistant.message" and event.get("model"):
        return safe(_model(str(event["model"])), 40)
    return look.word


def _model(name: str) -> str:
    """`claude-opus-4-8` is `opus-4-8` to those who use it."""
    return name.removeprefix("claude-").removeprefix("gemini-")


@dataclass(frozen=True, slots=True)
class Document:
    """One event in full, made ready to be shown and copied."""

    title: str
    #: What is shown: rendered, and as JSON.
    rendered: tuple[Item, ...]
    listed: tuple[Item, ...]
    #: As the twin has it, and the words alone: exactly what was said, so not for a screen as they are.
    raw: str
    text: str


def key_of(glanced: Json) -> str:
    """What tells an event from those of all sessions."""
    return f"{glanced['sessionShortId']}/{glanced['seq']}"


def document(event: Json, glanced: Json) -> Document:
    # What reads Markdown takes long to load: not before it is asked for.
    from kato_tui.view import prose

    raw = pretty(event)
    rendered, listed = prose.prose(detail_markdown(event)), prose.listing(clean_block(raw), "json")
    return Document(_title(glanced), rendered, listed, raw, text_of(event))


def _title(glanced: Json) -> str:
    look = KINDS.get(str(glanced["kind"]), _OTHER)
    glyph = "✗" if glanced.get("failed") else look.glyph
    when = f"{local(glanced['time'])} " if glanced.get("time") else ""
    return safe(f"{when}{glyph} {speaker(glanced)} · seq {glanced['seq']}", 120)


def clean_block(text: str, limit: int = _SHOWN) -> str:
    """Text of several lines made harmless: line ends stay, tabs become blanks."""
    kept = text[:limit]
    cleaned = "\n".join(safe(line.replace("\t", "    "), limit) for line in kept.split("\n"))
    return cleaned if len(text) <= limit else f"{cleaned}\n\n… {len(text) - limit} more characters"


def detail_markdown(event: Json) -> str:
    """One event as a document: what people wrote as Markdown, what machines wrote in fences."""
    payload = event["payload"]
    kind = str(event["kind"])
    if kind in ("user.message", "assistant.message", "assistant.thinking"):
        return clean_block(str(payload.get("text") or ""))
    if kind == "assistant.decision.prompt":
        options = [
            f"- **{clean_block(str(one['label']))}** {clean_block(str(one.get('description') or ''))}"
            for one in payload["options"]
        ]
        return "\n".join([clean_block(str(payload["prompt"])), "", *options])
    if kind == "user.decision.response":
        chosen = [f"- {clean_block(str(one))}" for one in payload["selections"]]
        return "\n".join([*chosen, "", clean_block(str(payload.get("freeText") or ""))])
    if kind == "assistant.tool.call":
        return _call_markdown(payload)
    text = payload.get("text") or payload.get("line")
    return fenced(str(text)) if text else fenced(pretty(payload), "json")


def _call_markdown(payload: Json) -> str:
    parts = [f"### {safe(str(payload['name']), 80)}"]
    if payload.get("description"):
        parts.append(clean_block(str(payload["description"])))
    given = payload.get("input")
    if isinstance(given, dict):
        for name, value in given.items():
            text = value if isinstance(value, str) else pretty(value)
            parts.append(f"**{safe(str(name), 80)}**\n\n{fenced(text)}")
    elif given is not None:
        parts.append(fenced(given if isinstance(given, str) else pretty(given)))
    return "\n\n".join(parts)


def fenced(text: str, language: str = "") -> str:
    """A code block that nothing in `text` can end."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text[:_SHOWN])), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{clean_block(text)}\n{fence}"


def pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def text_of(event: Json) -> str:
    """The words of an event, to be copied: exactly what it says."""
    payload = event["payload"]
    for name in ("text", "line", "prompt"):
        if payload.get(name):
            return str(payload[name])
    if "selections" in payload:
        return "\n".join(map(str, payload["selections"]))
    return pretty(payload)
