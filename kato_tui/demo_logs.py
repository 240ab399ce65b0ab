"""The pens of the demonstration: write log files exactly as the assistants do today, record by record.

Claude Code 2.1.2xx, Codex in its paginated and its legacy form, Gemini CLI's JSONL. Ids are counted and times come
from a clock, so that a demonstration can be played twice alike.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import orjson

from kato_tui.core.clock import stamp

Record = dict[str, Any]
Now = Callable[[], datetime]

_NAMESPACE: Final = uuid.UUID("0d3a0000-0000-4000-8000-00000000de30")


class Log:
    """One log file that grows. Each record is one line, written at once, as the assistants do it."""

    def __init__(self, path: Path, session: str, now: Now) -> None:
        self.path = path
        self.session = session
        self._now = now
        self._count = 0
        path.parent.mkdir(parents=True, exist_ok=True)

    def append(self, *records: Record) -> None:
        with self.path.open("ab") as file:
            file.write(b"".join(orjson.dumps(record) + b"\n" for record in records))

    def truncate(self, lines: int) -> None:
        """Take the last lines back, in place: what Claude Code does with a reply whose stream broke."""
        kept = self.path.read_bytes().splitlines(keepends=True)[:-lines]
        with self.path.open("r+b") as file:
            file.truncate(sum(map(len, kept)))

    def new_id(self) -> str:
        self._count += 1
        return str(uuid.uuid5(_NAMESPACE, f"{self.session} {self._count}"))

    def at(self) -> str:
        return stamp(self._now())


class ClaudeLog(Log):
    """A transcript of Claude Code: one content block a line, chained by uuid."""

    def __init__(self, home: Path, cwd: Path, session: str, now: Now, branch: str) -> None:
        folder = "".join(char if char.isalnum() and char.isascii() else "-" for char in str(cwd))
        super().__init__(home / ".claude" / "projects" / folder / f"{session}.jsonl", session, now)
        self._cwd = str(cwd)
        self._branch = branch
        self._parent: str | None = None
        self._answers = 0

    def _chain(self, kind: str, **fields: Any) -> Record:
        record = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "type": kind,
            **fields,
            "uuid": self.new_id(),
            "timestamp": self.at(),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": self._cwd,
            "sessionId": self.session,
            "version": "2.1.252",
            "gitBranch": self._branch,
        }
        self._parent = record["uuid"]
        return record

    def _context(self) -> int:
        """Each answer has the one before in its context, until that is compacted."""
        self._answers += 1
        return 18200 + 2350 * (self._answers % 60)

    def user(self, text: str) -> None:
        message = {"role": "user", "content": text}
        self.append(self._chain("user", message=message, origin={"kind": "human"}, promptSource="typed"))

    def title(self, text: str) -> None:
        self.append({"type": "ai-title", "aiTitle": text, "sessionId": self.session})

    def _assistant(self, block: Record, stop: str) -> None:
        message = {
            "id": f"msg_{self.new_id()[:8]}",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-4-8",
            "content": [block],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 14, "output_tokens": 210, "cache_read_input_tokens": self._context()},
        }
        self.append(self._chain("assistant", message=message, requestId=f"req_{self.new_id()[:8]}"))

    def say(self, text: str) -> None:
        self._assistant({"type": "text", "text": text}, "end_turn")

    def call(self, name: str, **tool_input: Any) -> str:
        call_id = f"toolu_{self.new_id()[:8]}"
        self._assistant({"type": "tool_use", "id": call_id, "name": name, "input": tool_input}, "tool_use")
        return call_id

    def result(self, call_id: str, text: str, **extra: Any) -> None:
        block = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": False}
        detail = extra or {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        self.append(self._chain("user", message={"role": "user", "content": [block]}, toolUseResult=detail))

    def edit(self, path: str, old: str, new: str) -> str:
        return self.call("Edit", file_path=f"{self._cwd}/{path}", old_string=old, new_string=new)

    def edited(self, call_id: str, path: str, old: str, new: str) -> None:
        lines = [*(f"-{line}" for line in old.splitlines()), *(f"+{line}" for line in new.splitlines())]
        counts = {"oldStart": 12, "oldLines": len(old.splitlines()), "newStart": 12, "newLines": len(new.splitlines())}
        full = f"{self._cwd}/{path}"
        patch = [{**counts, "lines": lines}]
        told = f"The file {full} has been updated successfully."
        self.result(call_id, told, filePath=full, oldString=old, newString=new, structuredPatch=patch)

    def ask(self, question: str, *options: tuple[str, str]) -> str:
        listed = [{"label": label, "description": about} for label, about in options]
        asked = {"question": question, "header": "Choice", "multiSelect": False, "options": listed}
        return self.call("AskUserQuestion", questions=[asked])

    def answer(self, call_id: str, question: str, answer: str) -> None:
        text = f'User has answered your questions: "{question}"="{answer}".'
        self.result(call_id, text, questions=[], answers={question: answer})


class CodexLog(Log):
    """A rollout of Codex: paginated (since 0.147) with items, or legacy with events."""

    def __init__(self, home: Path, cwd: Path, session: str, now: Now, *, paginated: bool) -> None:
        begun = now()
        folder = home / ".codex" / "sessions" / f"{begun:%Y}" / f"{begun:%m}" / f"{begun:%d}"
        super().__init__(folder / f"rollout-{begun:%Y-%m-%dT%H-%M-%S}-{session}.jsonl", session, now)
        self._paginated = paginated
        self._ordinal = 0
        self._turns = 0
        self._spent: dict[str, int] = {}
        self._turn = ""
        self._cwd = str(cwd)
        meta = {
            "id": session,
            "timestamp": self.at(),
            "cwd": self._cwd,
            "originator": "codex-tui" if paginated else "codex_cli_rs",
            "cli_version": "0.154.0" if paginated else "0.140.0",
            "source": "cli",
            "model_provider": "openai",
            "git": {"branch": "export-csv" if paginated else "main"},
        }
        self._line("session_meta", meta | ({"history_mode": "paginated"} if paginated else {}))

    def _line(self, kind: str, payload: Record) -> None:
        record: Record = {"timestamp": self.at()}
        if self._paginated:
            record["ordinal"] = self._ordinal
            self._ordinal += 1
        self.append(record | {"type": kind, "payload": payload})

    def _event(self, kind: str, **fields: Any) -> None:
        self._line("event_msg", {"type": kind, **fields})

    def _item(self, kind: str, **fields: Any) -> None:
        done = int(self._now().timestamp() * 1000)
        item = {"type": kind, **fields}
        self._event("item_completed", thread_id=self.session, turn_id=self._turn, item=item, completed_at_ms=done)

    def user(self, text: str) -> None:
        self._turn = self.new_id()
        self._event("task_started", turn_id=self._turn, started_at=int(self._now().timestamp()))
        self._line("turn_context", {"turn_id": self._turn, "cwd": self._cwd, "model": "gpt-5.5", "effort": "medium"})
        content = [{"type": "input_text", "text": text}]
        self._line("response_item", {"type": "message", "role": "user", "content": content})
        if self._paginated:
            self._item("UserMessage", id=self.new_id(), content=[{"type": "text", "text": text, "text_elements": []}])
        else:
            self._event("user_message", message=text, images=[])

    def say(self, text: str) -> None:
        message_id = f"msg_{self.new_id()[:8]}"
        content = [{"type": "output_text", "text": text}]
        message = {"type": "message", "id": message_id, "role": "assistant", "content": content}
        self._line("response_item", {**message, "phase": "final_answer"})
        if self._paginated:
            said = [{"type": "Text", "text": text}]
            self._item("AgentMessage", id=message_id, content=said, phase="final_answer")
        else:
            self._event("agent_message", message=text, phase="final_answer")
        self._count_tokens()
        self._event("task_complete", turn_id=self._turn, last_agent_message=text)

    def _count_tokens(self) -> None:
        """What the turn cost, and how full the context is by now."""
        self._turns += 1
        last = {"input_tokens": 20600 + 4100 * (self._turns % 50), "cached_input_tokens": 19000, "output_tokens": 420}
        last |= {"reasoning_output_tokens": 160, "total_tokens": last["input_tokens"] + last["output_tokens"]}
        self._spent = {name: self._spent.get(name, 0) + count for name, count in last.items()}
        info = {"total_token_usage": self._spent, "last_token_usage": last, "model_context_window": 272000}
        self._event("token_count", info=info, rate_limits=None)

    def call(self, name: str, **arguments: Any) -> str:
        call_id = f"call_{self.new_id()[:8]}"
        packed = orjson.dumps(arguments).decode()
        self._line("response_item", {"type": "function_call", "name": name, "arguments": packed, "call_id": call_id})
        return call_id

    def result(self, call_id: str, text: str) -> None:
        self._line("response_item", {"type": "function_call_output", "call_id": call_id, "output": text})

    def ask(self, question: str, *options: tuple[str, str]) -> str:
        listed = [{"label": label, "description": about} for label, about in options]
        asked = {"id": "q1", "header": "Choice", "question": question, "options": listed}
        return self.call("request_user_input", questions=[asked])

    def answer(self, call_id: str, question: str, answer: str) -> None:  # noqa: ARG002
        self.result(call_id, orjson.dumps({"answers": {"q1": {"answers": [answer]}}}).decode())


class GeminiLog(Log):
    """A chat of Gemini CLI 0.39 and later: JSONL in which later lines replace or take back earlier ones."""

    def __init__(self, home: Path, cwd: Path, session: str, now: Now) -> None:
        begun = now()
        project = home / ".gemini" / "tmp" / cwd.name
        name = f"session-{begun:%Y-%m-%dT%H-%M}-{session[:8]}.jsonl"
        super().__init__(project / "chats" / name, session, now)
        (project / ".project_root").write_text(f"{cwd}\n")
        self._open: Record = {}
        self.last_user = ""
        header = {"sessionId": session, "projectHash": "5a" * 32, "startTime": self.at(), "lastUpdated": self.at()}
        self.append({**header, "kind": "main"})

    def user(self, text: str) -> None:
        self.last_user = self.new_id()
        self._message({"id": self.last_user, "type": "user", "content": [{"text": text}]})

    def _message(self, message: Record) -> None:
        self.append({"timestamp": self.at(), **message}, {"$set": {"lastUpdated": self.at()}})

    def say(self, text: str) -> None:
        tokens = {"input": 5200, "output": 180, "cached": 4100, "thoughts": 40, "tool": 0, "total": 5420}
        fields = {"content": text, "tokens": tokens, "model": "gemini-3-pro"}
        self._message({"id": self.new_id(), "type": "gemini", **fields})

    def call(self, name: str, **arguments: Any) -> str:
        """The model's message without its result; the same message comes again with it."""
        call_id = f"{name}-{self.new_id()[:8]}"
        call = {"id": call_id, "name": name, "args": arguments}
        self._open = {
            "id": self.new_id(),
            "type": "gemini",
            "content": "",
            "model": "gemini-3-pro",
            "toolCalls": [call],
        }
        return call_id

    def result(self, call_id: str, text: str) -> None:
        call = self._open["toolCalls"][0]
        response = {"functionResponse": {"id": call_id, "name": call["name"], "response": {"output": text}}}
        ended = {**call, "result": [response], "status": "success", "timestamp": self.at(), "resultDisplay": text}
        self._message({**self._open, "toolCalls": [ended]})

    def rewind(self, message_id: str) -> None:
        self.append({"$rewindTo": message_id})
