"""What a recording's file looks like is decided by kato-tui: no text of a log adds a key, a tag or a section to it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from kato_tui.core.model.intents import Intent
from tests.machine import CLAUDE, Machine
from tests.unit import claude_log

INJECTIONS = {
    "a document's end": "x\n---\nevil: true\n---\n",
    "a key": 'x"\nevil: true\n"',
    "a flow": "x, evil: true}, [",
    "an anchor": "&a *a !!python/object/apply:os.system ['id']",
    "a block": "|\n  x\nevil: true",
    "a comment": "x # evil: true",
    "line ends of YAML": "x\u2028evil: true\u0085evil: true\rtrue",
    "a script": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "the end of a fold": "</details></summary><h1>evil</h1>",
    "a remote picture": "![x](http://evil.example/p.png)",
    "a fence": "````\n<h1>evil</h1>\n````",
    "a heading of ours": "# User_2026-02-25_1115_49\n\nevil",
}


@pytest.mark.parametrize("kind", sorted(INJECTIONS))
def test_no_text_of_a_log_changes_the_frame_of_its_recording(tmp_path: Path, kind: str) -> None:
    text = INJECTIONS[kind]
    machine = Machine(tmp_path)
    answer = claude_log.assistant(
        claude_log.thinking(text), claude_log.text(text), claude_log.call("t", text, command=text, file_path=text)
    )
    answer["message"]["model"] = text
    records = [
        claude_log.typed(text, "u0"),
        answer,
        claude_log.result(text, "t"),
        claude_log.title("custom-title", text),
    ]
    machine.write(claude_log.lines(*records))
    engine = machine.engine()
    engine.bring_up_to_date()
    assert engine.submit(Intent(action="export", argument="~/a.md", session=CLAUDE.session)).succeeded
    engine.close()
    written = (tmp_path / "a.md").read_text()
    head, body = re.fullmatch(r"---\n(.*?)\n---\n(.*)", written, re.DOTALL).groups()  # type: ignore[union-attr]
    card = yaml.safe_load(head)
    assert set(card) == {"id", "title", "created", "sessionId", "recordingIds", "participants", "tags"} - (
        set() if "created" in card else {"created"}
    )
    assert all(isinstance(value, str | list) for value in card.values())
    tokens = MarkdownIt("commonmark").parse(body)
    html = [token.content.strip() for token in tokens if token.type == "html_block"]
    html += [child.content for token in tokens for child in token.children or () if child.type == "html_inline"]
    assert not [one for one in html if not re.match(r"</?details|<summary>|</summary>|<!-- -->", one)], html
    tops = [
        text.content
        for opening, text in itertools.pairwise(tokens)
        if opening.type == "heading_open" and opening.tag == "h1"
    ]
    assert len(tops) == 2 and tops[0].startswith("User")
