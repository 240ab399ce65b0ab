"""`--version`: what a bug report needs to say about the program and the machine it runs on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from typing import TYPE_CHECKING

from kato_tui import __version__
from kato_tui.commands.backend import home
from kato_tui.commands.talk import put, put_json
from kato_tui.exit_codes import DONE
from kato_tui.view.safe import safe

if TYPE_CHECKING:
    import argparse

_PACKAGES = ("textual", "watchfiles", "pydantic", "orjson", "zstandard")


def run_version(arguments: argparse.Namespace) -> int:
    facts = {
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": platform.platform(),
        "packages": ", ".join(f"{name} {_installed(name)}" for name in _PACKAGES),
        "terminal": f"{os.environ.get('TERM', 'none')}, {sys.stdout.encoding}",
        "home": str(home().root),
    }
    if arguments.lines_json:
        put_json({"version": __version__, **facts})
        return DONE
    put(f"kato-tui {__version__}")
    for name, fact in facts.items():
        put(f"{name}: {safe(fact)}")
    return DONE


def _installed(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
