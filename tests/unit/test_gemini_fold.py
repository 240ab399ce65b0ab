"""The fold itself: cut anywhere, fed anything, and over real chats."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kato_tui.core.model.events import PAYLOADS
from kato_tui.core.model.facts import Facts
from kato_tui.core.providers.base import Draft, Record, SourceFile, Translator
from kato_tui.core.providers.gemini import Gemini, tools
from kato_tui.core.providers.gemini.seen import MAX_MESSAGES
from tests.unit import gemini_log as log

SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples"

ASKED = log.ask(log.question("Which?", "A", "B"))
RECORDS = [
    log.header(directories=["/w"]),
    log.replaced(log.user("<session_context>x", id="ctx")),
    log.user("hi\n::start\n"),
    log.gemini(thoughts=[log.thought("S", "D")], tokens=log.tokens(9, 1)),
    log.gemini("a", thoughts=[log.thought("S", "D")], tokens=log.tokens(9, 2), toolCalls=[log.call()]),
    log.results(log.response("c1", "1\n")),
    log.gemini("b", id="g2", toolCalls=[ASKED]),
    log.results(log.response("q1", '{"answers":{"0":"A"}}', "ask_user"), id="r2"),
    log.rewind("g2"),
    log.replaced(log.user("hi\n::start\n", id="x1"), log.gemini("a", id="x2"), log.user("new", id="x3")),
    log.notice("info", "Request cancelled."),
    log.updated(),
    {"$set": {"summary": "Name", "unheard": 1}},
    {"id": "z", "type": "unheard", "content": 1},
    {"what": "is this"},
]
#: Also the beginning of a history that is written anew, and a prompt of it.
RETOLD = [*RECORDS, log.user("<session_context>x", id="ctx2", minute=1), log.user("hi\n::start\n", id="u7")]


def check_tally(made: Translator) -> None:
    assert made.tally is not None
    for row in made.tally.values():
        assert row.read == row.translated + row.dropped + row.repeated + row.raw + row.invalid


def check_drafts(drafts: list[Draft]) -> None:
    for draft in drafts:
        PAYLOADS[draft.kind].model_validate(draft.payload)
        orjson.dumps(draft.payload)


def resumed(made: Translator) -> Translator:
    """As after a restart: state and facts through JSON."""
    state = orjson.loads(orjson.dumps(made.save()))
    facts = made.facts
    plain = orjson.loads(orjson.dumps(asdict(facts)))
    again = Facts(
        **{
            **plain,
            "usage": type(facts.usage)(**plain["usage"]),
            "agent_state": type(facts.agent_state)(**plain["agent_state"]),
        }
    )
    return Gemini().translator(made.source, state, again)


@given(
    st.lists(st.sampled_from(range(len(RETOLD))), max_size=25),
    st.sets(st.integers(0, 25), max_size=6),
)
def test_any_cut_with_a_restart_gives_the_same_drafts_and_facts(order: list[int], cuts: set[int]) -> None:
    records = [RETOLD[number] for number in order]
    whole, made = log.fed(*records)
    pieces: list[Draft] = []
    part = log.translator()
    for number, record in enumerate(records):
        if number in cuts:
            part = resumed(part)
        pieces += part.feed(orjson.dumps(record), number)
    assert pieces == whole
    assert asdict(part.facts) == asdict(made.facts)
    assert orjson.dumps(part.save()) == orjson.dumps(made.save())


def test_every_record_gets_one_verdict() -> None:
    drafts, made = log.fed(*RECORDS)
    check_drafts(drafts)
    check_tally(made)
    assert made.tally is not None
    assert sum(row.read for row in made.tally.values()) == len(RECORDS)


@pytest.mark.parametrize("cut", range(2, 11))
def test_the_tail_of_a_chat_shows_the_same_agent_state(cut: int) -> None:
    """A start-up derives the state from the last lines alone."""
    whole, tail = log.fed(*RECORDS[:12])[1], log.fed(*RECORDS[cut:12])[1]
    assert tail.facts.agent_state == whole.facts.agent_state


def test_what_is_unknown_is_kept_raw_and_named() -> None:
    drafts, made = log.fed(*RECORDS[-3:], log.gemini([{"text": "a"}, {"executableCode": {"code": "1"}}, 7], id="g9"))
    raw = [draft.payload["rawType"] for draft in drafts if draft.kind == "provider.raw"]
    assert raw == ["$set.unheard", "message.unheard", "untyped", "part.executableCode", "part"]
    assert made.facts.unknown_types == dict.fromkeys(raw, 1)


IMAGE = {"inlineData": {"mimeType": "image/png", "data": "QUJD" * 40}}


@pytest.mark.parametrize(
    "record",
    [
        {"id": "z", "type": "unheard", "content": [IMAGE]},
        {"what": [[[IMAGE]]]},
        {"$set": {"unheard": {"deep": [{"part": IMAGE}]}}},
        log.gemini("", toolCalls=[log.call(args={"picture": IMAGE})]),
        log.results({"functionResponse": {"id": "c1", "name": "x", "response": [IMAGE]}}),
        log.gemini("", id="g1", thoughts=[[IMAGE]]),
        log.gemini([{"executableCode": {"picture": IMAGE}}]),
    ],
)
def test_no_event_holds_the_bytes_of_a_picture_not_even_raw(record: Record) -> None:
    drafts, _ = log.fed(record)
    assert drafts
    written = orjson.dumps([draft.payload for draft in drafts])
    assert b"QUJDQUJD" not in written
    assert b"image/png" in written


def test_a_second_rewind_to_the_same_message_is_told_too() -> None:
    drafts, _ = log.fed(log.user("a"), log.rewind("u1"), log.user("b", "u2"), log.rewind("u1"))
    assert [(draft.kind, draft.check) for draft in drafts if draft.kind == "system.message"] == [
        ("system.message", False),
        ("system.message", False),
    ]


def _long_chat(turns: int) -> list[Record]:
    times = [f"2026-07-02T{turn // 60:02}:{turn % 60:02}:00.000Z" for turn in range(turns)]
    return [log.gemini(f"text {n}", f"g{n}", timestamp=t, toolCalls=[log.call(f"c{n}")]) for n, t in enumerate(times)]


def test_only_messages_that_memory_and_time_cannot_place_are_compared_with_the_twin() -> None:
    chat = _long_chat(MAX_MESSAGES + 50)
    drafts, made = log.fed(*chat)
    assert not any(draft.check for draft in drafts)
    recent, _ = log.fed({**chat[-3], "toolCalls": [*chat[-3]["toolCalls"], log.call("late")]}, into=made)
    assert [(draft.kind, draft.event_id, draft.check) for draft in recent] == [
        ("assistant.tool.call", "late", False),
        ("assistant.tool.result", "late", False),
    ]
    forgotten, _ = log.fed(chat[5], into=made)
    assert [draft.check for draft in forgotten] == [True, True, True]


def test_a_message_that_cannot_be_read_leaves_no_trace_in_what_counts_as_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kept raw, whole: what its first call told was taken back, so a good copy of it is told in full."""

    def damaged(identifier: str, call: Record) -> Record:
        if identifier == "c2":
            raise KeyError(identifier)
        return result_payload(identifier, call)

    result_payload = tools.result_payload
    monkeypatch.setattr(tools, "result_payload", damaged)
    good = log.gemini("text", toolCalls=[log.call()])
    (raw,), made = log.fed({**good, "toolCalls": [log.call(), log.call("c2")]})
    assert raw.kind == "provider.raw"
    drafts, _ = log.fed(good, good, into=made)
    assert [draft.kind for draft in drafts] == ["assistant.message", "assistant.tool.call", "assistant.tool.result"]
    assert (made.facts.assistant_messages, made.facts.tool_calls) == (1, 1)


