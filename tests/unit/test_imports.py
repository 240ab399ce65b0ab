"""The house rules on imports, proven in processes of their own."""

from __future__ import annotations

import ast
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import orjson

import kato_tui
from kato_tui.core.paths import Home

_BLOCKED = """
import importlib, pkgutil, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"textual", "rich", "watchfiles"}:
            raise AssertionError(f"{name} imported by the engine")

sys.meta_path.insert(0, Refuse())
import kato_tui.core
names = [module.name for module in pkgutil.walk_packages(kato_tui.core.__path__, "kato_tui.core.")]
for name in names:
    importlib.import_module(name)
print(len(names))
"""


#: What opens connections to other machines, or serves them.
_MODULES = ("http", "urllib.request", "ssl", "ftplib", "smtplib", "socketserver", "xmlrpc", "requests", "httpx")
_NAMES = ("AF_INET", "AF_INET6", "create_connection", "create_server", "open_connection", "start_server")


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{one.name}" for one in node.names]
    return []


def test_nothing_opens_a_network_connection() -> None:
    for path in Path(kato_tui.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            imported = [name for name in _imported(node) if f"{name}.".startswith(tuple(f"{bad}." for bad in _MODULES))]
            assert not imported, path
            assert not (isinstance(node, ast.Attribute) and node.attr in _NAMES), path
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "socket.socket":
                assert ast.unparse(node.args[0]) == "socket.AF_UNIX", path


def _python(code: str, **environ: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ, **environ}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_module_of_the_engine_imports_textual_or_rich() -> None:
    assert int(_python(_BLOCKED)) > 20


def test_asking_for_the_version_imports_neither_pydantic_nor_the_engine() -> None:
    code = (
        "import sys; sys.argv = ['kato-tui', '--version']\n"
        "from kato_tui.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "assert not {'pydantic', 'textual', 'kato_tui.core.engine'} & set(sys.modules), sorted(sys.modules)"
    )
    assert _python(code).startswith("kato-tui ")


def test_the_status_of_a_running_engine_loads_next_to_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path / "kato")
    home.run.mkdir(parents=True)
    engine = {"sessions": 3, "activeRecordings": 0, "bytesBehind": 0, "watching": "events", "pid": 7, "roots": []}
    status = {"engine": engine, "sessions": [], "warnings": [], "hidden": {"sub-agents": 3}}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(home.socket) if len(str(home.socket)) > 100 else str(home.socket))
        listener.listen(1)

        def answer() -> None:
            connection, _ = listener.accept()
            with connection, connection.makefile("rwb") as lines:
                assert orjson.loads(lines.readline())["recent"] is True
                lines.write(orjson.dumps({"v": 1, "id": 1, "ok": True, "result": status}) + b"\n")

        threading.Thread(target=answer, daemon=True).start()
        told = _python(
            "import sys; sys.argv = ['kato-tui', 'status']\n"
            "from kato_tui.__main__ import main\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            "heavy = {'pydantic', 'textual', 'rich', 'orjson', 'dataclasses', 'inspect', 'hashlib'}\n"
            "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
            "mine = {name for name in sys.modules if name.startswith('kato_tui.core.')}\n"
            "few = {f'kato_tui.core.{name}' for name in ('client', 'errors', 'link', 'paths', 'recent')}\n"
            "assert mine <= few, mine - few\n",
            KATO_HOME=str(home.root),
        )
    assert "3 sub-agents hidden" in told


def test_the_first_frame_of_the_dashboard_waits_neither_for_the_engine_nor_for_markdown() -> None:
    _python(
        "import sys, kato_tui.dashboard, kato_tui.app\n"
        "heavy = {'kato_tui.core.engine', 'kato_tui.core.host', 'markdown_it', 'pydantic', 'orjson', 'zstandard'}\n"
        "heavy &= set(sys.modules)\n"
        "assert not heavy, heavy"
    )
