"""`config.toml`: every key optional, unknown keys refused with a suggestion, nothing guessed (spec §2)."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import Field, ValidationError

from kato_tui.core.errors import ConfigError
from kato_tui.core.model.base import Contract
from kato_tui.core.model.settings import RecordSettings

Text = Annotated[str, Field(min_length=1)]


class RootConfig(Contract):
    """A folder to look in besides (or instead of) a provider's own, with its own setting."""

    provider: Text
    path: Text
    auto_generate_snapshots: bool | None = None


class WatchConfig(Contract):
    """How changes of logs are noticed."""

    #: `auto`: by events of the system where it has them, else by looking again and again.
    mode: Literal["auto", "events", "polling"] = "auto"


class Config(Contract):
    #: Keep a twin of every session, not only of those that are being recorded.
    global_auto_generate_snapshots: bool = False
    #: Remove twins when the engine stops; metadata and recordings stay.
    clean_session_states_on_shutdown: bool = False
    #: Without an entry, each provider's own environment variable and default folder are used.
    roots: list[RootConfig] = Field(default_factory=list)
    #: Folders that recordings may be written to; without it, the home folder and `~/.kato/recordings`.
    allowed_write_roots: list[Text] | None = None
    #: How recordings are written, unless one is started with settings of its own.
    markdown: RecordSettings = Field(default_factory=RecordSettings)
    watch: WatchConfig = Field(default_factory=WatchConfig)
    #: The dashboard's keys by the action they do, where they differ from its own.
    keymap: dict[Text, Text] = Field(default_factory=dict)
    #: The dashboard's colours; without it, its own.
    theme: Text | None = None
    #: Ring the terminal's bell when an assistant waits for an answer.
    bell: bool = False


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


def as_toml_value(config: Config) -> dict[str, Any]:
    """The settings under the names the file uses; what is not set is left out."""
    return config.model_dump(mode="json", by_alias=True, exclude_none=True)


# What is wrong, where, and what was probably meant.

Place = tuple[str | int, ...]


def _problem(path: Path, text: str, detail: Any) -> str:
    location: Place = tuple(detail["loc"])
    place = f"{path}{_line_of(text, location)}"
    name = ".".join(str(part) for part in location)
    if detail["type"] != "extra_forbidden":
        return f"{place}: {name}: {detail['msg']}"
    known = _known_keys(location[:-1])
    near = difflib.get_close_matches(str(location[-1]), known, n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"known keys: {', '.join(known)}"
    return f"{place}: unknown key `{name}`, {hint}"


def _known_keys(table: Place) -> list[str]:
    """The keys of the table at `table`, found by walking the models."""
    model: type[Contract] = Config
    for part in table:
        for name, field in model.model_fields.items():
            if part in (name, field.alias):
                model = next(_contracts(field.annotation), model)
    return [field.alias or name for name, field in model.model_fields.items()]


def _contracts(annotation: Any) -> Iterator[type[Contract]]:
    if isinstance(annotation, type) and issubclass(annotation, Contract):
        yield annotation
    for part in get_args(annotation):
        yield from _contracts(part)


_HEADER: Final = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]")
_KEY: Final = re.compile(r"""\s*([A-Za-z0-9_\-."' ]+?)\s*=""")


def _line_of(text: str, location: Place) -> str:
    """The line of the key, else of the table that it stands in: as deep as can be found."""
    best, found = 0, ""
    for number, place in _places(text):
        if len(place) > best and place == location[: len(place)]:
            best, found = len(place), f":{number}"
    return found


def _places(text: str) -> Iterator[tuple[int, Place]]:
    """Every line that opens a table or sets a key, with its place in the document."""
    table: Place = ()
    counted: dict[Place, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        key = _KEY.match(line)
        if header:
            table = _parts(header[2])
            if header[1] == "[[":
                counted[table] = counted.get(table, -1) + 1
                table = (*table, counted[table])
            yield number, table
        elif key:
            yield number, (*table, *_parts(key[1]))


def _parts(dotted: str) -> Place:
    parts: Sequence[str] = dotted.split(".")
    return tuple(part.strip().strip("\"'") for part in parts)
