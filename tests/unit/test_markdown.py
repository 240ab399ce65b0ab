"""Markdown recordings, as a person reads them."""

from __future__ import annotations

from typing import Any

import pytest

from kato_tui.core.model import events
from kato_tui.core.model.settings import RecordSettings
from kato_tui.core.record.writer import writer_for
from tests.unit.talk import (
    MODEL,
    answers,
    asks,
    calls,
    command,
    event,
    info,
    raw,
    rendered,
    returns,
    says,
    thinks,
    user,
)

WHOLE = """
# User_2026-02-25_1115_49

Why does `parse()` drop the last line?

> `::start ~/notes/parser.md`

# gpt-5.3-codex_2026-02-25_1115_58

<details>
<summary>Thinking</summary>

It must be the newline.

</details>

I'll look at it.

<details>
<summary>Bash: Show the parser</summary>

```sh
cat parser.py
```

</details>

<details>
<summary>Result of Bash: Show the parser</summary>

```
for line in text.split("\\n")[:-1]:
```

</details>

<details>
<summary>Edit: parser.py</summary>

```diff
--- parser.py
+++ parser.py
@@
-for line in text.split("\\n")[:-1]:
+for line in text.splitlines():
     yield line
```

</details>

<details>
<summary>Error from Edit: parser.py</summary>

```
File has not been read yet.
```

</details>

**Question**

Shall I also add a test?

- **Yes** — one for the last line
- **No**

# User_2026-02-25_1116_20

**Answer** to “Shall I also add a test?”

- [x] Yes

and one for the empty file

# gpt-5.3-codex_2026-02-25_1116_31

Done.
"""


def test_a_whole_conversation() -> None:
    later = "2026-02-25T12:15:58+01:00"
    edit = {"file_path": "parser.py", "old_string": 'for line in text.split("\\n")[:-1]:\n    yield line\n'}
    edit["new_string"] = "for line in text.splitlines():\n    yield line\n"
    shell = {"command": "cat parser.py", "description": "Show the parser"}
    answer = answers("Yes", words="and one for the empty file")
    answer["time"]["providerTimestamp"] = "2026-02-25T11:16:20Z"
    thought = thinks("It must be the newline.")
    thought["time"]["providerTimestamp"] = later
    talk = [
        user("Why does `parse()` drop the last line?\n"),
        command("::start ~/notes/parser.md"),
        thought,
        says("I'll look at it.", phase="commentary"),
        calls("Bash", shell, id="a"),
        returns('for line in text.split("\\n")[:-1]:\n', id="a", json={"interrupted": False}),
        calls("Edit", edit, id="b"),
        returns("File has not been read yet.", id="b", isError=True),
        asks("Shall I also add a test?", ("Yes", "one for the last line"), ("No", "")),
        answer,
        says("Done.", phase="final", at="2026-02-25T11:16:31Z"),
    ]
    assert rendered(*talk) == WHOLE


def test_a_heading_comes_only_when_the_speaker_changes() -> None:
    headings = _headings(user("a"), user("b"), says("c"), says("d", model="o4"), says("e", model=None), user("f"))
    assert headings == ["User", MODEL, "o4", "User"]


def test_without_a_model_the_provider_speaks() -> None:
    assert _headings(says("a", model=None), says("b")) == ["codex", MODEL]


def test_nobody_but_the_user_is_called_the_user() -> None:
    assert rendered(says("a", model="User")).startswith("\n# User (assistant)_")


def test_a_result_after_the_users_words_stands_under_the_assistant_again() -> None:
    assert _headings(calls("Bash", {"command": "ls"}), user("wait"), returns("x")) == [MODEL, "User", MODEL]


def _headings(*talk: Any) -> list[str]:
    rows = rendered(*talk).split("\n")
    return [row[2:].rpartition("_2026")[0] for row in rows if row.startswith("# ")]


@pytest.mark.parametrize(
    ("time", "shown"),
    [
        ({"providerTimestamp": "2026-02-25T23:30:00-02:00"}, "# User_2026-02-26_0130_00"),
        ({"capturedAt": "2026-02-25T11:15:49Z"}, "# User_2026-02-25_1115_49"),
        ({"providerTimestamp": "soon", "capturedAt": "2026-02-25T11:15:49Z"}, "# User_2026-02-25_1115_49"),
        ({"providerTimestamp": "2026-02-25T11:15:49"}, "# User"),
        ({"providerTimestamp": "0001-01-01T00:00:00+14:00"}, "# User"),
        ({}, "# User"),
    ],
)
def test_the_time_is_utc_and_never_invented(time: dict[str, str], shown: str) -> None:
    one = user("hello", at=None)
    one["time"] = time
    assert rendered(one) == f"\n{shown}\n\nhello\n"


