"""Every setting as plain rows, read off the models: for the first file that `config init` writes and for the docs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import tomli_w
from pydantic_core import PydanticUndefined

from kato_tui.core.config import Config, RootConfig, WatchConfig
from kato_tui.core.model.base import Contract
from kato_tui.core.model.settings import RecordSettings

#: The tables of the file, in its order. The nameless one is its top.
TABLES: Final[tuple[tuple[str, type[Contract]], ...]] = (
    ("", Config),
    ("[markdown]", RecordSettings),
    ("[watch]", WatchConfig),
    ("[[roots]]", RootConfig),
)

_HEAD: Final = """\
# The settings of kato-tui. Every key is optional. Behind `#` stands the default, or an example where there is none.
# A running engine takes changes at once. `kato-tui config validate` checks them.
"""
#: What stands in for a key that has no default to show.
_EXAMPLES: Final[dict[str, Any]] = {
    "allowedWriteRoots": ["~/notes"],
    "keymap": {"start": "ctrl+s"},
    "theme": "kato-light",
    "provider": "claude",
    "path": "~/work/.claude/projects",
    "autoGenerateSnapshots": True,
}


@dataclass(frozen=True, slots=True)
class Setting:
    key: str
    #: As it is written in the file; None where leaving it out means something of its own.
    default: str | None
    meaning: str


def settings(model: type[Contract]) -> list[Setting]:
    """The keys of one table, without those that are tables themselves."""
    rows = []
    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if isinstance(default, Contract) or name == "roots":
            continue
        written = None if default is None or default is PydanticUndefined else _value(default)
        rows.append(Setting(field.alias or name, written, field.description or ""))
    return rows


def first_file() -> str:
    """A file in which everything is named and nothing is set."""
    blocks = [_HEAD]
    for table, model in TABLES:
        # A table is open, so that its keys can be set by taking their `#` away; a root would lack its keys.
        lines = [f"# {table}" if table.startswith("[[") else table] if table else []
        for one in settings(model):
            example = one.default if one.default not in (None, "{}") else _value(_EXAMPLES[one.key])
            lines += [f"# {one.meaning.replace('`', '')}", f"# {one.key} = {example}"]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{key} = {_value(one)}" for key, one in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(_value(one) for one in value)}]"
    return tomli_w.dumps({"x": value}).removeprefix("x = ").strip()
