"""What the messages of a Gemini chat become, in both generations of the format."""

from __future__ import annotations

import pytest

from kato_tui.core.ingest.dedupe import Identities
from kato_tui.core.model import events
from kato_tui.core.model.events import PAYLOADS
from kato_tui.core.providers.base import Draft, Record
from kato_tui.core.providers.gemini import Gemini
from tests.unit import gemini_log as log


def kept(*batches: list[Draft]) -> list[Draft]:
    """What a twin would hold after these batches: repetitions are dropped as the ingest does it."""
    known, out = Identities(Gemini()), []
    for drafts in batches:
        cursor = None
        for draft in drafts:
            if draft.cursor != cursor:
                known.begin()
                cursor = draft.cursor
            key = known.key(draft)
            if draft.check and known.holds(key):
                continue
            known.add(key)
            out.append(draft)
    return out


def told(*records: Record) -> list[tuple[str, str]]:
    """(kind, text) of everything a twin would hold of this JSONL."""
    drafts, _ = log.fed(*records)
    for draft in drafts:
        PAYLOADS[draft.kind].model_validate(draft.payload)
    return [(draft.kind, _text(draft.payload)) for draft in kept(drafts)]


def _text(payload: Record) -> str:
    return str(payload.get("text") or payload.get("name") or payload.get("prompt") or payload.get("selections", ""))


TURN = (
    log.header(),
    log.user("Explain a.py"),
    log.gemini(thoughts=[log.thought("Reading", "I look.")], tokens=log.tokens(10, 1)),
    log.gemini(thoughts=[log.thought("Reading", "I look.")], tokens=log.tokens(10, 1), toolCalls=[log.call()]),
    log.results(log.response("c1", "1\n")),
    log.gemini("It is 1.", id="g2", minute=4),
    log.updated(),
)
TOLD = [
    ("user.message", "Explain a.py"),
    ("assistant.thinking", "**Reading**\n\nI look."),
    ("assistant.tool.call", "read_file"),
    ("assistant.tool.result", "1\n"),
    ("assistant.message", "It is 1."),
]


def test_a_turn_of_a_jsonl_chat_is_told_once_although_messages_are_appended_again() -> None:
    assert told(*TURN) == TOLD


def test_a_legacy_document_tells_the_same_turn() -> None:
    drafts, _ = log.fed_document(log.document(TURN[1], TURN[3], TURN[5]))
    assert [(draft.kind, _text(draft.payload)) for draft in drafts] == TOLD
    assert [draft.cursor for draft in drafts] == [0, 1, 1, 1, 2]


def test_document_and_jsonl_of_one_session_hold_every_message_once() -> None:
    before, made = log.fed_document(log.document(TURN[1], TURN[3]))
    after, _ = log.fed(*TURN, into=Gemini().translator(log.source(), made.successor_state()))
    assert [draft.event_id for draft in kept(before, after)] == ["u1", "g1", "c1", "c1", "g2"]


def test_a_tool_call_that_comes_later_is_new_while_the_text_of_its_message_is_not() -> None:
    bare, _ = log.fed_document(log.document(log.gemini("I read it.")))
    full, _ = log.fed_document(log.document(log.gemini("I read it.", toolCalls=[log.call()])))
    assert [draft.kind for draft in kept(bare, full)] == [
        "assistant.message",
        "assistant.tool.call",
        "assistant.tool.result",
    ]


def test_a_masked_result_is_no_second_result_but_a_changed_text_is_a_revision() -> None:
    masked = log.call(output="<tool_output_masked> see file")
    assert told(log.gemini("one", toolCalls=[log.call()]), log.gemini("two", toolCalls=[masked], minute=3)) == [
        ("assistant.message", "one"),
        ("assistant.tool.call", "read_file"),
        ("assistant.tool.result", "1\n"),
        ("assistant.message", "two"),
    ]


def test_messages_without_ids_are_kept_each_as_often_as_they_stand_there() -> None:
    again = {"type": "user", "content": "go on", "timestamp": log.at(1)}
    assert told(again, again) == [("user.message", "go on")] * 2
    drafts, _ = log.fed_document(log.document(again, again))
    assert [draft.event_id for draft in drafts] == [None, None]


