"""Text that means no good, in every field that a log can fill, and what of it may never reach a terminal."""

from __future__ import annotations

import re
import uuid
from pathlib import Path
from typing import Any, Final

from tests.unit import claude_log, codex_log, gemini_log

#: What terminals act on: C0 but the newline, DEL, C1, directions, separators, tags.
ACTIVE: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
#: In text that is written into files for people to read, tabs and directions of their scripts may stand.
CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
ESCAPES: Final = {
    "colours": "\x1b[31mred\x1b[0m",
    "a title": "\x1b]0;owned\x07",
    "a link": "\x1b]8;;http://evil.example/\x1b\\click\x1b]8;;\x1b\\",
    "the clipboard": "\x1b]52;c;b3duZWQ=\x07",
    "a program of the terminal": "\x1b]9;7;calc\x07",
    "a device string": "\x1bP$q q\x1b\\",
    "single bytes": "\x9b2J\x9d0;x\x9c\x90q\x9c",
    "cursor and screen": "\x1b[2J\x1b[H\x1b[?1049l\r\b\b",
    "directions": "\u202egpj.exe\u202c\u2066a\u2069\u200f\u061c",
    "tags": "x\U000e0001\U000e0041\U000e007f",
    "separators": "a\u2028b\u2029c\x85d\x0be\x0cf",
    "a bell and a zero": "\x07\x00\x7f",
}
MARKUP: Final = {
    "an action": "[@click=app.quit]press[/]",
    "a closing tag": "[/foo]",
    "an odd tag": "[stage=1:]",
    "a link to a file": "[link=file:///etc/passwd]x[/link]",
    "half a tag": "[/",
    "a colour": "[bold red on white]x[/]",
    "a variable": "[$error]$text",
    "brackets": "[[]][]",
}
ALL: Final = {**ESCAPES, **MARKUP}
#: Several in one text, for tests that take long for each.
TOGETHER: Final = {
    "escapes": "".join(list(ESCAPES.values())[:7]),
    "characters": "".join(list(ESCAPES.values())[7:]),
    "markup": "".join(MARKUP.values()),
}


def claude(text: str, session: str) -> bytes:
    """A Claude session with the text in every field."""
    # Of the day on which the dashboard's tests play: sessions of long ago are not shown.
    when = {"timestamp": "2026-11-18T09:29:00.000Z"}
    fields: dict[str, Any] = {**when, "cwd": f"/w/{text}", "gitBranch": text, "version": text, "slug": text}
    question = claude_log.question(f"Which {text}?", text, f"B {text}")
    answer = claude_log.assistant(
        claude_log.thinking(f"hm {text}"),
        claude_log.text(f"answer {text}"),
        claude_log.call("t1", f"Tool{text}", command=text, file_path=text, description=text),
        claude_log.call("t2", "AskUserQuestion", questions=[question]),
        claude_log.call("t3", "TodoWrite", todos=[{"content": text, "status": text}]),
        **fields,
    )
    answer["message"]["model"] = text
    return claude_log.lines(
        claude_log.typed(f"hello {text}", "u0", 1, sessionId=session, **fields),
        answer,
        claude_log.result(f"out {text}", "t1", error=True, **fields),
        claude_log.system("informational", content=text),
        claude_log.title("custom-title", f"title {text}"),
        {"type": text, "uuid": str(uuid.UUID(int=7)), "sessionId": session, text or "x": text},
    )


def codex(text: str) -> bytes:
    """A Codex session with the text in every field."""
    return codex_log.lines(
        codex_log.meta(cwd=f"/w/{text}", cli_version=text, git={"branch": text}),
        codex_log.context(text),
        codex_log.started(),
        *codex_log.prompt(f"hello {text}"),
        codex_log.assistant_item(f"answer {text}", "final_answer"),
        codex_log.call("c1", f"tool{text}", {"cmd": text}),
        codex_log.output("c1", f"out {text}"),
        codex_log.event(text, message=text),
        codex_log.line(text, {"type": text, "text": text}),
    )


def gemini(text: str, session: str) -> bytes:
    """A Gemini session with the text in every field, its id included."""
    return gemini_log.lines(
        gemini_log.header(session),
        gemini_log.user(f"hello {text}", f"u{text}"),
        gemini_log.gemini(
            f"answer {text}",
            thoughts=[gemini_log.thought(text, text)],
            toolCalls=[gemini_log.call(f"c{text}", f"tool{text}", f"out {text}")],
            model=text,
        ),
        gemini_log.notice("error", text),
        {"id": "z", "type": text, "content": text},
    )


def write(base: Path, text: str) -> None:
    """Sessions of all three assistants on the machine at `base`, in files whose names are hostile too."""
    name = "".join(char for char in text if char not in "/\x00").encode("utf-8", "replace").decode()[:40]
    logs = {
        f".claude/projects/-w{name}/{claude_log.SESSION}.jsonl": claude(text, claude_log.SESSION),
        f".codex/sessions/2026/05/01/rollout-2026-05-01T10-00-00-{codex_log.THREAD}.jsonl": codex(text),
        f".gemini/tmp/app{name}/chats/session-{name}.jsonl": gemini(text, f"id{text}"),
    }
    for path, data in logs.items():
        (base / path).parent.mkdir(parents=True, exist_ok=True)
        (base / path).write_bytes(data)
