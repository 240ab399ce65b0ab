"""Where Gemini chats lie, and whose they are."""

from __future__ import annotations

import os
from pathlib import Path

import orjson
import pytest

from kato_tui.core.model.facts import Facts
from kato_tui.core.providers.base import SourceFile
from kato_tui.core.providers.gemini import Gemini
from tests.unit import gemini_log as log

GEMINI = Gemini()
HASH = "ab" * 32


def head(path: Path) -> bytes:
    return path.read_bytes()[: 64 * 1024]


def put(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def identified(path: Path) -> SourceFile:
    found = GEMINI.identify(path, head)
    assert found is not None
    return found


def test_the_home_of_the_cli_can_be_moved() -> None:
    assert GEMINI.roots({}, Path("/home/me")) == [Path("/home/me/.gemini/tmp")]
    assert GEMINI.roots({"GEMINI_CLI_HOME": "/x"}, Path("/home/me")) == [Path("/x/.gemini/tmp")]


def test_only_chats_are_found(tmp_path: Path) -> None:
    chats = tmp_path / "app" / "chats"
    main = [put(chats / name, b"{}") for name in ("session-a.json", "session-a.jsonl")]
    agent = put(chats / log.SESSION / "agent-1.jsonl", b"{}")
    for name in ("chats/session-a.jsonl.unreadable-1", "chats/session-a.tmp-1", "logs.json", "checkpoint-x.json"):
        put(tmp_path / "app" / name, b"{}")
    put(tmp_path / "app" / "checkpoints" / "session-a.json", b"{}")
    assert sorted(GEMINI.walk(tmp_path)) == sorted([*main, agent])
    assert list(GEMINI.walk(tmp_path / "missing")) == []


def test_a_document_and_a_jsonl_are_two_generations_of_one_session(tmp_path: Path) -> None:
    document = identified(put(tmp_path / "app/chats/session-a.json", orjson.dumps(log.document())))
    lines = identified(put(tmp_path / "app/chats/session-a.jsonl", log.lines(log.header(), log.user("hi"))))
    assert (document.provider_session_id, document.layout, document.generation) == (log.SESSION, "document", "")
    assert (lines.provider_session_id, lines.layout, lines.generation) == (log.SESSION, "lines", "jsonl")
    assert GEMINI.order([lines, document]) == [document, lines]


def test_legacy_json_in_a_jsonl_is_a_document(tmp_path: Path) -> None:
    pretty = orjson.dumps(log.document(log.user("hi")), option=orjson.OPT_INDENT_2)
    assert identified(put(tmp_path / "session-a.jsonl", pretty)).layout == "document"
    one_line = orjson.dumps(log.document(log.user("hi")))
    assert identified(put(tmp_path / "session-b.jsonl", one_line)).layout == "document"
    assert identified(put(tmp_path / "session-c.jsonl", one_line + b"\n")).layout == "lines"


def test_a_first_line_torn_by_a_crash_makes_no_document_of_a_jsonl(tmp_path: Path) -> None:
    torn = b'{"id": "half' + b"\n" + log.lines(log.header(), log.user("hi"))
    assert identified(put(tmp_path / "session-a.jsonl", torn)).layout == "lines"


def test_a_document_is_known_by_its_head_while_it_is_half_written(tmp_path: Path) -> None:
    pretty = orjson.dumps(log.document(log.user("x" * 100_000)), option=orjson.OPT_INDENT_2)
    assert identified(put(tmp_path / "session-a.json", pretty)).provider_session_id == log.SESSION
    assert identified(put(tmp_path / "session-b.json", pretty[:400])).provider_session_id == log.SESSION


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'[{"sessionId":"x"}]', b'{"a":1}\n', b'{"sessionId":5}', b"\xff"])
def test_a_file_without_a_session_id_is_no_chat_yet(tmp_path: Path, data: bytes) -> None:
    assert GEMINI.identify(put(tmp_path / "session-a.jsonl", data), head) is None


def test_a_session_id_in_a_message_is_not_the_files(tmp_path: Path) -> None:
    data = b'{\n "messages": [{"content": "x", "sessionId": "other"}, '
    assert GEMINI.identify(put(tmp_path / "session-a.json", data), head) is None


def test_a_header_may_come_after_other_records(tmp_path: Path) -> None:
    path = put(tmp_path / "session-a.jsonl", log.lines(log.replaced(), log.header()))
    assert identified(path).provider_session_id == log.SESSION


def test_a_sub_agent_belongs_to_the_session_whose_folder_it_lies_in(tmp_path: Path) -> None:
    path = put(tmp_path / "app/chats" / log.SESSION / "agent-1.jsonl", log.lines(log.header("agent-1")))
    found = identified(path)
    assert (found.kind, found.parent) == ("subagent", log.SESSION)
    assert found.provider_session_id == f"{log.SESSION}.agent-1"
    made = GEMINI.translator(found)
    made.feed(orjson.dumps(log.header("agent-1")), 0)
    assert made.facts.parent == log.SESSION
    beside = put(tmp_path / "app/chats/session-b.jsonl", log.lines(log.header("agent-2", kind="subagent")))
    assert (identified(beside).kind, identified(beside).provider_session_id) == ("subagent", "agent-2")


def test_a_project_may_be_called_chats(tmp_path: Path) -> None:
    found = identified(put(tmp_path / "tmp" / "chats" / "chats" / "session-a.jsonl", log.lines(log.header())))
    assert (found.kind, found.parent, found.provider_session_id) == ("main", None, log.SESSION)


def test_of_a_hash_folder_and_its_slug_copy_the_one_still_written_to_is_read(tmp_path: Path) -> None:
    paths = [put(tmp_path / name / "chats/session-a.json", orjson.dumps(log.document())) for name in (HASH, "app")]
    sources = [identified(path) for path in paths]
    for path in paths:
        os.utime(path, (1, 1))
    assert GEMINI.order(sources) == [sources[1]]
    os.utime(paths[0], (2, 2))
    assert GEMINI.order(sources) == [sources[0]]


def test_a_chat_is_told_from_other_logs_by_its_first_bytes() -> None:
    assert GEMINI.sniff(log.lines(log.header()))
    assert GEMINI.sniff(log.lines(log.user("hi"), log.gemini("hello")))
    assert GEMINI.sniff(orjson.dumps(log.document(), option=orjson.OPT_INDENT_2))
    assert not GEMINI.sniff(b'{"type":"user","sessionId":"x","message":{"content":"\\"projectHash\\""}}\n')
    assert not GEMINI.sniff(b"not json")


def _project_root(path: Path) -> str | None:
    facts = Facts()
    GEMINI.facts_beside(SourceFile("gemini", "x", path), facts)
    return facts.cwd


def test_the_project_root_is_read_from_beside_the_chats(tmp_path: Path) -> None:
    path = put(tmp_path / "app/chats/session-a.jsonl", b"")
    assert _project_root(path) is None
    put(tmp_path / "app/.project_root", b"/home/me/app\n")
    assert _project_root(path) == "/home/me/app"
    assert _project_root(tmp_path / "app/chats/parent/agent.jsonl") == "/home/me/app"
    put(tmp_path / "app/.project_root", b"../elsewhere")
    assert _project_root(path) is None


def test_a_session_is_resumed_in_its_own_directory() -> None:
    assert GEMINI.resume_command(Facts()) is None
    assert GEMINI.resume_command(Facts(resume_ids=["a", "b"])) == "gemini --resume b"
    assert GEMINI.resume_command(Facts(resume_ids=["b"], cwd="/my app")) == "cd '/my app' && gemini --resume b"
