"""One small working day per assistant, in the records it would have logged: what golden recordings are made of.

Together they hold everything a recording shows: commands, edits, reads, searches, task lists, a plan, questions with
options and answers, thinking, an image, a sub-agent, a failure, and a result that comes after its turn has ended.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.machine import CLAUDE, CODEX, GEMINI, Place
from tests.unit import claude_log as claude
from tests.unit import codex_log as codex
from tests.unit import gemini_log as gemini

Records = list[dict[str, object]]

_OLD = "def total(rows):\n    return sum(rows[1:])\n"
_NEW = "def total(rows):\n    return sum(rows)\n"
_TODOS = [
    {"content": "Find the cause", "status": "completed", "activeForm": "Finding"},
    {"content": "Add a test", "status": "in_progress", "activeForm": "Adding"},
    {"content": "Tell <everyone>", "status": "pending", "activeForm": "Telling"},
]


def claude_day() -> Records:
    """Claude Code: every tool of its own, a plan, a question, a sub-agent, a screenshot."""
    asked = [claude.question("Keep the old name?", "Yes", "No")]
    picture = [claude.image(), claude.text("Why is the `total` wrong?\n\n```\n3 != 6\n```")]
    agent = {"status": "completed", "agentId": "a1b2c3d4", "content": []}

    def said(second: int, *blocks: claude.Record, stop: str | None = "tool_use") -> claude.Record:
        return claude.assistant(*blocks, uuid=f"a{second}", second=second, message=f"m{second}", stop=stop)

    def got(second: int, call_id: str, content: object, **fields: object) -> claude.Record:
        return claude.result(content, call_id, f"r{second}", second, **fields)  # type: ignore[arg-type]

    return [
        claude.typed(picture, "u0", 0),
        said(1, claude.thinking("A picture of a failing test.\n\nThe slice looks odd."), stop=None),
        said(2, claude.text("Let me look.")),
        said(3, claude.call("t1", "Read", file_path="/w/app_main.py", limit=20)),
        got(4, "t1", "     1\tdef total(rows):\n     2\t    return sum(rows[1:])\n"),
        said(5, claude.call("t2", "Grep", pattern="total\\(", path="/w", output_mode="content")),
        got(6, "t2", "app_main.py:1:def total(rows):"),
        said(7, claude.call("t3", "TodoWrite", todos=_TODOS)),
        got(8, "t3", "Todos have been modified successfully."),
        said(9, claude.call("t4", "Edit", file_path="/w/app_main.py", old_string=_OLD, new_string=_NEW)),
        got(10, "t4", "String to replace not found.", error=True),
        said(11, claude.call("t5", "Task", subagent_type="Explore", description="Find callers", prompt="Find them.")),
        got(12, "t5", [claude.text("Two callers:\n\n- `a.py`\n- `b.py`")], toolUseResult=agent),
        said(13, claude.call("t6", "ExitPlanMode", plan="# Plan\n\n1. Fix the slice\n2. Run the tests")),
        got(14, "t6", "User has approved your plan."),
        said(15, claude.call("t7", "AskUserQuestion", questions=asked)),
        got(16, "t7", "…", toolUseResult={"questions": asked, "answers": {"Keep the old name?": "Yes"}}),
        said(17, claude.call("t8", "Bash", command="pytest -q && git diff", description="Run the tests")),
        got(18, "t8", "1 passed\n```\nfenced output\n```", toolUseResult={"stdout": "", "interrupted": False}),
        said(
            19, claude.text("Fixed: the first row was left out.\n\n- one line changed\n- tests pass"), stop="end_turn"
        ),
        claude.typed("Thanks!\n::stop", "u20", 20),
    ]


def codex_day() -> Records:
    """Codex 0.147 and later: items with mirrors, code mode, a result that comes after its turn is over."""
    codex_at = _minutes("2026-09-20T12")
    question = {
        "id": "db",
        "header": "Store",
        "question": "Which store?",
        "options": [{"label": "SQLite", "description": "one file"}, {"label": "Files"}],
    }
    plan = {
        "explanation": "Two steps.",
        "plan": [{"step": "Add the table", "status": "completed"}, {"step": "Migrate", "status": "in_progress"}],
    }
    change = {"/w/store.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-db = None\n+db = connect()\n"}}
    reply = {"answers": {"db": {"answers": ["SQLite", "user_note: small is fine"]}}}

    def mirror(kind: str, item_id: str, text: str, minute: int, **fields: object) -> codex.Record:
        content = [{"type": "text" if kind == "UserMessage" else "Text", "text": text}]
        return codex.completed(kind, codex_at(minute), id=item_id, content=content, **fields)

    return [
        codex.meta(at=codex_at(0), history_mode="paginated", cli_version="0.154.0"),
        codex.context("gpt-5.5-codex"),
        codex.started(at=codex_at(0)),
        codex.user_item("# Context\nws", codex_at(0), kinds=["environments.environment_context"], id="env"),
        codex.user_item("Where do we store the notes?", codex_at(1), kinds=["user.text"], id="msg_u1"),
        mirror("UserMessage", "u1", "Where do we store the notes?", 1),
        codex.item(
            "reasoning", codex_at(2), id="rs_1", summary=[{"type": "summary_text", "text": "**Looking** around"}]
        ),
        codex.assistant_item("I'll look at the store first.", "commentary", codex_at(2), id="msg_1"),
        mirror("AgentMessage", "msg_1", "I'll look at the store first.", 2, phase="commentary"),
        codex.call("c1", arguments={"cmd": "cat store.py"}, at=codex_at(3)),
        codex.output("c1", "Process running with session ID 7\nOutput:\n", codex_at(3)),
        codex.call("c2", "request_user_input", {"questions": [question]}, codex_at(4)),
        codex.output("c2", json.dumps(reply), codex_at(5)),
        codex.call("c3", "update_plan", plan, codex_at(6)),
        codex.output("c3", "Plan updated", codex_at(6)),
        codex.completed("FileChange", codex_at(7), id="f1", changes=change, status="completed"),
        codex.item(
            "web_search_call",
            codex_at(7),
            id="ws_1",
            status="completed",
            action={"type": "search", "query": "sqlite wal"},
        ),
        codex.assistant_item("Notes now live in SQLite.", "final_answer", codex_at(8), id="msg_2"),
        mirror("AgentMessage", "msg_2", "Notes now live in SQLite.", 8, phase="final_answer"),
        codex.done(at=codex_at(8)),
        codex.event("exec_command_end", codex_at(9), call_id="c1", aggregated_output="db = None\n", exit_code=0),
        codex.started("t2", codex_at(10)),
        codex.user_item("Good.\n::stop", codex_at(10), kinds=["user.text"], id="msg_u2"),
        mirror("UserMessage", "u2", "Good.\n::stop", 10),
    ]


def codex_old_day() -> Records:
    """Codex up to 0.146: everything said twice, as an item and as an event, and a late output."""
    codex_at = _minutes("2025-11-25T10")
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"
    return [
        codex.meta(at=codex_at(0), cli_version="0.101.0"),
        codex.context("gpt-5.1-codex"),
        codex.started(at=codex_at(0)),
        *codex.prompt("Rename x to y", codex_at(1)),
        codex.event("agent_reasoning", codex_at(2), text="**Renaming**"),
        codex.item("reasoning", codex_at(2), summary=[{"type": "summary_text", "text": "**Renaming**"}]),
        codex.agent_event("On it.", "commentary", codex_at(2)),
        codex.assistant_item("On it.", "commentary", codex_at(2)),
        codex.item("custom_tool_call", codex_at(3), call_id="p1", name="apply_patch", input=patch),
        codex.event("patch_apply_end", codex_at(3), call_id="p1", stdout="Success.", success=True, changes={}),
        codex.item("custom_tool_call_output", codex_at(3), call_id="p1", output="Exit code: 0"),
        codex.call("s1", "shell", {"command": ["bash", "-lc", "make test"]}, codex_at(4)),
        codex.agent_event("Renamed; the tests still run.", "final_answer", codex_at(5)),
        codex.assistant_item("Renamed; the tests still run.", "final_answer", codex_at(5)),
        codex.done(at=codex_at(5)),
        codex.output("s1", json.dumps({"output": "ok\n", "metadata": {"exit_code": 0}}), codex_at(6)),
        *codex.prompt("And again", codex_at(7)),
        codex.agent_event("Renamed; the tests still run.", "final_answer", codex_at(8)),
        codex.assistant_item("Renamed; the tests still run.", "final_answer", codex_at(8)),
        codex.done(at=codex_at(8)),
    ]


def gemini_day() -> Records:
    """Gemini CLI: thoughts, calls with their results inside, a question, a task list, a delegated task."""
    listed = {"todos": [{"description": "Read", "status": "completed"}, {"description": "Write", "status": "pending"}]}
    edit = {"file_path": "/w/a.py", "old_string": _OLD, "new_string": _NEW, "instruction": "fix"}
    shell = {"command": "npm test", "description": "Run the tests"}
    answer = json.dumps({"answers": {"0": "Blue"}})
    return [
        gemini.header(),
        gemini.user("Pick a colour & fix the sum", "u1", 1),
        gemini.gemini(
            "I'll read it first.",
            "g1",
            2,
            thoughts=[gemini.thought("Reading", "It may be the slice.")],
            toolCalls=[
                gemini.call("c1", "read_file", "def total(rows):\n", args={"file_path": "/w/a.py"}),
                gemini.call("c2", "search_file_content", "Found 1 match", args={"pattern": "total", "path": "/w"}),
                gemini.call("c3", "write_todos", "Todos set.", args=listed),
            ],
        ),
        gemini.gemini(
            "",
            "g2",
            3,
            toolCalls=[gemini.ask(gemini.question("Which colour?", "Blue", "Red"), id="q1", output=answer)],
        ),
        gemini.gemini(
            "",
            "g3",
            4,
            toolCalls=[
                gemini.call("c4", "replace", "Successfully modified file", args=edit),
                gemini.call("c5", "run_shell_command", "Output: ok\nExit Code: 0", args=shell),
                gemini.call(
                    "c6",
                    "delegate_to_agent",
                    "All **good**.",
                    args={"agent_name": "reviewer", "objective": "Check the sum"},
                ),
            ],
        ),
        gemini.gemini("# Done\n\nBlue it is, and the sum is right.", "g4", 5),
        gemini.user("::stop", "u2", 6),
    ]


def _minutes(hour: str) -> Callable[[int], str]:
    return lambda minute: f"{hour}:{minute:02}:00.000Z"


SCENES: dict[str, tuple[Place, Records]] = {
    "claude": (CLAUDE, claude_day()),
    "codex": (CODEX, codex_day()),
    "codex-old": (CODEX, codex_old_day()),
    "gemini": (GEMINI, gemini_day()),
}
