"""Configuration: all optional, nothing misspelt passes."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomli_w

from kato_tui.actions import with_keymap
from kato_tui.core.config import Config, RootConfig, WatchConfig, as_toml_value, at_its_line, load_config
from kato_tui.core.errors import ConfigError
from kato_tui.core.ingest.discover import roots_of
from kato_tui.core.model.settings import RecordSettings
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


def test_every_setting_can_be_written(tmp_path: Path) -> None:
    config = _config(
        tmp_path,
        "globalAutoGenerateSnapshots = true\ncleanSessionStatesOnShutdown = true\nbell = true\n"
        'allowedWriteRoots = ["/notes"]\ntheme = "nord"\n'
        '[watch]\nmode = "polling"\n[markdown]\nthinking = false\n[keymap]\nstop = "x"\n',
    )
    assert config.watch.mode == "polling" and config.keymap == {"stop": "x"}
    assert config.clean_session_states_on_shutdown and config.bell and config.theme == "nord"
    assert config.markdown.thinking is False and config.allowed_write_roots == ["/notes"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('bell = true\n[watch]\nmod = "auto"\n', r"config.toml:3: unknown key `watch.mod`, did you mean `mode`"),
        ('[watch]\nmode = "sometimes"\n', r"config.toml:2: watch.mode: .*'auto', 'events' or 'polling'"),
        ("watch.mod = 1\n", r"config.toml:1: unknown key `watch.mod`"),
        ("[markdown]\nthinkin = true\n", r"config.toml:2: unknown key `markdown.thinkin`, did you mean `thinking`"),
        ("[keymap]\nstop = 3\n", r"config.toml:2: keymap.stop"),
        ('[keymap]\nstop = ""\n', r"config.toml:2: keymap.stop"),
        (
            '[[roots]]\nprovider = "a"\npath = "/a"\n[[roots]]\nprovider = "b"\npth = "/b"\n',
            r"config.toml:6: unknown key `roots.1.pth`, did you mean `path`",
        ),
        ('[[roots]]\nprovider = "a"\n', r"config.toml:1: roots.0.path"),
        ("[wach]\nmode = 1\n", r"config.toml:1: unknown key `wach`, did you mean `watch`"),
        ("thinking = true\n", r"config.toml:1: unknown key `thinking`, it belongs below a line \[markdown\]"),
        ('path = "x"\n', r"config.toml:1: unknown key `path`, it belongs below a line \[\[roots\]\]"),
        ("watch = 3\n", r"config.toml:1: watch: has to be a table$"),
        ("bell = 1\n", r"config.toml:1: bell: has to be true or false$"),
        ('allowedWriteRoots = "~/x"\n', r"config.toml:1: allowedWriteRoots: has to be a list in brackets$"),
        ("# mode\n\n[watch]\n# mode = 1\n'mode' = 1\n", r"config.toml:5: watch.mode"),
    ],
)
def test_a_wrong_key_in_a_table_is_refused_at_its_own_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        _config(tmp_path, text)


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        _config(tmp_path, "bel = true\n[watch]\nmod = 1\n")
    assert len(str(refused.value).splitlines()) == 2


def test_a_key_of_several_types_is_told_once_and_the_file_is_followed_in_its_order(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        _config(tmp_path, "[markdown]\ntoolResultLimit = -4\nthinkin = 1\n[watch]\nmode = 1\n")
    lines = str(refused.value).splitlines()
    assert [line.partition("config.toml:")[2][0] for line in lines] == ["2", "3", "5"]
    assert "markdown.toolResultLimit: has to be greater than or equal to 0 or has to be 'all'" in lines[0]


@pytest.mark.parametrize(("data", "why"), [(b"\xff\xfe", "it is not written in UTF-8"), (None, "a folder, not a file")])
def test_a_file_that_cannot_be_read_is_named_without_the_systems_numbers(
    tmp_path: Path, data: bytes | None, why: str
) -> None:
    path = tmp_path / "config.toml"
    if data is None:
        path.mkdir()
    else:
        path.write_bytes(data)
    with pytest.raises(ConfigError, match=f"cannot read {path}: {why}"):
        load_config(path)


def test_what_is_found_wrong_later_is_named_with_its_line_too(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('bell = true\n[keymap]\nquit = "s"\nstrat = "x"\n[[roots]]\nprovider = "clod"\npath = "/x"\n')
    config = load_config(path)
    with pytest.raises(ConfigError) as keys, at_its_line(path):
        with_keymap(config.keymap)
    assert str(keys.value).splitlines() == [
        f"{path}:2: keymap: the key `s` would mean both `start` and `quit`",
        f"{path}:4: keymap: unknown action `strat`, did you mean `start`?",
    ]
    with pytest.raises(ConfigError, match=r"config.toml:6: roots.0.provider: unknown provider"), at_its_line(path):
        roots_of(config, {"toy": Toy()}, {}, Path("/home"))


def test_settings_written_down_are_read_back_the_same(tmp_path: Path) -> None:
    config = _config(tmp_path, 'theme = "nord"\n[[roots]]\nprovider = "toy"\npath = "/x"\n')
    assert _config(tmp_path, tomli_w.dumps(as_toml_value(config))) == config


def test_every_setting_is_in_the_reference() -> None:
    text = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text("utf-8")
    for model in (Config, RootConfig, WatchConfig, RecordSettings):
        for name, field in model.model_fields.items():
            key = field.alias or name
            assert f"`{key}`" in text or f"[{key}]" in text, key
