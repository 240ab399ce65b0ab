"""What a Claude transcript becomes: events, facts, state. Authorship has a file of its own."""

from __future__ import annotations

import copy
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kato_tui.core.model.events import PAYLOADS
from kato_tui.core.model.facts import Facts
from kato_tui.core.providers.base import SourceFile
from kato_tui.core.providers.claude import Claude
from kato_tui.core.providers.claude.memory import MAX_RECORDS
from tests.unit import claude_log as claude
from tests.unit.claude_run import feed, run, source, state, told

SAMPLES = Path(__file__).parents[2].parent / "shared" / "samples"


def test_the_lines_of_one_message_are_one_event_each() -> None:
    _, drafts = run(
        claude.assistant(claude.thinking("hm"), uuid="a1", stop="tool_use"),
        claude.assistant(claude.text("I look."), uuid="a2", stop="tool_use"),
        claude.assistant(claude.call(command="ls", description="List"), uuid="a3", stop="tool_use"),
        claude.result("a.py", toolUseResult={"stdout": "a.py", "stderr": "", "interrupted": False}),
    )
    assert [(draft.kind, draft.event_id) for draft in drafts] == [
        ("assistant.thinking", "a1"),
        ("assistant.message", "a2"),
        ("assistant.tool.call", "a3"),
        ("assistant.tool.result", "r1"),
    ]
    assert drafts[1].payload == {"text": "I look.", "phase": "commentary"}
    assert drafts[1].model == "claude-opus-4-8"
    assert drafts[2].payload["description"] == "List"
    assert drafts[3].payload == {"toolCallId": "toolu_1", "text": "a.py", "json": {"interrupted": False}}


def test_empty_thinking_is_dropped_with_its_reason() -> None:
    translator, drafts = run(claude.assistant(claude.thinking("")))
    assert drafts == []
    assert translator.tally is not None
    assert translator.tally["assistant"].dropped == 1


def test_cumulative_snapshots_add_only_what_is_new() -> None:
    """A few old versions logged one message again and again, each time with all its blocks so far."""
    first = "This is how the answer begins"
    assert told(
        claude.assistant(claude.text(first), uuid="a1"),
        claude.assistant(claude.text(first + ", and how it ends."), claude.call(), uuid="a2"),
        claude.assistant(claude.text(first + ", and how it ends."), claude.call(), uuid="a3"),
    )[:2] == [("assistant.message", first), ("assistant.message", ", and how it ends.")]


def test_a_text_that_says_what_was_thought_is_no_repetition() -> None:
    words = "All tests pass. Now the linter."
    assert told(
        claude.assistant(claude.thinking(words), uuid="a1"), claude.assistant(claude.text(words), uuid="a2")
    ) == [("assistant.thinking", words), ("assistant.message", words)]


def test_usage_is_counted_once_for_all_lines_of_a_message() -> None:
    early = {"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 100}
    final = {**early, "output_tokens": 50, "cache_creation_input_tokens": 5}
    translator, _ = run(
        claude.assistant(claude.text("a"), uuid="a1", usage=early),
        claude.assistant(claude.text("b"), uuid="a2", message="msg_2", usage=early),
        claude.assistant(claude.text("c"), uuid="a3", usage=final),
        claude.assistant(claude.text("d"), uuid="a4", usage=final),
    )
    usage = translator.facts.usage
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.total) == (20, 51, 200, 5, 276)
    assert translator.facts.context_tokens == 115


def test_an_api_failure_is_a_system_message() -> None:
    record = claude.assistant(claude.text("API Error: 500"), isApiErrorMessage=True)
    record["message"]["model"] = "<synthetic>"
    translator, drafts = run(record)
    assert (drafts[0].kind, drafts[0].payload["level"]) == ("system.message", "error")
    assert translator.facts.models == []


def test_questions_become_prompts_and_answers_responses() -> None:
    asked = [claude.question("Which?", "A", "B"), claude.question("What, then?", "x, y", "z", multi=True)]
    answers = {"Which?": "B", "What, then?": "x, y, z"}
    _, drafts = run(
        claude.assistant(claude.call("q1", "AskUserQuestion", questions=asked)),
        claude.result("…", "q1", toolUseResult={"questions": asked, "answers": answers}),
    )
    assert [draft.kind for draft in drafts] == ["assistant.decision.prompt"] * 2 + ["user.decision.response"] * 2
    assert drafts[0].payload["options"][1] == {"id": "2", "label": "B", "description": "about B"}
    assert drafts[2].payload == {"decisionId": "q1:0", "selections": ["B"]}
    assert drafts[3].payload == {"decisionId": "q1:1", "selections": ["x, y", "z"]}


