"""What the dashboard needs of `config.toml` for its first frame.

The models that check settings take as long to load as half a screen, so here only these few are looked at; all others
are checked behind the first frame, by whoever starts the engine. What is wrong in these is told by the models, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from kato_tui.core.config import Config


class Looks(NamedTuple):
    keymap: Mapping[str, str]
    theme: str | None
    bell: bool


def load_looks(path: Path) -> Looks:
    """From the settings in `path`; the defaults when there is no such file."""
    try:
        text = path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return Looks({}, None, bell=False)
    except (OSError, ValueError):
        return _checked(path)
    import tomllib  # not needed by those who set nothing

    try:
        value = tomllib.loads(text)
    except (ValueError, RecursionError):
        return _checked(path)
    keymap, theme, bell = value.get("keymap", {}), value.get("theme"), value.get("bell", False)
    if not (_is_keymap(keymap) and (theme is None or _is_word(theme)) and isinstance(bell, bool)):
        return _checked(path)
    return Looks(keymap, theme, bell)


def looks_of(config: Config) -> Looks:
    return Looks(config.keymap, config.theme, config.bell)


def _checked(path: Path) -> Looks:
    from kato_tui.core.config import load_config

    return looks_of(load_config(path))


def _is_keymap(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_word(one) for pair in value.items() for one in pair)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(value)
