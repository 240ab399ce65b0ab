"""Codex translation as a fold: cuts change nothing, no shape breaks it, and real logs go through whole."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from kato_tui.core.model.events import PAYLOADS
from kato_tui.core.model.facts import AgentState, Facts, Usage
from kato_tui.core.providers.base import Draft, SourceFile
from kato_tui.core.providers.codex import Codex
from kato_tui.core.providers.codex.translator import HANDLERS
from tests.unit import codex_log as log
from tests.unit.test_codex_forks import fork
from tests.unit.test_codex_tools import QUESTION

SAMPLES = Path(__file__).parents[2].parent / "shared" / "samples"
SOURCE = SourceFile("codex", log.THREAD, Path("r.jsonl"))
ABORTED = "<turn_aborted>x</turn_aborted>"

RECORDS: list[log.Record] = [
    log.meta(),
    log.meta(log.PARENT),
    log.context(),
    log.started(),
    log.done(),
    log.user_item("hi"),
    log.user_event("hi"),
    log.user_item("<skill>x</skill>"),
    log.user_item(ABORTED),
    log.user_event("two"),
    log.agent_event("yes"),
    log.assistant_item("yes", "final_answer"),
    log.assistant_item("no <oai-mem-citation>x</oai-mem-citation>", "final_answer", id="msg"),
    log.user_item("stated", kinds=["user.text"]),
    log.completed("AgentMessage", id="msg", content=[{"type": "Text", "text": "yes"}]),
    log.completed("UserMessage", id="u", content=[{"type": "text", "text": "hi"}]),
    log.completed("CommandExecution", id="c", aggregated_output="x", exit_code=0),
    log.event("agent_reasoning", text="t"),
    log.item("reasoning", summary=[{"type": "summary_text", "text": "t"}]),
    log.call("c"),
    log.output("c", "Process running with session 1"),
    log.event("exec_command_end", call_id="c", aggregated_output="x", exit_code=0),
    log.call("q", "request_user_input", {"questions": [QUESTION]}),
    log.output("q", '{"answers":{"db":{"answers":["SQLite"]}}}'),
    log.event("web_search_end", call_id="w", action={"type": "search"}),
    log.item("web_search_call", action={"type": "search"}),
    log.item("image_generation_call", id="i", result="AA"),
    log.event("turn_aborted", reason="interrupted"),
    log.event("entered_review_mode", target={"type": "x"}),
    log.event("exited_review_mode"),
    log.event(
        "mcp_tool_call_end", call_id="m", invocation={"server": "s", "tool": "t"}, result={"Ok": {"content": []}}
    ),
    log.event("patch_apply_end", call_id="p", changes={}, success=True),
    log.line("compacted", {"message": "s"}),
    log.tokens(10),
    log.tokens(30),
    log.line("novelty", {"x": 1}),
    log.completed("HookPrompt", fragments=[{"text": "x"}]),
    log.completed("Plan", text="p"),
]


def run(data: bytes, cuts: set[int]) -> tuple[list[Draft], Facts]:
    codex = Codex()
    translator = codex.translator(SOURCE)
    drafts: list[Draft] = []
    cursor = 0
    for number, line in enumerate(data.splitlines()):
        if number in cuts:
            state = orjson.loads(orjson.dumps(translator.save()))
            raw = orjson.loads(orjson.dumps(asdict(translator.facts)))
            usage, agent = Usage(**raw.pop("usage")), AgentState(**raw.pop("agent_state"))
            translator = codex.translator(SOURCE, state, Facts(usage=usage, agent_state=agent, **raw))
        drafts += translator.feed(line, cursor)
        cursor += len(line) + 1
    return drafts, translator.facts


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(RECORDS), max_size=25), st.sets(st.integers(0, 25)), st.booleans())
def test_any_cut_gives_what_one_pass_gives(records: list[log.Record], cuts: set[int], forked: bool) -> None:
    data = log.lines(*(fork() if forked else []), *records)
    assert run(data, cuts) == run(data, set())


ODD: list[Any] = [
    None,
    0,
    -1,
    1.5,
    True,
    "",
    "x",
    "\x1b[",
    [],
    {},
    [None],
    [{}],
    {"a": None},
    [[1]],
    10**30,
    ["x"],
    {"type": 5},
]


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(RECORDS), st.data())
def test_odd_values_in_any_field_never_raise(record: log.Record, data: st.DataObject) -> None:
    broken = json.loads(json.dumps(record))
    target = broken
    for _ in range(data.draw(st.integers(0, 3))):
        inner = [value for value in target.values() if isinstance(value, dict) and value]
        target = data.draw(st.sampled_from(inner)) if inner else target
    target[data.draw(st.sampled_from(sorted(target)))] = data.draw(st.sampled_from(ODD))
    lines = (json.dumps(broken), *(json.dumps(other) for other in (log.call("c"), log.assistant_item("z"), log.done())))
    drafts, _ = run("\n".join(lines).encode(), {1})
    for draft in drafts:
        PAYLOADS[draft.kind].model_validate(draft.payload)


@pytest.mark.parametrize("kind", sorted(HANDLERS))
def test_a_record_with_nothing_it_should_have_never_raises(kind: str) -> None:
    for odd in ODD:
        check_odd(kind, odd)


def check_odd(kind: str, odd: Any) -> None:
    parts = kind.split(".")
    payload: log.Record = {"type": parts[1]} if len(parts) > 1 else {}
    keys = ("id", "message", "text", "content", "summary", "call_id", "output", "arguments", "action", "info", "git")
    body = dict.fromkeys(keys, odd)
    if len(parts) > 2:
        payload["item"] = {"type": parts[2], **body}
    else:
        payload |= body
    drafts, _ = run(json.dumps(log.line(parts[0], payload)).encode(), set())
    for draft in drafts:
        PAYLOADS[draft.kind].model_validate(draft.payload)


def test_the_state_stays_small_however_long_the_log() -> None:
    translator = Codex().translator(SOURCE)
    for number in range(2000):
        for record in (log.user_item(f"u{number}" * 50), log.call(f"c{number}"), log.agent_event(f"a{number}")):
            translator.feed(orjson.dumps(record), number)
    assert len(orjson.dumps(translator.save())) < 32 * 1024


def test_the_tail_of_a_log_gives_the_same_agent_state() -> None:
    records = [log.meta(), log.started(), *log.prompt("hi"), log.agent_event("a", "commentary"), log.call("c", "ls")]
    for end in range(2, len(records) + 1):
        whole, tail = records[:end], records[max(1, end - 2) : end]
        assert run(log.lines(*tail), set())[1].agent_state == run(log.lines(*whole), set())[1].agent_state


def sample_files() -> list[Path]:
    patterns = ("codex/*.jsonl", "synthetic/codex*", "series/codex*/*.jsonl")
    return [path for pattern in patterns for path in sorted(SAMPLES.glob(pattern))]


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the sample logs are not here")
def test_every_sample_translates_whole() -> None:
    for path in sample_files():
        data = path.read_bytes()
        if path.suffix == ".zst":
            data = zstandard.ZstdDecompressor().stream_reader(data).read()
        source = Codex().identify(path, lambda _, head=data[:65536]: head)  # type: ignore[misc]
        if source is None:
            continue  # a fixture that starts in the middle of a log
        translator = Codex().translator(source)
        translator.tally = {}
        cursor = 0
        for line in data.split(b"\n"):
            for draft in translator.feed(line, cursor):
                PAYLOADS[draft.kind].model_validate(draft.payload)
            cursor += len(line) + 1
        for row in translator.tally.values():
            assert row.read == row.translated + row.dropped + row.repeated + row.raw + row.invalid, path