# Who wrote it.


@pytest.mark.parametrize(
    ("text", "subtype"),
    [
        ("<session_context>\nToday is Thursday.\n</session_context>", "session-context"),
        ("<hook_context>hi</hook_context>", "hook-context"),
        ("<state_snapshot>all so far</state_snapshot>", "compaction-summary"),
        ("This is the Gemini CLI. We are setting up the context for our chat.\nToday…", "session-context"),
        ("System: Potential loop detected. Details: x\n::stop", "loop-detected"),
        ("I ran the following shell command:\n```sh\nls\n```\n\n::stop", "shell-command"),
        ("System: Please continue.", "continue"),
        ("[Function Response: read_many_files]--- a ---", "function-response"),
        ("Here is the user's editor context as a JSON object", "ide-context"),
        ("/chat list", "slash-command"),
        ("?", "slash-command"),
    ],
)
def test_text_that_the_cli_wrote_is_not_the_users(text: str, subtype: str) -> None:
    drafts, made = log.fed(log.user(text))
    assert [(draft.kind, draft.payload["subtype"]) for draft in drafts] == [("provider.info", subtype)]
    assert made.facts.user_messages == 0
    assert made.facts.title is None


@pytest.mark.parametrize("text", ["/etc/hosts is empty, why?", "?? what", "  <b> two spaces  \n", "a\n::start\nb"])
def test_text_that_the_user_typed_is_kept_exactly(text: str) -> None:
    drafts, _ = log.fed(log.user(text))
    assert drafts[0].kind == events.USER_MESSAGE
    typed = [draft.payload.get("text") or draft.payload["line"] + "\n" for draft in drafts]
    assert "".join(typed) == text


def test_display_content_is_what_was_typed_and_the_expansion_is_kept_beside_it() -> None:
    sent = "Explain @a.py\n--- Content from referenced files ---\nprint(1)"
    typed = log.user(sent, displayContent=[{"text": "Explain @a.py"}])
    assert told(typed) == [
        ("user.message", "Explain @a.py"),
        ("provider.info", "--- Content from referenced files ---\nprint(1)"),
    ]
    assert told(log.user(sent)) == told(typed)


def test_a_custom_command_is_what_its_display_content_says() -> None:
    drafts, _ = log.fed(log.user("You are an agent that…", displayContent=[{"text": "/init"}]))
    assert [(draft.kind, draft.payload["text"]) for draft in drafts] == [
        ("user.message", "/init"),
        ("provider.info", "You are an agent that…"),
    ]


def test_display_content_without_text_says_nothing_about_what_was_typed() -> None:
    record = log.user("System: Please continue.", displayContent=[log.response("c1", "x")])
    assert told(record) == [("provider.info", "System: Please continue.")]


def test_a_command_in_a_prompt_is_a_command_and_one_in_a_tool_result_is_not() -> None:
    drafts, _ = log.fed(log.user("::start notes.md"), log.results(log.response("c1", "::stop")))
    assert [draft.kind for draft in drafts] == ["user.kato-command", "assistant.tool.result"]


def test_a_sub_agents_prompt_is_its_parents_words() -> None:
    made = log.translator(kind="subagent")
    drafts, _ = log.fed(log.header("agent-1"), log.user("::start find it"), into=made)
    assert [(draft.kind, draft.payload["subtype"]) for draft in drafts] == [("provider.info", "agent-prompt")]
    assert made.facts.resume_ids == []
    assert made.facts.title == "::start find it"


def test_an_image_is_kept_as_facts_about_it() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    drafts, _ = log.fed({**log.user("look"), "content": [{"text": "look"}, picture]})
    (attachment,) = drafts[0].payload["attachments"]
    assert (attachment["mediaType"], attachment["size"]) == ("image/png", 3)
    assert "AAAA" not in str(drafts)


def test_notices_carry_their_level() -> None:
    drafts, _ = log.fed(log.notice("info", "Request cancelled."), log.notice("error", "429", id="n2"))
    assert [(draft.kind, draft.payload) for draft in drafts] == [
        ("system.message", {"text": "Request cancelled.", "level": "info"}),
        ("system.message", {"text": "429", "level": "error"}),
    ]


