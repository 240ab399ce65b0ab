"""Traps of Claude Code logs that a plausible translator falls into, each with the smallest log that shows it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kato_tui.core.providers.claude import Claude
from tests.unit import claude_log as claude
from tests.unit.claude_run import run, source, state, told

#: Longer than any word, and what every image looks like in a log.
BLOB = "iVBORw0KGgo" + "A" * 4000
LEAF = "5f0c0000-0000-4000-8000-0000000000aa"


def summary(words: str, leaf: str) -> dict[str, Any]:
    return {"type": "summary", "summary": words, "leafUuid": leaf}


# Titles.


def test_a_summary_of_another_conversation_gives_no_title() -> None:
    """Old versions head a new file with the summaries of earlier sessions."""
    translator, _ = run(summary("Another talk", LEAF), claude.typed("fix the login"))
    assert translator.facts.title == "fix the login"


@pytest.mark.parametrize("first", [True, False])
def test_a_summary_whose_leaf_is_in_the_file_gives_the_title(first: bool) -> None:
    records = [summary("Fix login", LEAF), claude.typed("fix the login", LEAF)]
    translator, _ = run(*(records if first else reversed(records)))
    assert translator.facts.title == "Fix login"


# Records that come again.


def test_a_record_appended_again_with_a_new_time_is_marked_and_counts_nothing() -> None:
    """Resuming in 1.0.x wrote the last record again: same uuid, later timestamp, other session id."""
    once = claude.typed("go", "u1", 1)
    again = {**claude.typed("go", "u1", 400), "sessionId": "other"}
    translator, drafts = run(once, again)
    assert [draft.check for draft in drafts] == [False, True]
    assert translator.facts.user_messages == 1


def test_copied_records_of_a_fork_have_no_time() -> None:
    """The SDK's fork keeps all timestamps but the last: none of them can be trusted."""
    origin = {"sessionId": "parent", "messageUuid": "m"}
    _, drafts = run(claude.typed("::start old", forkedFrom=origin), claude.typed("new", "u2", 9))
    assert [(draft.copied, draft.timestamp) for draft in drafts] == [(True, None), (False, claude.at(9))]


def test_a_server_tool_in_a_cumulative_snapshot_is_told_once() -> None:
    call = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"title": "X"}]}
    kinds = [
        kind
        for kind, _ in told(
            claude.assistant(call, uuid="a1"),
            claude.assistant(call, found, uuid="a2"),
            claude.assistant(call, found, uuid="a3"),
        )
    ]
    assert kinds == ["assistant.tool.call", "assistant.tool.result"]


# Bytes.


@pytest.mark.parametrize(
    "record",
    [
        {"type": "brand-new", "picture": BLOB},
        {"type": "brand-new", "picture": f"data:image/png;base64,{'A' * 80}"},
        {"type": "brand-new", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}},
        claude.user([{"type": "hologram", "source": {"type": "base64", "data": BLOB}}]),
        claude.result([{"type": "hologram", "data": BLOB}]),
        claude.assistant({"type": "hologram", "data": BLOB}),
        claude.attachment("hologram", content={"file": {"base64": BLOB}}),
    ],
)
def test_what_is_kept_raw_holds_no_bytes(record: dict[str, Any]) -> None:
    _, drafts = run(record)
    raw = next(draft.payload["raw"] for draft in drafts if draft.kind == "provider.raw")
    assert "AAAA" not in json.dumps(raw)
    assert "aGVsbG8=" not in json.dumps(raw)
    assert "sha256" in json.dumps(raw)


def test_an_unreadable_line_with_an_image_holds_no_bytes() -> None:
    drafts = Claude().translator(source()).feed(b'{"type":"user","data":"' + BLOB.encode(), 0)
    assert drafts[0].payload["raw"]["text"].startswith('{"type":"user","data":"[')
    assert "AAAA" not in drafts[0].payload["raw"]["text"]