def test_answers_are_read_from_the_text_when_there_is_nothing_else() -> None:
    asked = [claude.question("One?", "A"), claude.question("Two?", "B"), claude.question("Three?", "C")]
    said = 'User has answered your questions: "One?"="A", "Three?"="my "own" words". You can now continue.'
    _, drafts = run(claude.assistant(claude.call("q1", "AskUserQuestion", questions=asked)), claude.result(said, "q1"))
    assert [draft.payload for draft in drafts[3:]] == [
        {"decisionId": "q1:0", "selections": ["A"]},
        {"decisionId": "q1:2", "selections": [], "freeText": 'my "own" words'},
    ]


def test_questions_that_cannot_be_read_stay_a_plain_call() -> None:
    log = (claude.assistant(claude.call("q1", "AskUserQuestion", questions="?")), claude.result("x", "q1"))
    assert [kind for kind, _ in told(*log)] == ["assistant.tool.call", "assistant.tool.result"]


@pytest.mark.parametrize(
    ("answer", "response"),
    [
        (claude.result("User has approved your plan.", "p1"), {"selections": ["approve"]}),
        (claude.result(claude.refusal(), "p1", error=True), {"selections": ["reject"]}),
        (claude.result(claude.refusal("no"), "p1", error=True), {"selections": ["reject"], "freeText": "no"}),
    ],
)
def test_a_plan_approval_is_a_decision(answer: dict[str, Any], response: dict[str, Any]) -> None:
    _, drafts = run(claude.assistant(claude.call("p1", "ExitPlanMode", plan="# Plan")), answer)
    assert drafts[0].payload["prompt"] == "# Plan"
    assert [draft.payload for draft in drafts[1:]] == [{"decisionId": "p1:0", **response}]


CALL = claude.assistant(claude.call(), stop="tool_use", second=7)
ASK = claude.assistant(claude.call("q", "AskUserQuestion", questions=[claude.question("?", "A")]), stop="tool_use")


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ([], ("needs-you", "idle", None)),
        ([claude.typed("go")], ("working", "thinking", None)),
        ([CALL], ("working", "acting", "Bash")),
        ([CALL, claude.result("ok")], ("working", "thinking", None)),
        ([CALL, claude.queued("also")], ("working", "acting", "Bash")),
        ([CALL, claude.typed("new turn")], ("working", "thinking", None)),
        ([ASK], ("needs-you", "decision", "AskUserQuestion")),
        ([claude.assistant(claude.text("done"), stop="end_turn")], ("needs-you", "idle", None)),
        ([claude.assistant(claude.text("so far"))], ("working", "thinking", None)),
        ([claude.assistant(claude.text("done"), version=claude.OLD)], ("needs-you", "idle", None)),
        ([claude.assistant(claude.text("\n\n"), version=claude.OLD)], ("working", "thinking", None)),
        ([claude.typed("go"), claude.system("turn_duration")], ("needs-you", "idle", None)),
        ([claude.typed("go"), claude.system("away_summary", content="x")], ("working", "thinking", None)),
        ([claude.typed("go"), {"type": "mode", "mode": "normal"}], ("working", "thinking", None)),
        ([claude.user("<command-name>/model</command-name>")], ("needs-you", "idle", None)),
    ],
)
def test_agent_state(log: list[dict[str, Any]], expected: tuple[str, str, str | None]) -> None:
    assert state(*log) == expected


def test_the_open_call_says_since_when() -> None:
    assert run(CALL)[0].facts.agent_state.since == claude.at(7)


def test_facts_of_a_session() -> None:
    translator, _ = run(
        claude.title("summary", "about"),
        claude.typed("go", second=1),
        claude.assistant(claude.text("ok"), second=9),
        claude.title("ai-title", "Better"),
        claude.title("custom-title", "Mine"),
        claude.title("ai-title", "Later"),
    )
    facts = translator.facts
    assert (facts.title, facts.cwd, facts.git_branch, facts.cli_version) == ("Mine", "/w", "main", claude.NEW)
    assert (facts.first_activity, facts.last_activity) == (claude.at(1), claude.at(9))
    assert facts.resume_ids == [claude.SESSION]
    assert (facts.user_messages, facts.assistant_messages) == (1, 1)
    assert Claude().resume_command(facts) == f"cd /w && claude --resume {claude.SESSION}"


def test_records_appended_again_after_a_compaction_are_marked_and_count_nothing() -> None:
    prompt = claude.typed("go", "u1", 1)
    reply = claude.assistant(claude.text("ok"), uuid="a1", second=2, stop="end_turn")
    log = [prompt, reply, claude.system("compact_boundary", second=60, content="Conversation compacted")]
    before, _ = run(*log)
    after, drafts = run(*log, prompt, reply)
    assert [draft.check for draft in drafts] == [False, False, False, True]
    assert asdict(after.facts) == asdict(before.facts)
    assert (drafts[3].kind, drafts[3].event_id, drafts[3].payload) == ("user.message", "u1", {"text": "go"})


