"""Tool calls and results as people read them: which tool is shown how is one table.

Every renderer takes the call's input and gives a `View`, or None when the input has not the shape it knows; such a
call, like one of a tool nobody has listed, is shown as JSON.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from kato_tui.core.record import diffs
from kato_tui.core.record.markdown_text import block, code, fence, line, plain, title

Input = dict[str, Any]
_MAX_ID: Final = 80
_MAX_HINT: Final = 80
_PLAIN_FIELD = re.compile(r"-{0,2}\w[\w-]*")


@dataclass(frozen=True, slots=True)
class View:
    """A call: what stands after the tool's name in the line that is always seen, and what unfolds."""

    detail: str
    body: str
    #: Shown as one line instead of a fold.
    single: bool = False


Renderer = Callable[[Input], View | None]


def call_view(name: str, given: Any) -> View:
    """How to show a call of the tool `name` with the input `given`."""
    renderer = TOOLS.get(name) or (None if name.startswith("mcp__") else TOOLS.get(name.rpartition(".")[2]))
    view = renderer(given) if renderer is not None and isinstance(given, dict) else None
    if view is None:
        view = View(_hint(given), _json(given) if given not in (None, {}, "") else "")
    return view if view.body else replace(view, single=True)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result: what stands after its title in brackets, and what unfolds; with neither it is not worth a block."""

    note: str
    body: str
    #: Nothing but the id of the sub-agent that was started: one line instead of a fold.
    pointer: str = ""


def result_view(name: str, payload: dict[str, Any], limit: int | None) -> Outcome:
    """What a result printed, or failing that its fields, up to `limit` characters."""
    text = payload.get("text")
    note, printed = _unwrapped(text) if isinstance(text, str) else ("", "")
    fields = payload.get("json")
    prose = _is_agent(name) and _parsed(printed) is None
    if _is_agent(name):
        pointer = _agent_id(_parsed(printed))
        if pointer:
            return Outcome("", "", pointer)
        note = _agent_note(fields)
    if printed.strip():
        shown, rest = cut(printed, limit)
        # A sub-agent answers in prose, all others print.
        body = block(shown) if prose else fence(shown)
    elif fields is not None and (payload.get("isError") or not _is_command(name)):
        shown, rest = cut(_dumped(fields), limit)
        body = fence(shown, "json")
    elif _is_edit(name) and not payload.get("isError"):
        return Outcome(note, "")
    else:
        return Outcome(note, "*Nothing printed.*")
    return Outcome(note, f"{body}\n\n{rest}" if rest else body)


#: What Codex puts around the output of a command, for the model: of this, people miss only how it ended.
_WRAPPER = re.compile(
    r"(?:(?:Chunk ID: .*|Wall time:? .*|Original token count: .*|Script completed"
    r"|(?:Exit code: |Process exited with code )(?P<code>-?\d+)"
    r"|Process running with session ID (?P<session>\S+))\n)+Output:(?:\n|$)"
)


def _unwrapped(text: str) -> tuple[str, str]:
    """How a command ended, where that is worth saying, and what it printed."""
    wrapper = _WRAPPER.match(text)
    if wrapper is None:
        return "", text
    note = ""
    if wrapper["session"]:
        note = f"still running as session {wrapper['session']}"
    elif wrapper["code"] not in (None, "0"):
        note = f"exit code {wrapper['code']}"
    return note, text[wrapper.end() :]


def _is_agent(name: str) -> bool:
    return name.rpartition(".")[2] in AGENTS


def _parsed(text: str) -> Any:
    """The fields of a result that is JSON and nothing else."""
    if not text.startswith("{"):
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _agent_id(fields: Any) -> str:
    """Where the work of a sub-agent is to be found."""
    return line(_first(fields, "agentId", "agent_id", "task_name"), _MAX_ID) if isinstance(fields, dict) else ""


def _agent_note(fields: Any) -> str:
    found = _agent_id(fields)
    return f"agent {found}" if found else ""


def _is_command(name: str) -> bool:
    """Whether what is left of a silent result are only flags of the tool, such as `interrupted`."""
    return TOOLS.get(name) is _shell


def _is_edit(name: str) -> bool:
    """Whether the call has shown the change already, so that silence means only that it was made."""
    return TOOLS.get(name) in (_edit, _write, _patch)


def cut(text: str, limit: int | None) -> tuple[str, str]:
    """`text` up to `limit` characters, and the line that says how much is missing."""
    if limit is None or len(text) <= limit:
        return text, ""
    return text[:limit], f"… ({len(text) - limit} characters more)"


def _dumped(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode()


def _json(value: Any) -> str:
    return fence(_dumped(value), "json")


def _first(given: Input, *keys: str) -> str:
    """The first of the fields that holds text."""
    return next((value for key in keys if isinstance(value := given.get(key), str) and value.strip()), "")


def _shell(given: Input) -> View | None:
    command = given.get("command", given.get("cmd"))
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        if command[0] == "apply_patch" and len(command) == 2:
            return _patch({"input": command[1]})
        # ["bash", "-lc", "script"]: the shell around it is the same every time.
        script = command[2] if len(command) == 3 and command[1] in ("-c", "-lc") else shlex.join(command)
    elif isinstance(command, str) and command.strip():
        script = command
    else:
        return None
    return View(_first(given, "description") or script, fence(script, "sh"))


def _script(language: str, *keys: str) -> Renderer:
    def render(given: Input) -> View | None:
        source = _first(given, *keys)
        return View(source, fence(source, language)) if source else None

    return render


#: What a script of Codex's code mode does is what it asks its tools for.
_ASKED = re.compile(r"""\b(?:cmd|command)["']?\s*:\s*(["'`])((?:\\.|(?!\1)[^\\\n]){1,400})\1|\btools\.(\w+)\(""")
_ESCAPED = re.compile(r"\\(.)")
_MAX_SCRIPT: Final = 20_000


def _code_mode(given: Input) -> View | None:
    """Named by its first command, else by the first tool it calls: its first line is nearly always the same."""
    source = _first(given, "input", "source", "code")
    asked = list(_ASKED.finditer(source, 0, _MAX_SCRIPT))
    commands = [_ESCAPED.sub(_unescaped, found[2]) for found in asked if found[2]]
    tools = [found[3] for found in asked if found[3] and found[3] != "exec_command"]
    name = commands[0] if commands else tools[0] if tools else source
    more = f" (+{len(commands) - 1} more)" if len(commands) > 1 else ""
    shown = line(name, _MAX_HINT)
    return View(f"{shown}{more}", fence(source, "js")) if source else None


def _unescaped(escape: re.Match[str]) -> str:
    return "\n" if escape[1] == "n" else escape[1]


def _message(given: Input) -> View | None:
    """What one agent writes to another."""
    to, words = _first(given, "to", "recipient"), _first(given, "message", "content")
    return (
        View(": ".join(filter(None, (to, _first(given, "summary") or title(words)))), block(words)) if words else None
    )


def _hint(given: Any) -> str:
    """For a tool that nobody has listed: its first short text, such as a name, an id, a path or a question."""
    values = given.values() if isinstance(given, dict) else ()
    return next((shown for value in values if isinstance(value, str) and (shown := line(value, _MAX_HINT))), "")


def _stdin(given: Input) -> View | None:
    typed = given.get("chars")
    if not isinstance(typed, str):
        return None
    return View(f"session {given.get('session_id')}", fence(typed) if typed else "*Nothing typed: waiting for output.*")


def _edit(given: Input) -> View | None:
    path = _first(given, "file_path", "notebook_path", "path")
    edits = given.get("edits", [given])
    if not path or not isinstance(edits, list):
        return None
    hunks: list[str] = []
    for edit in edits:
        old, new = (edit.get("old_string"), edit.get("new_string")) if isinstance(edit, dict) else (None, None)
        if not isinstance(old, str) or not isinstance(new, str):
            return None
        hunks.append(diffs.replaced(old, new))
    return View(path, fence("\n".join([diffs.header(path), *filter(None, hunks)]), "diff"))


def _write(given: Input) -> View | None:
    path, content = _first(given, "file_path", "notebook_path", "path"), given.get("content", given.get("new_source"))
    if not path or not isinstance(content, str):
        return None
    return View(path, fence(f"{diffs.header(path)}\n{diffs.written(content)}", "diff"))


def _patch(given: Input) -> View | None:
    changes = given.get("changes")
    if isinstance(changes, dict) and changes:
        pieces = [diffs.changed(path, change) for path, change in changes.items()]
        body = "\n".join(piece for piece in pieces if piece)
        return View(", ".join(changes), fence(body, "diff")) if all(pieces) else None
    patch = _first(given, "input", "patch")
    return View(", ".join(_patched_files(patch)), fence(patch, "diff")) if patch else None


_PATCH_FILES: Final = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")


def _patched_files(patch: str) -> list[str]:
    rows = (row for row in patch.splitlines() if row.startswith("*** "))
    return [row.removeprefix(start) for row in rows for start in _PATCH_FILES if row.startswith(start)]


def _fields(*keys: str) -> Renderer:
    """Reads and searches: the field that tells most goes up, all of them are listed."""

    def render(given: Input) -> View | None:
        if not all(_is_scalar(part) for value in given.values() for part in _parts(value)):
            return None
        rows = [
            f"- {_field_name(key)}: {', '.join(code(_scalar(part)) for part in _parts(value))}"
            for key, value in given.items()
            if value not in ("", [])
        ]
        return View(_first(given, *keys), "\n".join(rows))

    return render


def _field_name(key: str) -> str:
    """As it is, or as code where it could begin a list or a heading in its line."""
    return plain(key) if _PLAIN_FIELD.fullmatch(key) else code(key)


def _parts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_scalar(value: object) -> bool:
    return isinstance(value, (str, int, float, bool))


def _scalar(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


#: How the statuses of the three providers look in a task list; anything else is a task to do.
_DONE: Final = frozenset(("completed", "done"))
_NOTES: Final = {"in_progress": " (in progress)", "cancelled": " (cancelled)", "blocked": " (blocked)"}


def _tasks(items: str, *labels: str) -> Renderer:
    def render(given: Input) -> View | None:
        tasks = given.get(items)
        if not isinstance(tasks, list) or not all(isinstance(task, dict) and _first(task, *labels) for task in tasks):
            return None
        done = sum(_first(task, "status") in _DONE for task in tasks)
        rows = [_task(_first(task, *labels), _first(task, "status")) for task in tasks]
        said = block(_first(given, "explanation"))
        body = "\n".join(rows)
        return View(f"{done} of {len(tasks)} done", f"{said}\n\n{body}" if said else body)

    return render


def _task(label: str, status: str) -> str:
    note = _NOTES.get(status, "")
    return f"- [{'x' if status in _DONE else ' '}] {plain(label)}{note}"


def _plan(given: Input) -> View | None:
    plan = _first(given, "plan")
    return View(title(plan), block(plan)) if plan else None


def _agent(given: Input) -> View | None:
    """One line: a sub-agent's own work is a session of its own."""
    kind = _first(given, "subagent_type", "agent_type", "agent_name", "target")
    task = _first(given, "description", "task_name", "objective", "name", "message", "prompt")
    detail = f"{kind}: {task}" if kind and task else kind or task
    return View(detail, "", single=True) if detail else None


AGENTS: Final = frozenset(("Task", "Agent", "spawn_agent", "delegate_to_agent", "invoke_agent"))
#: Their results only say that the list was taken; a failure is shown all the same.
QUIET: Final = frozenset(("TodoWrite", "update_plan", "write_todos"))

TOOLS: Final[dict[str, Renderer]] = {
    # Commands: Claude, Codex (four generations), Gemini.
    "Bash": _shell,
    "shell": _shell,
    "shell_command": _shell,
    "exec_command": _shell,
    "local_shell": _shell,
    "container.exec": _shell,
    "run_shell_command": _shell,
    "run_command": _shell,
    "Monitor": _shell,
    "exec": _code_mode,
    "Workflow": _script("js", "script"),
    "write_stdin": _stdin,
    # Edits.
    "Edit": _edit,
    "MultiEdit": _edit,
    "replace": _edit,
    "edit": _edit,
    "Write": _write,
    "NotebookEdit": _write,
    "write_file": _write,
    "apply_patch": _patch,
    "FileChange": _patch,
    # Reads.
    "Read": _fields("file_path"),
    "NotebookRead": _fields("notebook_path"),
    "LS": _fields("path"),
    "read_file": _fields("file_path", "absolute_path", "path"),
    "list_directory": _fields("dir_path", "path"),
    "view_image": _fields("path"),
    "BashOutput": _fields("bash_id"),
    "TaskOutput": _fields("task_id"),
    "TaskGet": _fields("taskId"),
    "KillShell": _fields("shell_id"),
    "KillBash": _fields("shell_id"),
    "TaskStop": _fields("task_id", "taskId"),
    "wait": _fields("cell_id"),
    "wait_agent": _fields("target"),
    "update_topic": _fields("title"),
    # Searches.
    "Grep": _fields("pattern"),
    "Glob": _fields("pattern"),
    "glob": _fields("pattern"),
    "grep_search": _fields("pattern"),
    "search_file_content": _fields("pattern"),
    "ToolSearch": _fields("query"),
    "WebSearch": _fields("query"),
    "web_search": _fields("query", "url"),
    "google_web_search": _fields("query"),
    "WebFetch": _fields("url"),
    "web_fetch": _fields("url", "prompt"),
    # Lists and plans.
    "TodoWrite": _tasks("todos", "content"),
    "write_todos": _tasks("todos", "description"),
    "update_plan": _tasks("plan", "step"),
    "TaskCreate": _fields("subject"),
    "TaskUpdate": _fields("status"),
    "ExitPlanMode": _plan,
    "Skill": _fields("skill"),
    # Other agents.
    **dict.fromkeys(AGENTS, _agent),
    "SendMessage": _message,
    "collaboration.send_message": _agent,
    "collaboration.followup_task": _agent,
}
