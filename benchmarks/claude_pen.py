"""Transcripts of Claude Code in the proportions of real ones: half of the bytes are tool results.

Three generations: 1.0 (no authorship fields), 2.1.4x (many `progress` lines), 2.1.2xx (attachments, positive
authorship, book-keeping lines), and sub-agents of the newest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from benchmarks.pens import Pen, Record
from benchmarks.words import Words, length

VERSIONS: Final = ("2.1.252", "2.1.218", "2.1.41", "1.0.51")
_IMAGE_EVERY: Final = 400


class ClaudePen(Pen):
    def __init__(self, session: str, seed: int, words: Words, *, version: str = VERSIONS[0], agent: str = "") -> None:
        super().__init__(session, seed, words)
        self._version = version
        self._agent = agent
        self._parent: str | None = None
        self._rounds = 0
        self._attachments = version.startswith("2.1.2")
        self._progress = version == "2.1.41"

    def turns(self) -> Iterator[list[Record]]:
        if not self._agent:
            yield [{"type": "summary", "summary": self.words.prose(self.rng, 40), "leafUuid": self.new_id()}]
        while True:
            yield self._turn()

    def _turn(self) -> list[Record]:
        records = self._bookkeeping() if self._attachments and not self._agent else []
        records += [self._snapshot(), self._prompt()]
        for _ in range(self.rng.randint(2, 14)):
            records += self._round()
        said = {"type": "text", "text": self.words.prose(self.rng, length(self.rng, 700, 12_000, 0.9))}
        records.append(self._assistant(said, "end_turn"))
        if self._attachments:
            records.append(self._chain("system", subtype="turn_duration", durationMs=self.rng.randint(900, 90_000)))
        return records

    def _chain(self, kind: str, **fields: Any) -> Record:
        """Newer versions write the envelope's facts last, older ones first."""
        facts = {
            "userType": "external",
            "entrypoint": "cli",
            "cwd": self._cwd,
            "sessionId": self.session,
            "version": self._version,
            "gitBranch": "main",
        }
        side = {"agentId": self._agent} if self._agent else {}
        head = {"parentUuid": self._parent, "isSidechain": bool(self._agent), **side}
        mark = {"uuid": self.new_id(), "timestamp": self.at()}
        self._parent = mark["uuid"]
        if self._attachments:
            return {**head, "type": kind, **fields, **mark, **facts}
        return {**head, **facts, "slug": "sunny-walking-otter", "type": kind, **fields, **mark}

    def _snapshot(self) -> Record:
        backups = {
            f"src/{number}.py": {"backupFileName": f"{self.rng.getrandbits(64):016x}@v1", "version": 1}
            for number in range(self.rng.randint(0, 12))
        }
        message = self.new_id()
        snapshot = {"messageId": message, "trackedFileBackups": backups, "timestamp": self.at()}
        return {
            "type": "file-history-snapshot",
            "messageId": message,
            "snapshot": snapshot,
            "isSnapshotUpdate": False,
        }

    def _bookkeeping(self) -> list[Record]:
        prompt = self.words.prose(self.rng, 150)
        return [
            {"type": "last-prompt", "lastPrompt": prompt, "leafUuid": self.new_id(), "sessionId": self.session},
            {"type": "ai-title", "aiTitle": prompt[:40].replace("\n", " "), "sessionId": self.session},
            {"type": "mode", "mode": "normal", "sessionId": self.session},
            {"type": "permission-mode", "permissionMode": "default", "sessionId": self.session},
        ]

    def _prompt(self) -> Record:
        text = self.words.prose(self.rng, length(self.rng, 220, 8000))
        sure = {"origin": {"kind": "human"}, "promptSource": "typed"} if self._attachments else {}
        return self._chain("user", message={"role": "user", "content": text}, **({} if self._agent else sure))

    def _assistant(self, block: Record, stop: str | None) -> Record:
        rng = self.rng
        message = {
            "model": "claude-opus-4-8",
            "id": f"msg_{rng.getrandbits(96):024x}",
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": stop if self._attachments else None,
            "stop_sequence": None,
            "usage": {
                "input_tokens": rng.randint(1, 90),
                "cache_creation_input_tokens": rng.randint(0, 9000),
                "cache_read_input_tokens": rng.randint(9000, 150_000),
                "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": rng.randint(0, 9000)},
                "output_tokens": rng.randint(1, 2000),
                "service_tier": "standard",
            },
        }
        return self._chain("assistant", message=message, requestId=f"req_{rng.getrandbits(96):024x}")

    def _round(self) -> list[Record]:
        """The assistant thinks or speaks, calls a tool and has its result."""
        rng = self.rng
        self._rounds += 1
        records: list[Record] = []
        if rng.random() < 0.42:
            thought = "" if rng.random() < 0.4 else self.words.prose(rng, length(rng, 600, 9000, 1.0))
            signature = self.words.base64(rng, length(rng, 900, 6000, 0.8))
            records.append(
                self._assistant({"type": "thinking", "thinking": thought, "signature": signature}, "tool_use")
            )
        elif rng.random() < 0.4:
            said = {"type": "text", "text": self.words.prose(rng, length(rng, 250, 4000, 0.8))}
            records.append(self._assistant(said, "tool_use"))
        call_id = f"toolu_{rng.getrandbits(96):024x}"
        tool = rng.choice(_TOOLS)
        call, result, extra = tool(self)
        records.append(self._assistant({"type": "tool_use", "id": call_id, **call}, "tool_use"))
        records += self._meanwhile(call_id)
        content: Any = result
        if self._rounds % _IMAGE_EVERY == 0:
            source = {"type": "base64", "media_type": "image/png", "data": self.words.base64(rng, 400_000)}
            content = [{"type": "text", "text": result}, {"type": "image", "source": source}]
        block = {"tool_use_id": call_id, "type": "tool_result", "content": content, "is_error": False}
        records.append(self._chain("user", message={"role": "user", "content": [block]}, toolUseResult=extra))
        return records

    def _meanwhile(self, call_id: str) -> list[Record]:
        rng = self.rng
        if self._progress:
            data = {
                "type": "bash_progress",
                "output": self.words.output(rng, length(rng, 300, 4000)),
                "fullOutput": self.words.output(rng, length(rng, 500, 8000)),
                "elapsedTimeSeconds": rng.randint(1, 60),
            }
            seen = {"toolUseID": f"bash-progress-{self._rounds}", "parentToolUseID": call_id}
            return [self._chain("progress", data=data, **seen) for _ in range(rng.choice((0, 0, 1, 3)))]
        if not self._attachments or rng.random() < 0.6:
            return []
        hook = {
            "type": "hook_success",
            "hookName": "PostToolUse:Bash",
            "toolUseID": call_id,
            "hookEvent": "PostToolUse",
            "content": "" if rng.random() < 0.8 else self.words.prose(rng, 200),
            "stdout": "{}",
            "stderr": "",
            "exitCode": 0,
            "command": 'node "${PLUGIN_ROOT}/hooks/after.mjs"',
            "durationMs": rng.randint(20, 400),
        }
        return [self._chain("attachment", attachment=hook)]


