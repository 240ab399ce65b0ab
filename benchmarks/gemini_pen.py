"""Chats of Gemini CLI: the JSONL of 0.39 and later, where messages come again as they grow, and the older document."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from benchmarks.pens import Pen, Record
from benchmarks.words import Words, length


class GeminiPen(Pen):
    def __init__(self, session: str, seed: int, words: Words) -> None:
        super().__init__(session, seed, words)
        self._calls = 0

    def turns(self) -> Iterator[list[Record]]:
        yield [{**self._header(), "kind": "main"}]
        while True:
            yield self._turn()

    def document(self, size: int) -> bytes:
        """The same conversation as one document: every message once, in its last form."""
        messages: dict[str, Record] = {}
        written = 0
        for turn in self.turns():
            for record in turn:
                if "id" in record:
                    messages[record["id"]] = record
            written += sum(len(orjson.dumps(record)) for record in turn if "id" in record) * 2 // 3
            if written >= size:
                break
        chat = {**self._header(), "lastUpdated": self.at(), "messages": list(messages.values())}
        return orjson.dumps(chat, option=orjson.OPT_INDENT_2)

    def _header(self) -> Record:
        begun = self.at()
        return {"sessionId": self.session, "projectHash": "ab" * 32, "startTime": begun, "lastUpdated": begun}

    def _turn(self) -> list[Record]:
        text = self.words.prose(self.rng, length(self.rng, 220, 8000))
        records = [self._message("user", content=[{"text": text}]), self._updated()]
        for _ in range(self.rng.randint(1, 8)):
            records += self._round()
        final = self.words.prose(self.rng, length(self.rng, 700, 9000, 0.9))
        return [*records, self._answer(final), self._updated()]

    def _message(self, kind: str, **fields: object) -> Record:
        return {"id": self.new_id(), "timestamp": self.at(), "type": kind, **fields}

    def _updated(self) -> Record:
        return {"$set": {"lastUpdated": self.at()}}

    def _answer(self, text: str) -> Record:
        rng = self.rng
        counts = {"input": rng.randint(5000, 90_000), "output": rng.randint(20, 900), "cached": 0, "thoughts": 30}
        tokens = {**counts, "tool": 0, "total": sum(counts.values())}
        said = self.words.prose(rng, length(rng, 300, 1500, 0.6))
        thoughts = [{"subject": "Looking further", "description": said, "timestamp": self.at()}]
        return self._message("gemini", content=text, thoughts=thoughts, tokens=tokens, model="gemini-3-pro")

    def _round(self) -> list[Record]:
        """The message of a call is written, then again with the result, which comes as the user's turn as well."""
        self._calls += 1
        call_id = f"read_file-{self._calls}"
        message = self._answer("")
        text = self.words.output(self.rng, length(self.rng, 2500, 80_000))
        response = {"functionResponse": {"id": call_id, "name": "read_file", "response": {"output": text}}}
        call = {
            "id": call_id,
            "name": "read_file",
            "args": {"file_path": f"src/{self._calls % 50}.py"},
            "result": [response],
            "status": "success",
            "timestamp": self.at(),
            "displayName": "ReadFile",
            "resultDisplay": text[:200],
            "renderOutputAsMarkdown": True,
        }
        return [
            message,
            {**message, "toolCalls": [call]},
            self._updated(),
            self._message("user", content=[response]),
            self._updated(),
        ]