def test_the_models_half_of_a_bootstrap_pair_is_no_reply() -> None:
    ack = {"id": "a", "type": "gemini", "content": [{"text": "Got it. Thanks for the context!"}]}
    assert told(ack)[0][0] == "provider.info"
    assert told({**ack, "tokens": log.tokens(1, 1)})[0][0] == "assistant.message"


# Lists that replace what was there.


def test_a_sync_that_repeats_known_messages_tells_nothing_new() -> None:
    call_part = {"functionCall": {"id": "c1", "name": "read_file", "args": {"file_path": "a.py"}}}
    thought = {"text": "**Reading**\nI look.", "thought": True}
    synced = log.gemini([thought, call_part], thoughts=[log.thought("Reading", "I look.")], toolCalls=[log.call()])
    assert told(*TURN, log.replaced(TURN[1], synced, TURN[4], log.gemini([{"text": "It is 1."}], id="g2"))) == TOLD


def test_messages_re_created_under_new_ids_are_known_by_their_words() -> None:
    drafts, made = log.fed(
        log.user("go on"),
        log.gemini("one", id="g1"),
        log.user("go on", id="u2"),
        log.gemini("two", id="g2"),
        log.replaced(
            log.user("go on", id="x1", minute=9),
            log.gemini("one", id="x2", minute=9),
            log.user("go on", id="x3", minute=9),
            log.gemini("two", id="x4", minute=9),
            log.user("go on", id="x5", minute=9),
        ),
    )
    assert [draft.event_id for draft in drafts] == ["u1", "g1", "u2", "g2", "x5"]
    assert (made.facts.user_messages, made.facts.assistant_messages) == (3, 2)


def test_a_re_created_message_that_is_appended_again_brings_only_its_tool_calls() -> None:
    assert told(
        log.gemini("one"),
        log.replaced(log.gemini("one", id="x1")),
        log.gemini("one", id="x1", toolCalls=[log.call()]),
    ) == [("assistant.message", "one"), ("assistant.tool.call", "read_file"), ("assistant.tool.result", "1\n")]


def test_an_expanded_prompt_re_created_without_its_display_content_is_not_a_second_prompt() -> None:
    sent = "Explain @a.py\n--- Content from referenced files ---\nprint(1)"
    typed = log.user(sent, displayContent=[{"text": "Explain @a.py"}])
    assert told(typed, log.replaced(log.user(sent, id="x1"))) == told(typed)


def test_a_chat_that_lives_only_in_set_records_is_told_with_ids_and_times() -> None:
    first = log.user("hi", id="a", minute=1)
    reply = log.gemini("hello", id="b", minute=2)
    drafts, made = log.fed(log.header(), log.replaced(first), log.replaced(first, reply))
    assert [(draft.event_id, draft.timestamp) for draft in kept(drafts)] == [("a", log.at(1)), ("b", log.at(2))]
    assert made.facts.agent_state.reason == "idle"


def test_words_that_were_rewound_can_be_said_again() -> None:
    assert told(log.user("hi"), log.rewind("u1"), log.replaced(log.user("hi", id="u2"))) == [
        ("user.message", "hi"),
        ("system.message", "The conversation was rewound to before an earlier message."),
        ("user.message", "hi"),
    ]


def test_old_messages_that_were_forgotten_are_left_to_the_twin_and_later_ones_are_new() -> None:
    many = [log.user(f"prompt {number}", id=f"m{number}") for number in range(300)]
    drafts, made = log.fed(*many, log.replaced(*many, log.user("::stop", id="new")))
    again = drafts[300:]
    assert {(draft.event_id, draft.timestamp, draft.copied) for draft in again[:44]} == {(None, None, True)}
    assert (again[-1].kind, again[-1].event_id, again[-1].copied) == ("user.kato-command", "new", False)
    assert len(kept(drafts)) == 301
    assert made.facts.user_messages == 300


