"""Write the generated parts of the guides and the README anew: `python -m docs`; with `--check` only say what is stale.

Tables of keys, settings and commands come from the code that acts on them, so they cannot drift. Each part stands
between `<!-- made: name -->` and `<!-- end -->`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from kato_tui import arguments
from kato_tui.actions import ACTIONS, Action, shown
from kato_tui.core.config_reference import TABLES, Setting, settings

_TOP: Final = Path(__file__).parent.parent
PAGES: Final = (_TOP / "README.md", *sorted((_TOP / "docs").glob("*.md")))
_PART: Final = re.compile(r"(<!-- made: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in lines)


def _keys_of(action: Action) -> str:
    return " ".join(f"`{shown(key)}`" for key in action.keys)


def main_keys() -> str:
    """The keys that people use most: those the footer offers."""
    rows = [(_keys_of(one), one.scope, one.help) for one in ACTIONS if one.footer]
    return _table(("key", "in", "does"), rows)


def all_keys() -> str:
    parts = []
    for group in dict.fromkeys(one.group for one in ACTIONS):
        mine = [one for one in ACTIONS if one.group == group]
        where = "" if mine[0].scope == "anywhere" else f" (in the {mine[0].scope} pane)"
        rows = [(_keys_of(one), one.help, f"`{one.id}`") for one in mine]
        parts.append(f"### {group}{where}\n\n{_table(('key', 'does', 'name in `keymap`'), rows)}")
    return "\n".join(parts)


def configuration() -> str:
    parts = []
    for table, model in TABLES:
        rows = [(f"`{one.key}`", _default(one), one.meaning) for one in settings(model)]
        why = (model.__doc__ or "").strip().splitlines()[0]
        title = f"### `{table}`\n\n{why}\n\n" if table else ""
        parts.append(f"{title}{_table(('key', 'default', 'meaning'), rows)}")
    return "\n".join(parts)


def _default(setting: Setting) -> str:
    return f"`{setting.default}`" if setting.default is not None else "–"


def commands() -> str:
    """Every command with its arguments. Not argparse's own page, which looks different in each version of Python."""
    parts = []
    for name, command in arguments.COMMANDS.items():
        one = argparse.ArgumentParser(add_help=False)
        command.arguments(one)
        about = command.description or f"{command.help[0].upper()}{command.help[1:]}."
        rows = [(_argument(action), action.help or "") for action in one._actions]
        table = f"{_table(('argument', 'means'), rows)}\n" if rows else ""
        examples = "".join(f"kato-tui {example}\n" for example in command.examples)
        parts.append(f"### {name}\n\n{about}\n\n{table}```sh\n{examples}```\n")
    return "\n".join(parts)


def _argument(action: argparse.Action) -> str:
    takes = action.metavar or ("|".join(action.choices) if action.choices else "")
    words = [*action.option_strings[:1], str(takes).replace("|", "\\|")]
    shown_words = " ".join(word for word in words if word) or action.dest.upper()
    return f"`{shown_words}`"


_PARTS: Final[dict[str, Callable[[], str]]] = {
    "main-keys": main_keys,
    "all-keys": all_keys,
    "configuration": configuration,
    "commands": commands,
}


def renewed(text: str) -> str:
    """The page with its generated parts as they should be now."""
    return _PART.sub(lambda found: f"{found[1]}{_PARTS[found[2]]()}{found[3]}", text)


def stale() -> list[Path]:
    return [page for page in PAGES if renewed(page.read_text("utf-8")) != page.read_text("utf-8")]


def main(arguments: list[str]) -> int:
    old = stale()
    for page in old:
        if "--check" not in arguments:
            page.write_text(renewed(page.read_text("utf-8")), "utf-8")
        sys.stdout.write(f"{page.relative_to(_TOP)}\n")
    return 1 if old and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