def test_a_late_record_counts_and_is_only_compared_when_it_may_have_been_there() -> None:
    late = claude.typed("b", "u2", 10)
    translator, drafts = run(claude.typed("a", "u1", 30), late, late)
    assert [draft.check for draft in drafts] == [False, False, True]
    assert translator.facts.user_messages == 2, "the same record once more is no second message"


def test_a_late_record_is_compared_once_records_of_its_time_were_forgotten() -> None:
    many = [claude.typed("x", f"x{number}", number) for number in range(MAX_RECORDS + 20)]
    _, drafts = run(*many, claude.typed("late", "u1", 10), claude.typed("later", "u2", 100))
    assert [draft.check for draft in drafts[-2:]] == [True, False]


def test_records_of_an_sdk_fork_are_copies() -> None:
    origin = {"sessionId": "parent", "messageUuid": "m"}
    translator, drafts = run(claude.typed("old", forkedFrom=origin), claude.typed("new", "u2", 9))
    assert [draft.copied for draft in drafts] == [True, False]
    assert (translator.facts.parent, translator.facts.user_messages) == ("parent", 1)
    assert translator.facts.first_activity == claude.at(9)


def test_a_compaction_is_a_notice_and_its_summary_is_not_the_users() -> None:
    assert told(
        claude.system("compact_boundary", content="Conversation compacted"),
        claude.user("So far", isCompactSummary=True),
    ) == [("system.message", "Conversation compacted"), ("provider.info", "So far")]


@pytest.mark.parametrize(
    ("record", "raw_type"),
    [
        ({"type": "brand-new", "x": 1}, "brand-new"),
        ({"x": 1}, "untyped"),
        (claude.system("brand-new"), "system.brand-new"),
        (claude.attachment("brand-new", x=1), "attachment.brand-new"),
        (claude.assistant({"type": "brand-new"}), "assistant.brand-new"),
        (claude.user([{"type": "brand-new"}]), "user.brand-new"),
        (claude.queue("brand-new"), "queue-operation.brand-new"),
        ({"type": "paused", "run": 1}, "paused"),
    ],
)
def test_the_unknown_is_kept_raw(record: dict[str, Any], raw_type: str) -> None:
    translator, drafts = run(record)
    assert [(draft.kind, draft.payload["rawType"]) for draft in drafts] == [("provider.raw", raw_type)]
    assert translator.facts.unknown_types == {raw_type: 1}


def test_an_unknown_block_leaves_the_rest_of_its_record_alone() -> None:
    kinds = [kind for kind, _ in told(claude.assistant(claude.text("ok"), {"type": "brand-new"}))]
    assert kinds == ["assistant.message", "provider.raw"]


def test_bytes_of_images_in_results_are_left_out() -> None:
    _, drafts = run(
        claude.result(
            [claude.text("shot"), claude.image()],
            toolUseResult={"type": "image", "file": {"base64": "aGVsbG8=", "originalSize": 5}},
        )
    )
    assert drafts[0].payload["text"].startswith("shot\n[image/png, 5 bytes")
    assert drafts[0].payload["json"] == {"type": "image", "file": {"originalSize": 5}}


def test_a_spilled_output_keeps_what_the_text_only_previews() -> None:
    _, drafts = run(claude.result("<persisted-output>\nPreview", toolUseResult={"stdout": "all of it"}))
    assert drafts[0].payload["json"] == {"stdout": "all of it"}


def test_a_pull_request_is_told_once() -> None:
    link = {"type": "pr-link", "prUrl": "https://example.org/1", "sessionId": claude.SESSION}
    assert told(link, link) == [("provider.info", "https://example.org/1")]