def test_attachments_are_facts() -> None:
    image = {"mediaType": "image/png", "size": 2048, "sha256": "0123456789abcdef" * 4, "name": "a_*b*.png"}
    shown = rendered(event(events.USER_MESSAGE, {"text": "", "attachments": [image]}, at=None))
    assert shown == "\n# User\n\n*Attached: image/png, 2048 bytes, sha256 0123456789ab, a\\_\\*b\\*.png*\n"


def test_a_question_with_several_answers_and_none() -> None:
    prompt = asks("Pick\n\n- a", ("*A*", ""), ("B", ""), several=True)
    shown = rendered(prompt, answers("*A*", "B"), answers(id="unknown"))
    assert "**Question** (several may be chosen)\n\nPick\n\n- a\n\n<!-- -->\n\n- **\\*A\\***\n- **B**\n" in shown
    assert "**Answer** to “Pick”\n\n- [x] \\*A\\*\n- [x] B\n" in shown
    assert "\n**Answer**: *none*\n" in shown


def test_system_events_are_shown_on_request_and_raw_records_only_by_name() -> None:
    talk = [info("x", subtype="hook", level="warn"), info("a\nb", events.SYSTEM_MESSAGE), raw("new-*type*")]
    assert rendered(*talk) == ""
    assert rendered(user("hi", at=None), *talk, user("yo"), system_events=True) == (
        "\n# User\n\nhi\n"
        "\n> *System warn hook:* x\n"
        "\n<details>\n<summary>System</summary>\n\n```\na\nb\n```\n\n</details>\n"
        "\n> *Unknown record:* `new-*type*`\n"
        "\nyo\n"
    )


def test_an_approved_plan_is_part_of_the_conversation() -> None:
    shown = rendered(user("go", at=None), info("# Plan\n\n1. a", subtype="approved-plan"), user("on"))
    assert shown == "\n# User\n\ngo\n\n**Approved plan**\n\n## Plan\n\n1. a\n\non\n"


def test_a_message_that_an_answer_follows_is_shown_whoever_sent_it() -> None:
    for subtype, title in (("peer", "Message of another session"), ("channel-message", "Message from a channel")):
        assert rendered(info("Is it done?", subtype=subtype)) == f"\n**{title}**\n\nIs it done?\n"
    assert rendered(info("a task ended", subtype="task-notification")) == ""


def test_a_plan_is_called_a_plan() -> None:
    plan = asks("1. do", ("approve", ""), ("reject", ""))
    plan["payload"]["decisionKey"] = events.PLAN_APPROVAL
    assert "\n\n**Plan for approval**\n\n1. do\n\n" in rendered(plan)


def test_a_recording_says_where_its_conversation_goes_on() -> None:
    shown = rendered(info("The conversation goes on in session 1f", subtype="continued-in"))
    assert shown == "\n**Continued elsewhere**\n\nThe conversation goes on in session 1f\n"


def test_what_a_sub_agent_was_asked_is_shown() -> None:
    """Its own recording would begin with an answer, and nobody else's holds the question."""
    shown = rendered(info("Look at\nthe tests.", subtype="agent-prompt"), says("They pass."))
    assert shown.startswith("\n**Prompt of another agent**\n\nLook at\nthe tests.\n\n# ")


def test_results_are_cut_at_the_limit_and_say_so() -> None:
    shown = rendered(returns("abcdefghij"), tool_result_limit=4)
    assert "```\nabcd\n```\n\n… (6 characters more)\n\n</details>\n" in shown
    assert "abcdefghij" in rendered(returns("abcdefghij"), tool_result_limit="all")


def test_a_result_names_its_call_or_its_id() -> None:
    assert "<summary>Result of Grep: x&lt;y</summary>" in rendered(calls("Grep", {"pattern": "x<y"}), returns("z"))
    assert "<summary>Result of call c1</summary>" in rendered(returns("z"))


def test_open_calls_are_bounded_and_the_state_is_never_changed_in_place() -> None:
    writer = writer_for("markdown", RecordSettings())
    first = state = writer.begin()
    for number in range(100):
        known = dict(state["open"])
        after, _ = writer.render(state, calls("Bash", {"command": "x" * 500}, id=f"{number}" * 200))
        assert state["open"] == known
        state = after
    assert first == writer.begin()
    assert len(state["open"]) == 32
    assert len(str(state)) < 10_000


def test_a_text_that_starts_indented_does_not_join_the_list_before_it() -> None:
    shown = rendered(says("- a"), says("    <b>"), says("- c"), says("d"))
    assert shown.partition("\n\n")[2] == "- a\n\n<!-- -->\n\n    <b>\n\n<!-- -->\n\n- c\n\nd\n"


def test_italic_user_text_leaves_code_and_markup_alone() -> None:
    text = "Please look.\nNow!\n\n```\nx\n```\n\n- a\n\n*so*\n\n<b>"
    shown = rendered(user(text, at=None), says("x"), italic_user_text=True)
    assert shown.startswith("\n# User\n\n*Please look.\nNow!*\n\n```\nx\n```\n\n- a\n\n*so*\n\n*\\<b>*\n")
    assert shown.endswith("\nx\n")
