"""The guides say what the code does: generated parts are fresh, links lead somewhere, examples are understood."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
import zlib
from pathlib import Path
from typing import Any

import pytest

from docs.__main__ import PAGES, stale
from kato_tui import arguments
from kato_tui.core.config import Config
from kato_tui.core.config_reference import TABLES, first_file, settings
from kato_tui.core.engine import Engine
from kato_tui.core.model.events import KINDS, PAYLOADS, TwinEvent
from kato_tui.core.paths import Home

_TOP = Path(__file__).parents[2]
_ALL = [*PAGES, *(_TOP / name for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"))]
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def test_the_generated_parts_are_what_the_code_says() -> None:
    assert stale() == [], "run `python -m docs`"


@pytest.mark.parametrize("page", _ALL, ids=lambda page: page.name)
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    links = [link for link in _LINK.findall(page.read_text("utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_is_shown_is_understood(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"^```(?:sh|console)\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    shown = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    for line in shown:
        if line.startswith("kato-tui "):
            words = shlex.split(re.split(r" [|>] ", line)[0], comments=True)
            assert arguments.parser().parse_args(words[1:]), line


def test_the_first_config_file_names_every_setting_and_is_valid_with_all_of_them_set() -> None:
    written = first_file()
    assert Config.model_validate(tomllib.loads(written)) == Config()
    # Taking away one `#` sets that key: the table that it stands in is open.
    one_set = written.replace("# systemEvents = false", "systemEvents = true")
    assert Config.model_validate(tomllib.loads(one_set)).markdown.system_events
    set_ = re.sub(r"^# (?=\[|\w+ = )", "", written, flags=re.MULTILINE)
    found = tomllib.loads(set_)
    Config.model_validate(found)
    for table, model in TABLES:
        inside = found[table.strip("[]")] if table else found
        names = inside[0] if isinstance(inside, list) else inside
        assert {one.key for one in settings(model)} <= set(names), table


def test_every_setting_is_explained() -> None:
    assert [one.key for _, model in TABLES for one in settings(model) if not one.meaning] == []


def test_the_provider_of_the_guide_works_as_it_stands_there(tmp_path: Path) -> None:
    page = (_TOP / "docs" / "adding-a-provider.md").read_text("utf-8")
    found: dict[str, Any] = {}
    exec(_block(page, "python"), found)
    log = tmp_path / ".parrot" / "chats" / "a.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text(_block(page, "json") + '{"type": "brand new"}\n')
    config = Config(global_auto_generate_snapshots=True)
    engine = Engine(Home(tmp_path / "kato"), config, {"parrot": found["Parrot"]()}, {}, tmp_path)
    engine.start()
    summary = engine.bring_up_to_date()
    (session,) = engine.status().sessions
    engine.close()
    assert (summary.events, session.title, session.model, session.reason) == (3, "hello", "grey-1", "idle")
    assert session.unknown_types == {"brand new": 1}
    twin = Home(tmp_path / "kato").twin("parrot:a").read_bytes().splitlines()
    assert [TwinEvent.model_validate_json(line).kind for line in twin] == [
        "user.message", "assistant.message", "provider.raw"
    ]  # fmt: skip


def _block(page: str, language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_examples_of_events_are_events() -> None:
    page = (_TOP / "docs" / "recordings.md").read_text("utf-8")
    line = _block(page, "json").encode().strip()
    whole = TwinEvent.model_validate_json(line)
    assert whole.crc == zlib.crc32(re.sub(rb',"crc":\d+}$', b"}", line))
    payloads = dict(re.findall(r"^\| `([a-z.-]+)` \| `(\{.*?\})` \|", page, re.MULTILINE))
    assert set(payloads) == set(KINDS)
    for kind, payload in payloads.items():
        shown = json.loads(payload)
        known = PAYLOADS[kind].model_validate(shown)
        assert known.model_dump(by_alias=True, exclude_none=True) == shown


def test_every_file_that_is_named_in_the_architecture_is_there() -> None:
    named = re.findall(r"[\w/]+\.py\b", (_TOP / "ARCHITECTURE.md").read_text("utf-8"))
    there = {str(path.relative_to(_TOP)) for path in _TOP.glob("kato_tui/**/*.py")}
    assert [name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in there)] == []