EVERYTHING = [
    {"type": "mode", "mode": "normal", "sessionId": claude.SESSION},
    {"type": "summary", "summary": "About a2", "leafUuid": "a2"},
    {"type": "summary", "summary": "About another", "leafUuid": "elsewhere"},
    claude.typed("go\n::start", "u1", 1, promptId="p"),
    claude.assistant(claude.thinking("hm"), uuid="a1", second=2),
    claude.assistant(claude.text("A long enough beginning"), uuid="a2", second=3, usage={"output_tokens": 9}),
    claude.assistant(claude.text("A long enough beginning, grown"), claude.call(), uuid="a3", second=4),
    claude.queue("enqueue", "one", 5),
    claude.queue("enqueue", [claude.text("two"), claude.image()], 6),
    claude.result(claude.refusal("no"), uuid="r1", second=7, error=True, toolUseResult="Error: no"),
    claude.queue("remove", None, 8),
    claude.queued("one", "at1", 9),
    claude.queue("dequeue", None, 10),
    claude.user("two", "u2", 11),
    claude.assistant(claude.call("q", "AskUserQuestion", questions=[claude.question("?", "A")]), uuid="a4", second=12),
    claude.result('"?"="A". ', "q", "r2", 13, toolUseResult={"answers": {"?": "A"}}),
    claude.assistant(claude.call("p", "ExitPlanMode", plan="P"), uuid="a5", second=14, message="msg_2"),
    claude.result("User has approved", "p", "r3", 15, toolUseResult={"plan": "P2"}),
    claude.system("compact_boundary", "s1", 60, content="Conversation compacted"),
    claude.typed("go\n::start", "u1", 1, promptId="p"),
    claude.assistant(claude.text("A long enough beginning"), uuid="a2", second=3, usage={"output_tokens": 9}),
    claude.user("aside", "u9", 61, isSidechain=True),
    claude.title("ai-title", "T"),
    {"type": "pr-link", "prUrl": "https://example.org/1"},
    {"type": "pr-link", "prUrl": "https://example.org/1"},
    claude.attachment("hook_success", "at2", 62, content=""),
    claude.system("stop_hook_summary", "s2", 63),
    {"type": "brand-new"},
]


@given(st.sets(st.integers(0, len(EVERYTHING))))
@settings(max_examples=60, deadline=None)
def test_any_cut_with_saved_state_gives_the_same_events_and_facts(cuts: set[int]) -> None:
    whole, expected = run(*EVERYTHING)
    translator, drafts, position = Claude().translator(source()), [], 0
    for index, record in enumerate(EVERYTHING):
        if index in cuts:
            saved = orjson.loads(orjson.dumps(translator.save()))
            translator = Claude().translator(source(), saved, translator.facts)
        line = orjson.dumps(record)
        drafts += translator.feed(line, position)
        position += len(line) + 1
    assert drafts == expected
    assert asdict(translator.facts) == asdict(whole.facts)
    assert orjson.dumps(translator.save()) == orjson.dumps(whole.save())


ODD: list[Any] = [None, True, 0, -1, 1e300, "", "x", "\ud83d", [], [None], [[]], {}, {"type": 1}, {"type": []}]


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys: Any = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [path, *(deeper for key in keys for deeper in _paths(value[key], (*path, key)))]


def test_no_odd_value_in_any_field_raises() -> None:
    for record in EVERYTHING:
        for path in _paths(record)[1:]:
            for odd in ODD:
                broken: Any = copy.deepcopy(record)
                target = broken
                for key in path[:-1]:
                    target = target[key]
                target[path[-1]] = odd
                translator = Claude().translator(source())
                for draft in translator.feed(json.dumps(broken).encode(), 0):
                    PAYLOADS[draft.kind].model_validate(draft.payload)
                orjson.dumps(translator.save())


def _sample_source(path: Path) -> SourceFile:
    named = Claude().identify(path.with_name(path.name.split("__")[-1]), lambda _: path.read_bytes()[:65536])
    if named is None:
        return SourceFile("claude", path.stem, path)
    return SourceFile("claude", named.provider_session_id, path, named.kind, parent=named.parent)


def _sample_files() -> list[Path]:
    return sorted([*SAMPLES.glob("claude/*"), *SAMPLES.glob("series/claude*/*"), *SAMPLES.glob("synthetic/claude*")])


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="no sample logs here")
def test_every_sample_log_is_translated_and_accounted_for() -> None:
    for path in _sample_files():
        translator = Claude().translator(_sample_source(path))
        translator.tally = {}
        data = path.read_bytes()
        assert Claude().sniff(data[:65536]), path
        for draft in feed(translator, data):
            PAYLOADS[draft.kind].model_validate(draft.payload)
        for row in translator.tally.values():
            assert row.read == row.translated + row.dropped + row.repeated + row.raw + row.invalid, path
        assert len(orjson.dumps(translator.save())) < 256 * 1024


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="no sample logs here")
def test_the_tail_of_a_sample_log_tells_the_same_agent_state() -> None:
    for path in _sample_files():
        data = path.read_bytes()
        tail = data[-65536:].split(b"\n", 1)[-1] if len(data) > 65536 else data
        whole, short = Claude().translator(source(), None, Facts()), Claude().translator(source(), None, Facts())
        feed(whole, data)
        feed(short, tail)
        assert short.facts.agent_state == whole.facts.agent_state, path
