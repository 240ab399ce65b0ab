"""What the dashboard does outside its screen: programs of the user, names in folders. Blocks."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from kato_tui.core.errors import KatoError

Tool = Literal["pager", "editor"]

_VARIABLES: Final[dict[Tool, tuple[str, ...]]] = {"pager": ("PAGER",), "editor": ("VISUAL", "EDITOR")}
_FALLBACKS: Final[dict[Tool, tuple[str, ...]]] = {
    "pager": ("less", "more"),
    "editor": ("sensible-editor", "nano", "vim", "vi"),
}
_MOST_NAMES: Final = 2000


def command_of(tool: Tool, environ: Mapping[str, str] = os.environ) -> list[str]:
    """The user's program for it, with its arguments."""
    for name in _VARIABLES[tool]:
        try:
            words = shlex.split(environ.get(name, ""))
        except ValueError as error:
            raise KatoError(f"${name} cannot be understood: {error}") from error
        if words:
            return words
    for name in _FALLBACKS[tool]:
        if shutil.which(name):
            return [name]
    raise KatoError(f"no {tool} found: set ${_VARIABLES[tool][-1]}")


def open_file(tool: Tool, path: str) -> None:
    """Run it on the file and wait. The path is absolute, so it can never be taken for an option."""
    if not Path(path).is_file():
        raise KatoError(f"{path} is not there: nothing has been written yet, or it was moved")
    command = command_of(tool)
    try:
        with _ctrl_c_is_theirs():
            done = subprocess.run([*command, path], check=False)
    except OSError as error:
        raise KatoError(f"cannot run {command[0]}: {error.strerror}") from error
    if done.returncode:
        raise KatoError(f"{command[0]} ended with code {done.returncode}")


@contextmanager
def _ctrl_c_is_theirs() -> Iterator[None]:
    """ctrl+c reaches every program of the terminal; in `less` it ends a search, and must not end us.

    A handler of ours, instead of ignoring it: programs that are started inherit what is ignored, but no handler.
    """
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def list_folder(where: str) -> list[str]:
    """The names in a folder, folders with a `/` behind; nothing for one that cannot be read."""
    names: list[str] = []
    try:
        with os.scandir(Path(where).expanduser()) as entries:
            for entry in entries:
                names.append(entry.name + ("/" if entry.is_dir() else ""))
                if len(names) >= _MOST_NAMES:
                    break
    except (OSError, RuntimeError):
        return []
    return names
