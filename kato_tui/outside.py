"""What the dashboard does outside its screen: programs of the user, names in folders. Blocks."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Final, Literal

from kato_tui.core.errors import KatoError

Tool = Literal["pager", "editor"]

_VARIABLES: Final[dict[Tool, tuple[str, ...]]] = {"pager": ("PAGER",), "editor": ("VISUAL", "EDITOR")}
_FALLBACKS: Final[dict[Tool, tuple[str, ...]]] = {
    "pager": ("less", "more"),
    "editor": ("sensible-editor", "nano", "vim", "vi"),
}
_MOST_NAMES: Final = 2000
#: Seconds that a program which is asked to end together with us gets for it.
_GRACE: Final = 1.0


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
        code = _run([*command, path])
    except OSError as error:
        raise KatoError(f"cannot run {command[0]}: {error.strerror}") from error
    if code:
        raise KatoError(f"{command[0]} ended with code {code}")


class _AskedToEnd(Exception):
    """A signal that ends this program came while another one had the terminal."""


def _run(command: list[str]) -> int:
    """Its exit code. A program that is asked to end asks the other one first, and does not wait long for it."""
    child: subprocess.Popen[bytes] | None = None
    asked = False

    def pass_on(number: int, _: FrameType | None) -> None:  # noqa: ARG001
        nonlocal asked
        asked = True
        if child is not None:
            raise _AskedToEnd

    # ctrl+c reaches every program of the terminal; in `less` it ends a search, and must not end us. A handler of
    # ours, instead of ignoring it: programs that are started inherit what is ignored, but no handler.
    with _handlers({signal.SIGINT: lambda *_: None, signal.SIGTERM: pass_on, signal.SIGHUP: pass_on}):
        try:
            child = subprocess.Popen(command)
            if not asked:
                return child.wait()
        except _AskedToEnd:
            pass
        if child is not None:
            child.terminate()
            with suppress(subprocess.TimeoutExpired):
                child.wait(_GRACE)
        return 0


@contextmanager
def _handlers(wanted: Mapping[int, Callable[[int, FrameType | None], None]]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def list_folder(where: str, user_home: str) -> list[str]:
    """The names in a folder, folders with a `/` behind; nothing for one that cannot be read."""
    names: list[str] = []
    path = f"{user_home}{where[1:]}" if user_home and (where == "~" or where.startswith("~/")) else where
    try:
        with os.scandir(Path(path).expanduser()) as entries:
            for entry in entries:
                names.append(entry.name + ("/" if entry.is_dir() else ""))
                if len(names) >= _MOST_NAMES:
                    break
    except (OSError, RuntimeError):
        return []
    return names