def _bash(pen: ClaudePen) -> tuple[Record, str, Record]:
    text = pen.words.output(pen.rng, length(pen.rng, 700, 30_000))
    command = {"command": pen.words.code(pen.rng, 120), "description": pen.words.prose(pen.rng, 40)}
    extra = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}
    return {"name": "Bash", "input": command}, text, extra


def _read(pen: ClaudePen) -> tuple[Record, str, Record]:
    text = pen.words.code(pen.rng, length(pen.rng, 3000, 100_000, 1.1))
    path = f"{pen._cwd}/src/module_{pen.rng.randint(1, 90)}.py"
    count = text.count("\n") + 1
    numbered = "\n".join(f"{number:>6}→{line}" for number, line in enumerate(text.split("\n"), 1))
    file = {"filePath": path, "content": text, "numLines": count, "startLine": 1, "totalLines": count}
    return {"name": "Read", "input": {"file_path": path}}, numbered, {"type": "text", "file": file}


def _edit(pen: ClaudePen) -> tuple[Record, str, Record]:
    rng = pen.rng
    path = f"{pen._cwd}/src/module_{rng.randint(1, 90)}.py"
    old, new = pen.words.code(rng, length(rng, 300, 6000)), pen.words.code(rng, length(rng, 400, 8000))
    original = pen.words.code(rng, length(rng, 4000, 60_000, 0.9))
    hunk = {"oldStart": 10, "oldLines": 6, "newStart": 10, "newLines": 8}
    patch = [{**hunk, "lines": [f"+{line}" for line in new.split("\n")]}]
    extra = {
        "filePath": path,
        "oldString": old,
        "newString": new,
        "originalFile": original,
        "structuredPatch": patch,
        "userModified": False,
        "replaceAll": False,
    }
    text = f"The file {path} has been updated. Here is a part of it:\n{new[:1500]}"
    call = {"name": "Edit", "input": {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}}
    return call, text, extra


def _grep(pen: ClaudePen) -> tuple[Record, str, Record]:
    text = pen.words.output(pen.rng, length(pen.rng, 900, 16_000))
    extra = {"mode": "content", "numFiles": 0, "filenames": [], "content": text, "numLines": text.count("\n")}
    return {"name": "Grep", "input": {"pattern": "cursor", "output_mode": "content"}}, text, extra


_TOOLS: Final[tuple[Callable[[ClaudePen], tuple[Record, str, Record]], ...]] = (_bash, _bash, _read, _edit, _grep)
