"""Configuration: all optional, nothing misspelt passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kato_tui.core.config import Config, load_config
from kato_tui.core.errors import ConfigError
from kato_tui.core.ingest.discover import roots_of
from tests.toy import Toy


def _config(tmp_path: Path, text: str) -> Config:
    path = tmp_path / "config.toml"
    path.write_text(text)
    return load_config(path)


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load_config(tmp_path / "none.toml") == Config()


def test_a_misspelt_key_is_refused_with_its_line_and_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"config.toml:2.*did you mean `globalAutoGenerateSnapshots`"):
        _config(tmp_path, "# mine\nglobalAutoGenerateSnapshot = true\n")


def test_a_wrong_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="globalAutoGenerateSnapshots"):
        _config(tmp_path, 'globalAutoGenerateSnapshots = "yes"\n')


def test_broken_toml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not valid TOML"):
        _config(tmp_path, "a = [")


def test_a_configured_root_replaces_the_provider_own_and_decides_for_itself(tmp_path: Path) -> None:
    config = _config(tmp_path, '[[roots]]\nprovider = "toy"\npath = "/x"\nautoGenerateSnapshots = true\n')
    roots = roots_of(config, {"toy": Toy()}, {}, Path("/home"))
    assert [(root.path, root.keep_twins) for root in roots] == [(Path("/x"), True)]


def test_an_unknown_provider_is_named(tmp_path: Path) -> None:
    config = _config(tmp_path, '[[roots]]\nprovider = "clod"\npath = "/x"\n')
    with pytest.raises(ConfigError, match="unknown provider `clod`"):
        roots_of(config, {"toy": Toy()}, {}, Path("/home"))
