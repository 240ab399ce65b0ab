"""How the tools of the three providers look."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.talk import calls, rendered, returns

_PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"

#: (tool, input, what the summary says, what unfolds)
FOLDS: list[tuple[str, Any, str, str]] = [
    ("Bash", {"command": "ls -l\npwd", "description": "Look"}, "Bash: Look", "```sh\nls -l\npwd\n```"),
    ("shell", {"command": ["bash", "-lc", "ls | wc"]}, "shell: ls | wc", "```sh\nls | wc\n```"),
    ("shell", {"command": ["git", "log", "a b"]}, "shell: git log 'a b'", "```sh\ngit log 'a b'\n```"),
    ("shell", {"command": ["apply_patch", _PATCH]}, "shell: a.py", f"```diff\n{_PATCH}\n```"),
    ("exec_command", {"cmd": "ls"}, "exec_command: ls", "```sh\nls\n```"),
    ("local_shell", {"command": ["ls"]}, "local_shell: ls", "```sh\nls\n```"),
    ("run_shell_command", {"command": "ls"}, "run_shell_command: ls", "```sh\nls\n```"),
    ("functions.exec", {"source": "text(1)"}, "functions.exec: text(1)", "```js\ntext(1)\n```"),
    ("write_stdin", {"session_id": 3, "chars": "y\n"}, "write_stdin: session 3", "```\ny\n```"),
    (
        "MultiEdit",
        {"file_path": "a", "edits": [{"old_string": "x\n", "new_string": ""}, {"old_string": "1", "new_string": "2"}]},
        "MultiEdit: a",
        "```diff\n--- a\n+++ a\n@@\n-x\n@@\n-1\n+2\n```",
    ),
    ("replace", {"file_path": "a", "old_string": "x", "new_string": "y"}, "replace: a", ""),
    ("Write", {"file_path": "a", "content": "x\n```\n"}, "Write: a", "````diff\n--- a\n+++ a\n+x\n+```\n````"),
    ("write_file", {"file_path": "a", "content": ""}, "write_file: a", "```diff\n--- a\n+++ a\n```"),
    ("apply_patch", {"input": _PATCH}, "apply_patch: a.py", f"```diff\n{_PATCH}\n```"),
    (
        "apply_patch",
        {
            "changes": {
                "a": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-x\n+y\n", "move_path": "b"},
                "c": {"type": "add", "content": "z\n"},
                "d": {"type": "delete", "content": "w\n"},
            }
        },
        "apply_patch: a, c, d",
        "```diff\n--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n--- c\n+++ c\n+z\n--- d\n+++ d\n-w\n```",
    ),
    ("Read", {"file_path": "/a_b", "offset": 3}, "Read: /a_b", "- file_path: `/a_b`\n- offset: `3`"),
    ("Grep", {"pattern": "a`b", "-n": True}, "Grep: a`b", "- pattern: ``a`b``\n- -n: `true`"),
    ("web_search", {"type": "search", "query": "q"}, "web_search: q", "- type: `search`\n- query: `q`"),
    ("WebFetch", {"url": "https://a.b", "prompt": "p"}, "WebFetch: https://a.b", ""),
    (
        "TodoWrite",
        {"todos": [{"content": "*a*", "status": "completed"}, {"content": "b", "status": "in_progress"}]},
        "TodoWrite: 1 of 2 done",
        "- [x] \\*a\\*\n- [ ] b (in progress)",
    ),
    (
        "update_plan",
        {"explanation": "So:", "plan": [{"step": "a", "status": "pending"}]},
        "update_plan: 0 of 1 done",
        "So:\n\n- [ ] a",
    ),
    ("write_todos", {"todos": [{"description": "a", "status": "cancelled"}]}, "write_todos: 0 of 1 done", ""),
    ("ExitPlanMode", {"plan": "# Plan\n\n- a"}, "ExitPlanMode: Plan", "## Plan\n\n- a"),
    ("mcp__x__y", {"a": [1]}, "mcp__x__y", '```json\n{\n  "a": [\n    1\n  ]\n}\n```'),
    ("mcp__x__get", {"n": 1, "id": "ENT-9"}, "mcp__x__get: ENT-9", '```json\n{\n  "n": 1,\n  "id": "ENT-9"\n}\n```'),
    ("web_search", {"query": "q", "queries": ["q", "r"]}, "web_search: q", "- query: `q`\n- queries: `q`, `r`"),
    ("SendMessage", {"to": "alice", "message": "Go **on**."}, "SendMessage: alice: Go **on**.", "Go **on**."),
    (
        "exec",
        {"input": "const r = await tools.exec_command({\n  cmd: 'git log',\n});"},
        "exec: git log",
        "```js\nconst r = await tools.exec_command({\n  cmd: 'git log',\n});\n```",
    ),
    ("exec", {"input": r'tools.exec_command({"cmd":"rg \"a b\" src","workdir":"/w"})'}, 'exec: rg "a b" src', ""),
    ("exec", {"input": 'run({cmd: "ls"}, {cmd: "pwd"})'}, "exec: ls (+1 more)", ""),
    ("exec", {"input": "const d = await tools.mcp__x__search({q: 1})"}, "exec: mcp__x__search", ""),
]


@pytest.mark.parametrize(("name", "given", "summary", "body"), FOLDS, ids=[f"{f[0]}-{n}" for n, f in enumerate(FOLDS)])
def test_a_call_unfolds_to_what_it_did(name: str, given: Any, summary: str, body: str) -> None:
    shown = rendered(calls(name, given)).partition("\n\n")[2]
    assert shown.startswith(f"<details>\n<summary>{summary}</summary>\n\n{body}")
    assert shown.endswith(f"{body}\n\n</details>\n" if body else "\n\n</details>\n")


def test_a_call_without_input_has_nothing_to_unfold() -> None:
    assert rendered(calls("TaskList", {})).endswith("\n\n**TaskList**\n")


@pytest.mark.parametrize(
    ("name", "given", "line"),
    [
        (
            "Task",
            {"subagent_type": "Explore", "description": "find *it*", "prompt": "…"},
            "**Task** Explore: find \\*it\\*",
        ),
        ("collaboration.spawn_agent", {"message": "do\nit"}, "**collaboration.spawn_agent** do"),
        ("delegate_to_agent", {"agent_name": "a", "objective": "b"}, "**delegate_to_agent** a: b"),
    ],
)
def test_a_sub_agent_is_one_line(name: str, given: Any, line: str) -> None:
    assert rendered(calls(name, given)).endswith(f"\n\n{line}\n")


def test_a_sub_agents_result_is_prose_and_points_to_it() -> None:
    talk = [calls("Task", {"description": "find it"}), returns("Found **it**.\n```\nx", json={"agentId": "a1b2"})]
    assert rendered(*talk).endswith(
        "\n\n<details>\n<summary>Result of Task: find it (agent a1b2)</summary>\n\n"
        "Found **it**.\n```\nx\n```\n\n</details>\n"
    )


@pytest.mark.parametrize("answer", ['{"agent_id":"019f","nickname":"Sartre"}', '{"task_name":"019f"}'])
def test_a_sub_agent_that_was_only_started_is_pointed_to_in_one_line(answer: str) -> None:
    talk = [calls("spawn_agent", {"message": "look"}), returns(answer)]
    assert rendered(*talk).endswith("\n\n**spawn_agent** look\n\n**spawn_agent** look → agent `019f`\n")


@pytest.mark.parametrize(
    ("text", "note", "printed"),
    [
        ("Chunk ID: 1a\nWall time: 0.0 seconds\nProcess exited with code 0\nOutput:\na\n", "", "```\na\n```"),
        ("Exit code: 2\nWall time: 1 seconds\nOutput:\nno", " (exit code 2)", "```\nno\n```"),
        ("Process running with session ID 7\nOutput:\n", " (still running as session 7)", "*Nothing printed.*"),
        ("Script completed\nWall time 0.2 seconds\nOutput:\nx", "", "```\nx\n```"),
        ("Process exited with code 0\nOriginal token count: 0\nOutput:", "", "*Nothing printed.*"),
        ("Output:\nx", "", "```\nOutput:\nx\n```"),
        ("Exit code: 2\nno output", "", "```\nExit code: 2\nno output\n```"),
    ],
)
def test_what_codex_wraps_around_an_output_is_read_and_not_shown(text: str, note: str, printed: str) -> None:
    shown = rendered(calls("exec_command", {"cmd": "ls"}), returns(text))
    assert f"<summary>Result of exec_command: ls{note}</summary>\n\n{printed}\n\n</details>" in shown


@pytest.mark.parametrize(
    "given", [None, [], "text", 3, {"command": {}}, {"edits": [1], "file_path": "a"}, {"todos": 1}]
)
@pytest.mark.parametrize("name", ["Bash", "Edit", "Write", "apply_patch", "Read", "TodoWrite", "Task", "write_stdin"])
def test_an_input_of_another_shape_is_shown_as_json(name: str, given: Any) -> None:
    shown = rendered(calls(name, given))
    assert f"<summary>{name}" in shown or f"**{name}**" in shown
    assert ("```json" in shown) == (given not in (None, {}) and given != "") or name == "Read"


def test_a_result_without_text_shows_its_fields_unless_a_command_printed_nothing() -> None:
    assert '```json\n{\n  "a": 1\n}\n```' in rendered(returns(None, json={"a": 1}))
    quiet = rendered(calls("Bash", {"command": "true"}), returns(None, json={"interrupted": False}))
    assert "*Nothing printed.*" in quiet
    assert "interrupted" not in quiet


def test_that_a_task_list_was_taken_is_not_worth_a_block_but_a_failure_is() -> None:
    taken = [calls("TodoWrite", {"todos": []}), returns("Todos have been modified")]
    assert "modified" not in rendered(*taken)
    assert "Error from TodoWrite" in rendered(taken[0], returns("no such list", isError=True))


def test_a_change_that_was_made_in_silence_is_shown_once() -> None:
    change = calls("apply_patch", {"input": _PATCH})
    assert rendered(change, returns("")) == rendered(change)
    assert "*Nothing printed.*" in rendered(change, returns("", isError=True))


def test_a_small_change_in_a_large_edit_keeps_its_context_short() -> None:
    rows = [f"row {number}" for number in range(500)]
    old, new = "\n".join(rows), "\n".join([*rows[:250], "changed", *rows[251:]])
    shown = rendered(calls("Edit", {"file_path": "a", "old_string": old, "new_string": new}))
    assert "@@\n row 247\n row 248\n row 249\n-row 250\n+changed\n row 251\n row 252\n row 253\n```" in shown


def test_a_huge_rewrite_is_old_then_new() -> None:
    old, new = "".join(f"a{n}\n" for n in range(200)), "".join(f"b{n}\n" for n in range(200))
    shown = rendered(calls("Edit", {"file_path": "a", "old_string": old, "new_string": new}))
    assert shown.index("-a199") < shown.index("+b0")