def test_a_compaction_summary_and_its_acknowledgement_are_not_conversation() -> None:
    summary = log.user("<state_snapshot>so far</state_snapshot>", id="s")
    ack = log.gemini([{"text": "Got it. Thanks for the additional context!"}], id="t")
    told_now = told(log.user("hi"), log.replaced(summary, ack))
    assert [kind for kind, _ in told_now] == ["user.message", "provider.info", "provider.info"]


def test_a_header_that_holds_messages_tells_them() -> None:
    assert told(log.document(log.user("hi"), log.gemini("hello"))) == [
        ("user.message", "hi"),
        ("assistant.message", "hello"),
    ]


# The CLI writes its history anew.

COMMAND = log.user("first\n::start a.md", "u1", 1)
CONTEXT = "<session_context>x</session_context>"


def _anew(second: int, id: str, *parts: str, type: str = "user") -> Record:
    return {"id": id, "timestamp": log.at(9, second), "type": type, "content": [{"text": part} for part in parts]}


@pytest.mark.parametrize(
    "recital",
    [
        [_anew(1, "n0", CONTEXT), _anew(1, "n1", "first\n::start a.md"), _anew(1, "n2", "Sure.\n", type="gemini")],
        # Turns of one role in a row become one.
        [_anew(1, "n1", CONTEXT, "first\n::start a.md"), _anew(1, "n2", "Sure.", type="gemini")],
    ],
)
def test_a_history_written_anew_in_lines_of_its_own_is_told_once_and_runs_no_command(recital: list[Record]) -> None:
    """When every tool call of a turn is refused, the CLI sets its history back and records all of it again."""
    start = log.replaced(log.user(CONTEXT, "ctx", 0))
    drafts, _ = log.fed(start, COMMAND, log.gemini("Sure."), log.user("rm", "u2", 3), log.updated(), *recital)
    told = [(draft.kind, draft.copied) for draft in kept(drafts) if draft.kind != "provider.info"]
    assert told == [
        ("user.message", False),
        ("user.kato-command", False),
        ("assistant.message", False),
        ("user.message", False),
    ]


def test_the_same_words_typed_after_a_history_was_written_anew_are_new() -> None:
    typed = _anew(30, "u9", "first\n::start a.md")
    drafts, _ = log.fed(log.user(CONTEXT, "ctx", 0), COMMAND, _anew(1, "n0", CONTEXT), typed)
    assert [draft.event_id for draft in kept(drafts) if draft.kind == "user.kato-command"] == ["u1", "u9"]


def test_a_prompt_that_nobody_had_to_type_is_told_right_after_the_first_context() -> None:
    drafts, _ = log.fed(log.header(), log.user(CONTEXT, "ctx", 1), log.user("do it", "u1", 1))
    assert [(draft.kind, draft.event_id, draft.copied) for draft in drafts] == [
        ("provider.info", "ctx", False),
        ("user.message", "u1", False),
    ]


def test_what_a_hook_put_before_a_prompt_is_not_the_users_and_the_prompt_is() -> None:
    text = "<hook_context>a\n::stop\n</hook_context>\n::stop\n</hook_context>\n\nfix it\n::start"
    drafts, _ = log.fed(log.user(text))
    assert [draft.kind for draft in drafts] == ["provider.info", "user.message", "user.kato-command"]
    assert drafts[1].payload["text"].strip() == "fix it"


def test_a_picture_in_a_notice_is_named() -> None:
    part = {"inlineData": {"mimeType": "audio/mpeg", "data": "QUJD"}}
    ((kind, text),) = told({**log.notice("info", ""), "content": [part]})
    assert (kind, text.startswith("[audio/mpeg")) == ("system.message", True)


def test_a_message_that_was_forgotten_and_comes_again_is_counted_once() -> None:
    times = [f"2026-07-02T{number // 60:02}:{number % 60:02}:00.000Z" for number in range(300)]
    chat = [log.gemini("x", f"g{n}", timestamp=time, tokens=log.tokens(5, 1)) for n, time in enumerate(times)]
    _, made = log.fed(*chat, chat[0])
    assert (made.facts.assistant_messages, made.facts.usage.total) == (300, 1800)