def test_bytes_under_any_name_in_a_structured_result_are_left_out() -> None:
    extra = {"outputs": [{"image": {"image_data": BLOB, "media_type": "image/png"}}], "count": 1}
    _, drafts = run(claude.result("done", toolUseResult=extra))
    assert drafts[0].payload["json"]["count"] == 1
    assert "AAAA" not in json.dumps(drafts[0].payload)


# Tool results.


@pytest.mark.parametrize(
    ("content", "extra", "payload"),
    [
        ("out", None, {"text": "out"}),
        ([claude.text("a"), claude.text("b")], None, {"text": "a\nb"}),
        (["a", "b"], None, {"text": "a\nb"}),
        ([{"type": "tool_reference", "tool_name": "WebFetch"}], None, {"text": "WebFetch"}),
        (None, None, {}),
        (None, "Error: no such tool", {"text": "Error: no such tool"}),
        (None, [claude.text("from the server")], {"text": "from the server"}),
        ("", {"stdout": "printed", "stderr": ""}, {"json": {"stdout": "printed"}}),
    ],
)
def test_every_form_of_a_tool_result_is_read(content: Any, extra: Any, payload: dict[str, Any]) -> None:
    _, drafts = run(claude.result(content, toolUseResult=extra))
    assert [draft.payload for draft in drafts] == [{"toolCallId": "toolu_1", **payload}]


# State.


def test_a_result_record_ends_the_turn() -> None:
    log = [claude.typed("go"), claude.assistant(claude.call(), stop="tool_use")]
    assert state(*log) == ("working", "acting", "Bash")
    assert state(*log, {"type": "result", "subtype": "success", "result": "done"}) == ("needs-you", "idle", None)


# Terminal sequences.


def test_names_and_notices_carry_no_terminal_sequences() -> None:
    _, drafts = run(claude.assistant(claude.call(name="Ba\x1b[31msh")), claude.result("\x1b[1mbold\x1b[0m"))
    assert [draft.payload.get("name", draft.payload.get("text")) for draft in drafts] == ["Bash", "bold"]


# Questions.


def test_an_answer_missing_from_the_structured_ones_is_read_from_the_text() -> None:
    questions = [claude.question("Which?", "A", "B"), claude.question("When?", "now", "later")]
    _, drafts = run(
        claude.assistant(claude.call(name="AskUserQuestion", questions=questions)),
        claude.result(
            'User has answered your questions: "Which?"="A", "When?"="later". You can now continue.',
            toolUseResult={"questions": questions, "answers": {"Which?": "A"}},
        ),
    )
    assert [draft.payload["selections"] for draft in drafts[2:]] == [["A"], ["later"]]


def test_a_command_in_a_record_appended_again_is_a_copy() -> None:
    once = claude.typed("::start", "u1", 1)
    _, drafts = run(once, {**once, "timestamp": claude.at(400)})
    assert [(draft.kind, draft.copied) for draft in drafts] == [
        ("user.kato-command", False),
        ("user.kato-command", True),
    ]


@pytest.mark.parametrize(
    "record",
    [
        claude.result({"odd": "WORDS"}),
        claude.attachment("queued_command", prompt={"odd": "WORDS"}),
        claude.attachment("edited_text_file", filename="a.py", snippet=["WORDS"]),
        claude.queue("remove", {"odd": "WORDS"}),
        claude.system("api_error", error=["WORDS"]),
    ],
)
def test_nothing_of_an_odd_record_is_lost(record: dict[str, Any]) -> None:
    _, drafts = run(record)
    assert "WORDS" in json.dumps([draft.payload for draft in drafts])


def test_reminders_under_what_a_tool_printed_are_not_its_output() -> None:
    def reminder(words: str) -> str:
        return f"\n\n<system-reminder>\n{words}\n</system-reminder>\n"

    boilerplate = reminder("Whenever you read a file, you should consider whether it looks malicious.")
    printed = "1→a <system-reminder> in the file"
    events = told(claude.result(printed + reminder("The todo list is empty.") + boilerplate))
    assert events == [
        ("assistant.tool.result", printed),
        ("provider.info", "The todo list is empty."),
    ]
    alone = "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>"
    assert told(claude.result(alone)) == [("assistant.tool.result", alone)]
