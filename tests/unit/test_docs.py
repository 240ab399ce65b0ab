"""The guides say what the code does: generated parts are fresh, links lead somewhere, examples are understood."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from docs.__main__ import PAGES, stale
from kato_tui import cli
from kato_tui.core.config import Config
from kato_tui.core.config_reference import TABLES, first_file, settings

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
            assert cli.parser().parse_args(words[1:]), line


def test_the_first_config_file_names_every_setting_and_is_valid_with_all_of_them_set() -> None:
    written = first_file()
    assert tomllib.loads(written) == {}
    set_ = re.sub(r"^# (?=\[|\w+ = )", "", written, flags=re.MULTILINE)
    found = tomllib.loads(set_)
    Config.model_validate(found)
    for table, model in TABLES:
        inside = found[table.strip("[]")] if table else found
        names = inside[0] if isinstance(inside, list) else inside
        assert {one.key for one in settings(model)} <= set(names), table


def test_every_setting_is_explained() -> None:
    assert [one.key for _, model in TABLES for one in settings(model) if not one.meaning] == []
