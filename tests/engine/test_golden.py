"""Golden twins: one log of each assistant and each generation of its format, byte for byte.

A change of what a record means shows here as a changed line. After a wanted change: `KATO_GOLDEN=write pytest <this>`,
and read the difference before committing it.
"""

from __future__ import annotations

import os
from pathlib import Path

import orjson
import pytest

from tests.engine.test_any_pieces import LOGS, MESSAGES
from tests.machine import DOCUMENT, Machine, Place
from tests.unit import gemini_log

GOLDEN = Path(__file__).parents[1] / "golden"


def _log(kind: str) -> tuple[Place, bytes]:
    if kind == "gemini document":
        messages = [{**message, "id": f"m{number}"} for number, message in enumerate(MESSAGES)]
        return DOCUMENT, orjson.dumps(gemini_log.document(*messages), option=orjson.OPT_INDENT_2)
    place, first, records = LOGS[kind]
    return place, place.lines(*first, *records)


@pytest.mark.parametrize("kind", [*sorted(LOGS), "gemini document"])
def test_each_generation_of_each_format_gives_its_golden_twin(tmp_path: Path, kind: str) -> None:
    place, data = _log(kind)
    machine = Machine(tmp_path, place)
    machine.write(data)
    assert machine.run().problems == {}
    golden = GOLDEN / f"{kind.replace(' ', '-')}.jsonl"
    if os.environ.get("KATO_GOLDEN") == "write":
        golden.write_bytes(machine.twin())
    assert machine.twin().decode().splitlines() == golden.read_text().splitlines()
