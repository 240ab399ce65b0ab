"""`service print-unit`: the file with which the system starts kato-tui. Printed, never installed."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kato_tui.commands.talk import put_json
from kato_tui.exit_codes import DONE
from kato_tui.service_unit import Kind, unit

if TYPE_CHECKING:
    import argparse


def run_service(arguments: argparse.Namespace) -> int:
    kind: Kind = arguments.kind or ("launchd" if sys.platform == "darwin" else "systemd")
    text = unit(kind, program())
    if arguments.json:
        put_json({"kind": kind, "unit": text})
    else:
        sys.stdout.write(text)
    return DONE


def program() -> str:
    """The full path of this very program: services have no PATH of the user's."""
    own = Path(sys.argv[0])
    if own.name == "kato-tui" and own.exists():
        return str(own.absolute())
    beside = Path(sys.executable).with_name("kato-tui")
    return str(beside) if beside.exists() else shutil.which("kato-tui") or "kato-tui"