@pytest.mark.parametrize(
    ("record", "raw"),
    [
        (log.gemini([{"text": "a", "executableCode": {"code": "1"}}]), "part.executableCode"),
        (log.gemini([{"text": "", "codeExecutionResult": {}}]), "part.codeExecutionResult"),
        (log.gemini("a", toolCalls={"id": "c1"}), "toolCalls"),
        (log.gemini("a", thoughts={"subject": "S"}), "thoughts"),
        (log.gemini("a", thoughts=[{"mood": "odd"}]), "thought"),
        (log.gemini("a", toolCalls=[{"odd": 1}]), "toolCall"),
        (log.results({"functionCall": {"id": "c", "name": "x"}}), "part.functionCall"),
        (log.results({"text": "a", "thought": True}), "part.thought"),
        ({**log.notice("info", ""), "content": [{"functionResponse": {"id": "c"}}]}, "part.functionResponse"),
    ],
)
def test_nothing_of_an_odd_message_is_lost(record: Record, raw: str) -> None:
    drafts, _ = log.fed(record)
    assert [draft.payload["rawType"] for draft in drafts if draft.kind == "provider.raw"] == [raw]


def test_a_line_that_is_no_json_is_kept() -> None:
    made = log.translator()
    (draft,) = made.feed(b'{"id": "half', 0)
    assert (draft.kind, draft.payload["rawType"]) == ("provider.raw", "invalid-line")
    check_tally(made)


