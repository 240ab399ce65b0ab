"""Codex files: where they are, whose they are, and in which order they are read."""

from __future__ import annotations

import os
from pathlib import Path

import orjson

from kato_tui.core.model.events import USER_MESSAGE
from kato_tui.core.model.facts import Facts
from kato_tui.core.providers.codex import Codex
from tests.unit import codex_log as log

ROLLOUT_ID = "019b0000-0000-7000-8000-000000000005"
STEM = f"rollout-2026-05-01T12-00-00-{log.THREAD}"


def head(path: Path) -> bytes:
    return path.read_bytes()[: 64 * 1024]


def write(path: Path, *records: log.Record) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(log.lines(*records))
    return path


def test_the_roots_follow_codex_home() -> None:
    assert Codex().roots({}, Path("/h")) == [Path("/h/.codex/sessions"), Path("/h/.codex/archived_sessions")]
    assert Codex().roots({"CODEX_HOME": "/c"}, Path("/h"))[0] == Path("/c/sessions")


def test_walk_finds_dated_flat_compressed_and_document_rollouts(tmp_path: Path) -> None:
    names = {f"{STEM}.jsonl.zst", f"{STEM}_{ROLLOUT_ID}.jsonl", f"rollout-2025-05-01-{log.THREAD}.json"}
    write(tmp_path / "2026/05/01" / f"{STEM}.jsonl")
    for name in names | {"notes.jsonl", f"{STEM}.jsonl.decompress.1.2.tmp"}:
        write(tmp_path / name)
    assert {path.name for path in Codex().walk(tmp_path)} == names | {f"{STEM}.jsonl"}
    assert list(Codex().walk(tmp_path / "missing")) == []


def test_the_name_gives_thread_generation_and_compression(tmp_path: Path) -> None:
    path = write(tmp_path / f"{STEM}_{ROLLOUT_ID}.jsonl", log.meta())
    source = Codex().identify(path, head)
    assert source is not None
    assert (source.provider_session_id, source.generation, source.kind) == (log.THREAD, ROLLOUT_ID, "main")
    compressed = Codex().identify(tmp_path / f"{STEM}.jsonl.zst", lambda _: log.lines(log.meta()))
    assert compressed is not None
    assert compressed.compressed
    document = Codex().identify(tmp_path / f"rollout-2025-05-01-{log.THREAD}.json", head)
    assert document is not None
    assert document.layout == "document"


def test_a_sub_agent_is_known_even_when_its_first_line_is_longer_than_the_head(tmp_path: Path) -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": log.PARENT}}}
    meta = log.meta(source=source, base_instructions={"text": "x" * 100_000 + '"forked_from_id":"no"'})
    found = Codex().identify(write(tmp_path / f"{STEM}.jsonl", meta), head)
    assert found is not None
    assert (found.kind, found.parent) == ("subagent", log.PARENT)


def test_a_fork_is_a_main_session_with_a_parent(tmp_path: Path) -> None:
    found = Codex().identify(write(tmp_path / f"{STEM}.jsonl", log.meta(forked_from_id=log.PARENT)), head)
    assert found is not None
    assert (found.kind, found.parent) == ("main", log.PARENT)


def test_a_renamed_rollout_is_known_by_its_content(tmp_path: Path) -> None:
    found = Codex().identify(write(tmp_path / "copy.jsonl", log.meta()), head)
    assert found is not None
    assert found.provider_session_id == log.THREAD
    assert Codex().identify(write(tmp_path / "other.jsonl", {"type": "user", "uuid": "1"}), head) is None
    assert Codex().identify(write(tmp_path / "x.tmp", log.meta()), head) is None


def test_sniff_knows_every_generation() -> None:
    codex = Codex()
    for record in (log.meta(), log.user_event("x"), log.bare_meta(), {"session": {"id": "x"}, "items": []}):
        assert codex.sniff(orjson.dumps(record))
    assert codex.sniff(orjson.dumps({"session": {"id": "x"}}, option=orjson.OPT_INDENT_2))
    assert not codex.sniff(b'{"type":"user","message":{}}\n')


def test_generations_are_read_in_turn_and_the_plain_file_wins(tmp_path: Path) -> None:
    plain = write(tmp_path / "sessions" / f"{STEM}.jsonl", log.meta())
    packed = write(tmp_path / "archived" / f"{STEM}.jsonl.zst", log.meta())
    revert = write(tmp_path / "sessions" / f"{STEM}_{ROLLOUT_ID}.jsonl", log.meta())
    os.utime(plain, (1, 1))
    sources = [Codex().identify(path, head) for path in (revert, packed, plain)]
    assert [source.path for source in Codex().order([s for s in sources if s])] == [plain, revert]


def test_the_resume_command_goes_to_the_folder_first() -> None:
    facts = Facts(cwd="/a b", resume_ids=["t1"])
    assert Codex().resume_command(facts) == "cd '/a b' && codex resume t1"
    assert Codex().resume_command(Facts()) is None


def test_identity_is_what_a_migration_keeps() -> None:
    payload = {"toolCallId": "c", "text": "x"}
    assert Codex().identity_payload("assistant.tool.result", payload) == "c"
    assert Codex().identity_payload(USER_MESSAGE, {"text": "hi", "attachments": []}) == "hi"
    assert Codex().identity_payload("system.message", payload) == payload
