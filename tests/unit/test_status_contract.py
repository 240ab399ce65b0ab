"""docs/status.md says what the status contract is: its example is valid, and no field is left out."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from kato_tui.core.model.facts import Usage
from kato_tui.core.model.intents import Notice, RecordingRef
from kato_tui.core.model.session import Period
from kato_tui.core.model.status import EngineStatus, RecordingStatus, RootStatus, SessionStatus, Status

PAGE = (Path(__file__).parents[2] / "docs" / "status.md").read_text("utf-8")
MODELS = (Status, EngineStatus, RootStatus, SessionStatus, RecordingStatus, Notice, RecordingRef, Period)


def _example() -> str:
    found = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_documented_example_is_a_valid_status() -> None:
    status = Status.model_validate_json(_example())
    assert status.sessions[0].recordings[0].status == "recording"


@pytest.mark.parametrize("model", MODELS)
def test_every_field_is_documented(model: type[BaseModel]) -> None:
    tables = PAGE.partition("## The whole")[2]
    missing = [to_camel(name) for name in model.model_fields if f"`{to_camel(name)}`" not in tables]
    assert not missing


def test_every_sum_of_tokens_is_documented() -> None:
    assert all(f"`{to_camel(name)}`" in PAGE for name in (field.name for field in fields(Usage)))