def test_one_damaged_message_of_a_list_is_kept_raw_and_the_others_are_told() -> None:
    drafts, made = log.fed({"$set": {"messages": [log.user("hi"), 5, log.gemini("hello")]}})
    assert [draft.kind for draft in drafts] == ["user.message", "provider.raw", "assistant.message"]
    assert [draft.emit_index for draft in drafts] == [0, 1, 2]
    check_tally(made)


def test_a_half_written_document_is_read_again_later() -> None:
    whole = orjson.dumps(log.document(log.user("hi")))
    assert log.translator("document").feed_document(whole[:-10]) is None
    assert log.translator("document").feed_document(b"[]") is None


def test_a_document_without_messages_tells_nothing() -> None:
    assert log.fed_document(log.header())[0] == []
    drafts, _ = log.fed_document({**log.header(), "messages": "odd"})
    assert [draft.kind for draft in drafts] == ["provider.raw"]


def test_the_items_of_a_document_are_its_messages() -> None:
    drafts, made = log.fed_document(log.document(log.user("hi"), log.gemini("a"), {"type": "user", "content": "x"}))
    assert made.item_ids[:2] == ["u1", "g1"]
    other = log.fed_document(log.document({"type": "user", "content": "x", "timestamp": log.at(5)}))[1]
    assert made.item_ids[2:] == other.item_ids
    assert log.fed_document(log.document(log.user("hi", "x" * 10_000)))[1].item_ids != ["x" * 10_000]
    assert all(draft.check for draft in drafts)
    check_tally(made)


def test_state_stays_small_however_long_the_chat() -> None:
    made = log.translator()
    for number in range(2000):
        call = log.ask(log.question("?" * 999, *("L" * 999,) * 50), id=f"q{number}" * 99)
        log.fed(log.user(f"p{number}", id=f"u{number}"), log.gemini(id=f"g{number}", toolCalls=[call]), into=made)
    assert len(orjson.dumps(made.save())) < 64 * 1024


def test_facts_stay_small_whatever_a_header_says() -> None:
    long = "/" + "x" * 100_000
    _, made = log.fed(log.header(long, directories=[long]), {"$set": {"sessionId": long + "1", "directories": ["w"]}})
    assert (made.facts.resume_ids, made.facts.cwd) == ([], None)


ODD: list[Any] = [None, True, -1, 1.5, 2**70, "", "x", "\ud800", [], [[]], {}, {"a": {"b": 1}}, [None, 1, "a", {}]]


def variants(value: Any) -> list[Any]:
    """`value` with each of its parts, one at a time, replaced by odd values or removed."""
    out: list[Any] = list(ODD)
    if isinstance(value, dict):
        for key, part in value.items():
            out += [{**value, key: variant} for variant in variants(part)]
            out.append({name: item for name, item in value.items() if name != key})
    elif isinstance(value, list):
        for index, part in enumerate(value):
            out += [[*value[:index], variant, *value[index + 1 :]] for variant in variants(part)]
    return out


@pytest.mark.parametrize("record", RECORDS)
def test_odd_shapes_never_raise(record: Record) -> None:
    for variant in variants(record):
        line = json.dumps(variant).encode()
        made = log.translator()
        drafts = made.feed(line, 0)
        drafts += made.feed(line, 1)
        check_drafts(drafts)
        check_tally(made)
        document = log.translator("document")
        told = document.feed_document(json.dumps({**log.header(), "messages": [variant]}).encode())
        assert told is not None
        check_drafts(told)


def test_the_extension_in_use_is_no_unknown_field() -> None:
    made = Gemini().translator(SourceFile("gemini", "s", Path("s.jsonl"), generation="jsonl"))
    assert made.feed(b'{"$set":{"activeExtensionName":"x"}}', 0) == []
    assert made.facts.unknown_types == {}


def _samples() -> list[Path]:
    return sorted([*SAMPLES.glob("gemini/*.json*"), *SAMPLES.glob("synthetic/gemini*")])


@pytest.mark.skipif(not _samples(), reason="no sample chats here")
def test_real_chats_translate_whole() -> None:
    for path in _samples():
        data = path.read_bytes()
        found = Gemini().identify(path, lambda _, data=data: data[: 64 * 1024])  # type: ignore[misc]
        source = found or SourceFile("gemini", path.stem, path)
        made = Gemini().translator(source)
        made.tally = {}
        if source.layout == "document":
            drafts = made.feed_document(data) or []
        else:
            drafts = [draft for number, line in enumerate(data.splitlines()) for draft in made.feed(line, number)]
        assert drafts
        check_drafts(drafts)
        check_tally(made)
        assert made.facts.unknown_types == {}
