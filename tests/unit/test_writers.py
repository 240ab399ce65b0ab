"""What both writers promise: bytes that depend on events and settings alone, and every setting does what it says."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kato_tui.core.model import events
from kato_tui.core.model.settings import RecordSettings
from kato_tui.core.record.destination import Format
from kato_tui.core.record.writer import Event, writer_for
from kato_tui.core.store.twin import decode_line, event_line
from tests.unit.talk import (
    answers,
    asks,
    calls,
    command,
    encoded,
    event,
    info,
    raw,
    rendered,
    returns,
    says,
    thinks,
    user,
)

words = st.one_of(
    st.sampled_from(["x", "- a", "    code", "```\nopen", "1. b", "<b>", "# One", "", "> q", "a\n\nb", "[x]: /y"]),
    st.text(max_size=12),
)
names = st.sampled_from(["Bash", "Edit", "Task", "TodoWrite", "Grep", "strange"])
ids = st.sampled_from(["c1", "c2", "c3" * 50])
models = st.sampled_from(["gpt-5.3-codex", "o4", "User", " ", None])
talks = st.lists(
    st.one_of(
        st.builds(user, words),
        st.builds(command, words),
        st.builds(says, words, phase=st.sampled_from(["commentary", "final", None]), model=models),
        st.builds(thinks, words),
        st.builds(calls, names, st.dictionaries(st.sampled_from(["command", "pattern", "prompt"]), words), id=ids),
        st.builds(returns, words, id=ids, isError=st.booleans()),
        st.builds(asks, words, st.tuples(words, words), id=ids),
        st.builds(answers, words, words=words, id=ids),
        st.builds(info, words),
        st.builds(raw, words),
    ),
    max_size=12,
)
record_settings = st.builds(
    RecordSettings,
    thinking=st.booleans(),
    tool_calls=st.booleans(),
    tool_result_limit=st.sampled_from(["all", 0, 3, 4000]),
    commentary=st.booleans(),
    system_events=st.booleans(),
    italic_user_text=st.booleans(),
)


def _one_pass(form: Format, chosen: RecordSettings, talk: list[Event]) -> bytes:
    writer = writer_for(form, chosen)
    state, out = writer.begin(), b""
    for one in talk:
        state, part = writer.render(state, one)
        out += part
    return out


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["markdown", "jsonl"]), record_settings, talks, st.data())
def test_any_batches_give_the_bytes_of_one_pass(
    form: Format, chosen: RecordSettings, talk: list[Event], data: st.DataObject
) -> None:
    whole = _one_pass(form, chosen, talk)
    assert _one_pass(form, chosen, talk) == whole
    state, out = orjson.dumps(writer_for(form, chosen).begin()), b""
    for one in talk:
        if data.draw(st.booleans()):
            # A batch that fails is rendered again from the state before it.
            writer_for(form, chosen).render(orjson.loads(state), one)
        after, part = writer_for(form, chosen).render(orjson.loads(state), one)
        state, out = orjson.dumps(after), out + part
    assert out == whole


@settings(max_examples=200, deadline=None)
@given(record_settings, talks)
def test_a_line_of_jsonl_is_the_line_of_the_twin(chosen: RecordSettings, talk: list[Event]) -> None:
    lines = [event_line(one) for one in talk]
    assert _one_pass("jsonl", chosen, talk) == b"".join(lines)
    assert [decode_line(line) for line in lines] == talk


@pytest.mark.parametrize(
    "payload",
    [
        {"text": 'é \x7f \x9b31m \u2028 \u202e 🙂 \\ " </script>'},
        {"text": "big", "n": 2**63, "f": 0.1, "e": 1e300, "none": None, "deep": [[[{"a": []}]]]},
    ],
)
def test_an_event_read_from_a_twin_is_written_as_it_stood_there(payload: dict[str, Any]) -> None:
    line = encoded(events.PROVIDER_RAW, {"rawType": "t", "raw": payload}, model="m")
    found = decode_line(line)
    assert found is not None
    assert event_line(found) == line


TALK = [
    user("typed words"),
    thinks("thought"),
    says("between", phase="commentary"),
    calls("Bash", {"command": "run it"}),
    returns("printed words"),
    info("hooked"),
    info("told", events.SYSTEM_MESSAGE),
    raw("unheard"),
    says("the answer", phase="final"),
]
#: (settings, what is shown with them, what is not); by default everything but system events is shown.
CASES: list[tuple[dict[str, Any], list[str], list[str]]] = [
    ({}, ["typed", "thought", "between", "run it", "printed words", "answer"], ["hooked", "told", "unheard", "*typed"]),
    ({"thinking": False}, ["between", "run it"], ["thought", "Thinking"]),
    ({"tool_calls": False}, ["thought", "between"], ["run it", "printed"]),
    ({"tool_result_limit": 0}, ["run it"], ["printed", "Result"]),
    ({"tool_result_limit": 7}, ["printed\n", "(6 characters more)"], ["printed words"]),
    ({"tool_result_limit": "all"}, ["printed words"], ["characters more"]),
    ({"commentary": False}, ["answer", "thought"], ["between"]),
    ({"system_events": True}, ["hooked", "told", "unheard", "typed"], []),
    ({"italic_user_text": True}, ["*typed words*", "\nthe answer\n"], []),
]


@pytest.mark.parametrize(("chosen", "shown", "hidden"), CASES, ids=[str(case[0]) for case in CASES])
def test_each_setting_shows_and_hides_what_it_says(chosen: dict[str, Any], shown: list[str], hidden: list[str]) -> None:
    text = rendered(*TALK, **chosen)
    assert [word for word in shown if word not in text] == []
    assert [word for word in hidden if word in text] == []


def test_a_hidden_kind_leaves_no_heading_behind() -> None:
    assert rendered(user("a", at=None), thinks("b"), user("c"), thinking=False) == "\n# User\n\na\n\nc\n"


def test_jsonl_holds_every_kind_whatever_the_settings() -> None:
    nothing = RecordSettings(thinking=False, tool_calls=False, tool_result_limit=0, commentary=False)
    lines = _one_pass("jsonl", nothing, TALK).splitlines()
    assert [orjson.loads(line)["kind"] for line in lines] == [one["kind"] for one in TALK]


def test_an_event_of_a_kind_that_is_not_known_is_left_out_of_markdown() -> None:
    later = {**event(events.USER_MESSAGE, {"text": "x"}), "kind": "assistant.hologram"}
    assert rendered(later) == ""
