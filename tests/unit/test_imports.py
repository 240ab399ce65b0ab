"""The house rules on imports, proven in processes of their own."""

from __future__ import annotations

import subprocess
import sys

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


def _python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
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
