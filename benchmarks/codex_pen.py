"""Rollouts of Codex in all generations: bare (<= 0.31), legacy with events (>= 0.32), paginated (>= 0.147)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import orjson

from benchmarks.pens import Pen, Record
from benchmarks.words import Words, length

Generation = Literal["bare", "legacy", "paginated"]


class CodexPen(Pen):
    def __init__(self, session: str, seed: int, words: Words, *, generation: Generation = "legacy") -> None:
        super().__init__(session, seed, words)
        self._generation = generation
        self._ordinal = 0
        self._turn = ""
        self._tokens = [0, 0, 0, 0]

    def turns(self) -> Iterator[list[Record]]:
        yield [self._meta()]
        while True:
            yield self._bare_turn() if self._generation == "bare" else self._enveloped_turn()

    def _meta(self) -> Record:
        if self._generation == "bare":
            git = {"branch": "main", "commit_hash": f"{self.rng.getrandbits(160):040x}"}
            return {"id": self.session, "timestamp": self.at(), "instructions": None, "git": git}
        paginated = self._generation == "paginated"
        payload = {
            "id": self.session,
            "timestamp": self.at(),
            "cwd": self._cwd,
            "originator": "codex-tui" if paginated else "codex_cli_rs",
            "cli_version": "0.154.0" if paginated else "0.140.0",
            "source": "cli",
            "model_provider": "openai",
            "base_instructions": {"text": self.words.prose(self.rng, 18_000)},
            "git": {"branch": "main"},
        }
        return self._line("session_meta", payload | ({"history_mode": "paginated"} if paginated else {}))

    def _line(self, kind: str, payload: Record) -> Record:
        record: Record = {"timestamp": self.at()}
        if self._generation == "paginated":
            record["ordinal"] = self._ordinal
            self._ordinal += 1
        return record | {"type": kind, "payload": payload}

    def _event(self, kind: str, **fields: Any) -> Record:
        return self._line("event_msg", {"type": kind, **fields})

    def _item(self, kind: str, **fields: Any) -> Record:
        item = {"type": kind, **fields}
        return self._event("item_completed", thread_id=self.session, turn_id=self._turn, item=item)

    def _response(self, kind: str, **fields: Any) -> Record:
        if self._generation == "bare":
            return {"type": kind, **fields}
        passed = {"internal_chat_message_metadata_passthrough": {"turn_id": self._turn}}
        return self._line("response_item", {"type": kind, **fields, **passed})

    def _message(self, role: str, text: str, **fields: Any) -> Record:
        kind = "output_text" if role == "assistant" else "input_text"
        named = {"id": f"msg_{self.rng.getrandbits(96):024x}"} if self._generation != "bare" else {}
        return self._response("message", **named, role=role, content=[{"type": kind, "text": text}], **fields)

    def _bare_turn(self) -> list[Record]:
        records = [self._message("user", self.words.prose(self.rng, length(self.rng, 220, 8000)))]
        for _ in range(self.rng.randint(2, 12)):
            records += [{"record_type": "state"}, self._reasoning(), *self._call()]
        return [*records, self._message("assistant", self.words.prose(self.rng, length(self.rng, 600, 9000, 0.9)))]

    def _enveloped_turn(self) -> list[Record]:
        self._turn = self.new_id()
        text = self.words.prose(self.rng, length(self.rng, 220, 8000))
        context = {
            "turn_id": self._turn,
            "cwd": self._cwd,
            "model": "gpt-5.5",
            "effort": "medium",
            "user_instructions": self.words.prose(self.rng, 1500),
        }
        records = [
            self._event("task_started", turn_id=self._turn, started_at=1784574469),
            self._line("turn_context", context),
            self._message("user", text),
            self._user(text),
        ]
        for _ in range(self.rng.randint(2, 12)):
            records += self._round()
        final = self.words.prose(self.rng, length(self.rng, 600, 9000, 0.9))
        records += self._say(final, "final_answer")
        records.append(self._event("task_complete", turn_id=self._turn, last_agent_message=final))
        return records

    def _user(self, text: str) -> Record:
        if self._generation == "paginated":
            content = [{"type": "text", "text": text, "text_elements": []}]
            return self._item("UserMessage", id=self.new_id(), content=content)
        return self._event("user_message", message=text, images=[], local_images=[], text_elements=[])

    def _say(self, text: str, phase: str) -> list[Record]:
        message = self._message("assistant", text, phase=phase)
        if self._generation == "paginated":
            said = [{"type": "Text", "text": text}]
            mirror = self._item("AgentMessage", id=message["payload"]["id"], content=said, phase=phase)
            return [message, mirror]
        return [self._event("agent_message", message=text, phase=phase), message]

    def _round(self) -> list[Record]:
        records = [self._reasoning()]
        if self._generation == "legacy" and self.rng.random() < 0.5:
            records.append(self._event("agent_reasoning", text=self.words.prose(self.rng, 90)))
        if self.rng.random() < 0.3:
            records += self._say(self.words.prose(self.rng, length(self.rng, 250, 2000, 0.7)), "commentary")
        records += self._call()
        return [*records, self._token_count()]

    def _reasoning(self) -> Record:
        summary = [{"type": "summary_text", "text": self.words.prose(self.rng, 120)}] if self.rng.random() < 0.5 else []
        # Of the samples only the bare one still has its sealed reasoning; redaction took it from the others.
        sealed = self.words.base64(self.rng, length(self.rng, 2500 if self._generation == "bare" else 700, 9000, 0.6))
        return self._response("reasoning", summary=summary, encrypted_content=sealed)

    def _call(self) -> list[Record]:
        rng = self.rng
        call_id = f"call_{rng.getrandbits(96):024x}"
        coded = rng.random() < 0.5
        # As in the samples: most outputs are short, and few hold most of the bytes; more so in code mode.
        text = self.words.output(rng, length(rng, 900, 75_000, 1.8) if coded else length(rng, 400, 75_000, 1.7))
        if coded:
            code = self.words.code(rng, length(rng, 400, 4000))
            result = [
                {"type": "input_text", "text": "Script completed\nWall time 0.2 seconds\nOutput:\n"},
                {"type": "input_text", "text": text},
            ]
            return [
                self._response("custom_tool_call", status="completed", call_id=call_id, name="exec", input=code),
                self._response("custom_tool_call_output", call_id=call_id, output=result),
            ]
        arguments = orjson.dumps({"cmd": self.words.code(rng, 150), "workdir": self._cwd}).decode()
        wrapped = f"Chunk ID: 1a2b3c\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n{text}"
        return [
            self._response("function_call", name="exec_command", arguments=arguments, call_id=call_id),
            self._response("function_call_output", call_id=call_id, output=wrapped),
        ]

    def _token_count(self) -> Record:
        rng = self.rng
        last = [rng.randint(9000, 90_000), rng.randint(1000, 8000), rng.randint(20, 900), rng.randint(0, 500)]
        self._tokens = [before + more for before, more in zip(self._tokens, last, strict=True)]
        info = {
            "total_token_usage": _usage(self._tokens),
            "last_token_usage": _usage(last),
            "model_context_window": 258_400,
        }
        window = {"used_percent": 3.0, "window_minutes": 300, "resets_at": 1784590000}
        limits = {"limit_id": "codex", "primary": window, "secondary": window, "credits": None, "plan_type": "pro"}
        return self._event("token_count", info=info, rate_limits=limits)


def _usage(counts: list[int]) -> Record:
    return {
        "input_tokens": counts[0],
        "cached_input_tokens": counts[1],
        "output_tokens": counts[2],
        "reasoning_output_tokens": counts[3],
        "total_tokens": counts[0] + counts[2],
    }
