"""Small good inputs, hand-written with the same builders as all tests: what the fuzzer starts from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from kato_tui.core.ingest.translate import Translation
from kato_tui.core.providers.base import Layout, SourceFile
from kato_tui.core.providers.registry import PROVIDERS
from tests.engine.test_any_pieces import LOGS
from tests.scenes import SCENES
from tests.unit import claude_log, codex_log, gemini_log

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Form:
    """One generation of one assistant's format: its logs, each a list of lines."""

    name: str
    provider: str
    session: str
    logs: tuple[tuple[bytes, ...], ...]
    layout: Layout = "lines"

    def source(self, path: Path) -> SourceFile:
        return SourceFile(self.provider, self.session, path, layout=self.layout)


def _lines(*records: Record) -> tuple[bytes, ...]:
    return tuple(orjson.dumps(record) for record in records)


def _of(kind: str) -> tuple[bytes, ...]:
    _, first, records = LOGS[kind]
    return _lines(*first, *records)


def _day(kind: str) -> tuple[bytes, ...]:
    return _lines(*SCENES[kind][1])


_MESSAGES = [record for record in LOGS["gemini"][2] if "id" in record]
_DAY = [record for record in SCENES["gemini"][1] if "id" in record]

FORMS = (
    Form("claude", "claude", claude_log.SESSION, (_of("claude"), _day("claude"))),
    Form("codex-bare", "codex", codex_log.THREAD, (_of("codex bare"),)),
    Form("codex-legacy", "codex", codex_log.THREAD, (_of("codex legacy"), _day("codex-old"))),
    Form("codex-paginated", "codex", codex_log.THREAD, (_of("codex paginated"), _day("codex"))),
    Form("gemini", "gemini", gemini_log.SESSION, (_of("gemini"), _day("gemini"))),
    Form(
        "gemini-document",
        "gemini",
        gemini_log.SESSION,
        (_lines(gemini_log.document(*_MESSAGES)), _lines(gemini_log.document(*_DAY))),
        "document",
    ),
)
LINE_FORMS = tuple(form for form in FORMS if form.layout == "lines")


def twin(form: Form, path: Path) -> bytes:
    """The twin of the form's first log, which is written to `path` for it."""
    path.write_bytes(b"\n".join(form.logs[0]) + b"\n")
    return b"".join(Translation(PROVIDERS[form.provider], form.source(path)).lines())
