"""`config.toml`: every key optional, unknown keys refused with a suggestion, nothing guessed (spec §2)."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from kato_tui.core.errors import ConfigError
from kato_tui.core.model.base import Contract
from kato_tui.core.model.settings import RecordSettings


class RootConfig(Contract):
    """A folder to look in besides (or instead of) a provider's own, with its own setting."""

    provider: str
    path: str
    auto_generate_snapshots: bool | None = None


class WatchConfig(Contract):
    """How changes of logs are noticed. `auto` takes the system's events, and polling where there are none."""

    mode: Literal["auto", "events", "polling"] = "auto"


class Config(Contract):
    #: Keep a twin of every session, not only of those that are being recorded.
    global_auto_generate_snapshots: bool = False
    #: Without an entry, each provider's own environment variable and default folder are used.
    roots: list[RootConfig] = Field(default_factory=list)
    #: Folders that recordings may be written to; without it, the home folder and `~/.kato/recordings`.
    allowed_write_roots: list[str] | None = None
    #: How recordings are written, unless one is started with settings of its own.
    markdown: RecordSettings = Field(default_factory=RecordSettings)
    watch: WatchConfig = Field(default_factory=WatchConfig)
    #: Remove the twins of sessions without recordings when kato-tui stops; they can be made again from the logs.
    clean_session_states_on_shutdown: bool = False


def load_config(path: Path) -> Config:
    """The settings in `path`; the defaults when there is no such file."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return Config()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from error
    try:
        return Config.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error
    except ValidationError as error:
        raise ConfigError("\n".join(_problem(path, text, detail) for detail in error.errors())) from error


def _problem(path: Path, text: str, detail: Any) -> str:
    location = [str(part) for part in detail["loc"]]
    key = location[-1]
    place = f"{path}{_line_of(text, key)}"
    if detail["type"] != "extra_forbidden":
        return f"{place}: {'.'.join(location)}: {detail['msg']}"
    model = {"roots": RootConfig, "watch": WatchConfig}.get(location[0], Config) if len(location) > 1 else Config
    known = [field.alias or name for name, field in model.model_fields.items()]
    near = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"known keys: {', '.join(known)}"
    return f"{place}: unknown key `{'.'.join(location)}`, {hint}"


def _line_of(text: str, key: str) -> str:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip().startswith(key):
            return f":{number}"
    return ""
