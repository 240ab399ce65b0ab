"""`config`: where the settings are, what they come to, whether they are valid; and a first file to edit."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kato_tui.commands.backend import home
from kato_tui.commands.talk import put, put_json, say
from kato_tui.core.errors import ConfigError, HomeUnusable, in_words
from kato_tui.exit_codes import DONE, FAILED
from kato_tui.view.safe import safe

if TYPE_CHECKING:
    import argparse

    from kato_tui.core.paths import Home


def run_config(arguments: argparse.Namespace) -> int:
    return _DO[arguments.what](arguments)


def _path(arguments: argparse.Namespace) -> int:
    path = home().config
    if arguments.json:
        put_json({"path": str(path), "exists": path.exists()})
    else:
        put(safe(str(path)))
    return DONE


def _show(arguments: argparse.Namespace) -> int:
    """The settings as they hold, defaults included."""
    import tomli_w

    from kato_tui.core.config import as_toml_value, load_config

    value = as_toml_value(load_config(home().config))
    if arguments.json:
        put_json(value)
    else:
        sys.stdout.write(tomli_w.dumps(value))
    return DONE


def _validate(arguments: argparse.Namespace) -> int:
    place = home()
    problems: list[str] = []
    try:
        check(place)
    except ConfigError as error:
        problems = str(error).splitlines()
    if arguments.json:
        put_json({"path": str(place.config), "valid": not problems, "problems": problems})
    elif problems:
        say("\n".join(problems))
    else:
        put(f"{safe(str(place.config))} is valid" if place.config.exists() else "no config file: the defaults hold")
    return FAILED if problems else DONE


def check(place: Home) -> None:
    """Everything that a start would refuse: the file itself, unknown providers, folders, keys and colours."""
    from kato_tui.actions import with_keymap
    from kato_tui.core.config import at_its_line, load_config
    from kato_tui.core.ingest.discover import roots_of
    from kato_tui.core.providers.registry import PROVIDERS
    from kato_tui.core.record.policy import write_policy

    config = load_config(place.config)
    with at_its_line(place.config):
        roots_of(config, PROVIDERS, os.environ, Path.home())
        write_policy(config, place, Path.home())
        with_keymap(config.keymap)
        if config.theme is not None:
            _check_theme(config.theme)


def _check_theme(name: str) -> None:
    from kato_tui.core.errors import ConfigError
    from kato_tui.themes import known

    near = difflib.get_close_matches(name, known(), n=1)
    if name not in known():
        hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(known())}"
        raise ConfigError((("theme",), f"theme: unknown theme `{name}`, {hint}"))


def _init(arguments: argparse.Namespace) -> int:
    from kato_tui.core.config_reference import first_file

    path = home().config
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        say(f"{path} exists and stays as it is. Edit it, or move it away first")
        return FAILED
    except PermissionError as error:
        raise HomeUnusable(
            f"cannot write {path}: {in_words(error, of=path)}. KATO_HOME names another folder"
        ) from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(first_file().encode("utf-8"))
    if arguments.json:
        put_json({"path": str(path), "written": True})
    else:
        put(f"wrote {safe(str(path))}")
    return DONE


_DO: Final[dict[str, Callable[[argparse.Namespace], int]]] = {
    "path": _path,
    "show": _show,
    "validate": _validate,
    "init": _init,
}
