"""Session facts: what a fold over a session's records knows about it (spec §10).

Plain mutable dataclasses, because a translator updates them for every record; the metadata file embeds them
and pydantic checks them there.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from pydantic import ConfigDict

from kato_tui.core.model.base import FACT_CONTRACT, MAX_INTEGER, Integer

TitleSource = Literal["prompt", "summary", "provider", "custom"]

#: A later title replaces an earlier one only when its source ranks at least as high.
TITLE_RANK: dict[str | None, int] = {None: 0, "prompt": 1, "summary": 2, "provider": 3, "custom": 4}

#: Unknown record types are provider text: bounded, so that a hostile log cannot grow the metadata.
MAX_UNKNOWN_TYPES = 64
MAX_MODELS = 16
MAX_RESUME_IDS = 8


@dataclass(slots=True)
class Usage:
    """Tokens spent over the whole session, each API message counted once.

    `total` is the sum of input, output, cache reads and cache writes; `reasoning` is the known part of the output.
    """

    __pydantic_config__: ClassVar[ConfigDict] = FACT_CONTRACT

    input: Integer = 0
    output: Integer = 0
    cache_read: Integer = 0
    cache_write: Integer = 0
    reasoning: Integer = 0
    total: Integer = 0

    def add(self, spent: int, output: int, cache_read: int, cache_write: int, reasoning: int, total: int) -> None:
        """Counts are a log's own claims: however large they are, their sums have to fit the metadata."""
        self.input += spent
        self.output += output
        self.cache_read += cache_read
        self.cache_write += cache_write
        self.reasoning += reasoning
        self.total += total
        sums = self.input, self.output, self.cache_read, self.cache_write, self.reasoning, self.total
        if max(sums) > MAX_INTEGER or min(sums) < -MAX_INTEGER:
            fitting = (max(-MAX_INTEGER, min(MAX_INTEGER, one)) for one in sums)
            self.input, self.output, self.cache_read, self.cache_write, self.reasoning, self.total = fitting


@dataclass(slots=True)
class AgentState:
    """What the assistant is doing, from the last meaningful record alone; no clock takes part."""

    __pydantic_config__: ClassVar[ConfigDict] = FACT_CONTRACT

    state: Literal["needs-you", "working", "ended"] = "needs-you"
    reason: Literal["idle", "decision", "acting", "thinking", "process-gone"] = "idle"
    tool: str | None = None
    since: str | None = None


@dataclass(slots=True)
class Facts:
    __pydantic_config__: ClassVar[ConfigDict] = FACT_CONTRACT

    title: str | None = None
    title_source: TitleSource | None = None
    cwd: str | None = None
    git_branch: str | None = None
    model: str | None = None
    models: list[str] = field(default_factory=list)
    model_provider: str | None = None
    cli_version: str | None = None
    usage: Usage = field(default_factory=Usage)
    context_tokens: Integer | None = None
    context_window: Integer | None = None
    user_messages: Integer = 0
    assistant_messages: Integer = 0
    tool_calls: Integer = 0
    first_activity: str | None = None
    last_activity: str | None = None
    resume_ids: list[str] = field(default_factory=list)
    parent: str | None = None
    agent_state: AgentState = field(default_factory=AgentState)
    unknown_types: dict[str, Integer] = field(default_factory=dict)

    def copy(self) -> Facts:
        """A copy that shares nothing that changes."""
        return replace(
            self,
            models=list(self.models),
            usage=replace(self.usage),
            resume_ids=list(self.resume_ids),
            agent_state=replace(self.agent_state),
            unknown_types=dict(self.unknown_types),
        )

    def set_title(self, title: str | None, source: TitleSource) -> None:
        if title and TITLE_RANK[source] >= TITLE_RANK[self.title_source]:
            self.title, self.title_source = title, source

    def saw_model(self, model: str) -> None:
        self.model = model
        if model not in self.models and len(self.models) < MAX_MODELS:
            self.models.append(model)

    def saw_resume_id(self, resume_id: str) -> None:
        """Keep the newest few: the last one is what a resume command takes."""
        if self.resume_ids and self.resume_ids[-1] == resume_id:
            return
        if resume_id in self.resume_ids:
            self.resume_ids.remove(resume_id)
        self.resume_ids.append(resume_id)
        del self.resume_ids[:-MAX_RESUME_IDS]

    def saw_time(self, timestamp: str) -> None:
        """Activity spans the earliest to the latest time, since file order is not time order."""
        if self.first_activity is None or timestamp < self.first_activity:
            self.first_activity = timestamp
        if self.last_activity is None or timestamp > self.last_activity:
            self.last_activity = timestamp

    def saw_unknown(self, record_type: str) -> None:
        known = self.unknown_types
        if record_type in known or len(known) < MAX_UNKNOWN_TYPES:
            known[record_type] = known.get(record_type, 0) + 1
        else:
            known["(others)"] = known.get("(others)", 0) + 1
