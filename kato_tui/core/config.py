"""`config.toml`: every key optional, unknown keys refused with a suggestion, nothing guessed (spec §2)."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin

from pydantic import Field, ValidationError

from kato_tui.core.errors import ConfigError, Place, in_words
from kato_tui.core.model.base import Contract
from kato_tui.core.model.settings import RecordSettings

Text = Annotated[str, Field(min_length=1)]


class RootConfig(Contract):
    """Folders to look in instead of a provider's own, as many as you like."""

    provider: Text = Field(description="`claude`, `codex` or `gemini`")
    path: Text = Field(description="the folder")
    auto_generate_snapshots: bool | None = Field(
        None, description="keep a twin of every session in it; without it, the global setting holds"
    )


class WatchConfig(Contract):
    """How changes of logs are noticed."""

    mode: Literal["auto", "events", "polling"] = Field(
        "auto", description='`"events"` of the system, `"polling"` for network folders, or whichever fits'
    )


class Config(Contract):
    """Everything that can be set; the descriptions are the reference in `docs/configuration.md` and `config init`."""

    global_auto_generate_snapshots: bool = Field(
        False, description="keep a twin of every session, not only of those being recorded"
    )
    clean_session_states_on_shutdown: bool = Field(
        False,
        description="remove twins that can be made again when the engine stops; metadata and recordings stay",
    )
    allowed_write_roots: list[Text] | None = Field(
        None, description="folders that recordings may be written to; without it, your home folder"
    )
    keymap: dict[Text, Text] = Field(
        default_factory=dict, description="the dashboard's keys by action, where they differ from its own"
    )
    theme: Text | None = Field(None, description="the dashboard's colours; without it, `kato-dark`")
    bell: bool = Field(False, description="ring the terminal's bell when an assistant starts to wait for you")
    roots: list[RootConfig] = Field(default_factory=list, description="see `[[roots]]`")
    markdown: RecordSettings = Field(default_factory=RecordSettings, description="see `[markdown]`")
    watch: WatchConfig = Field(default_factory=WatchConfig, description="see `[watch]`")


def load_config(path: Path) -> Config:
    """The settings in `path`; the defaults when there is no such file."""
    try:
        text = path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return Config()
    except OSError as error:
        raise ConfigError(((), f"cannot read {in_words(error)}")) from error
    except UnicodeDecodeError as error:
        raise ConfigError(((), f"cannot read {path}: it is not written in UTF-8. Save it anew as UTF-8")) from error
    try:
        value = tomllib.loads(text)
        return Config.model_validate(value)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(((), f"{path} is not valid TOML: {error}")) from error
    except ValidationError as error:
        raise _with_lines(path, text, _problems(value, error, Config)) from error


@contextmanager
def at_its_line(path: Path) -> Iterator[None]:
    """What is found wrong with settings that could be read, such as an unknown key of the keyboard, named with its
    place in `path`."""
    try:
        yield
    except ConfigError as error:
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            raise error from None
        raise _with_lines(path, text, error.problems) from error


def record_settings(settings: RecordSettings, changes: dict[str, Any]) -> RecordSettings:
    """`settings` with these keys in their place; refused in the words in which the file would be."""
    value = settings.model_dump(by_alias=True) | changes
    try:
        return RecordSettings.model_validate(value)
    except ValidationError as error:
        raise ConfigError(*_problems(value, error, RecordSettings)) from error


def as_toml_value(config: Config) -> dict[str, Any]:
    """The settings under the names the file uses; what is not set is left out."""
    return config.model_dump(mode="json", by_alias=True, exclude_none=True)


# What is wrong, where, and what was probably meant.


def _with_lines(path: Path, text: str, problems: Iterable[tuple[Place, str]]) -> ConfigError:
    """The problems in the order of the file, each with its line; those that have no place stay as they are."""
    found = sorted((_line_of(text, place) if place else 0, bool(place), problem) for place, problem in problems)
    told = (
        f"{path}:{line}: {problem}" if line else f"{path}: {problem}" if placed else problem
        for line, placed, problem in found
    )
    return ConfigError(*(((), problem) for problem in told))


#: What the library says of a wrong type, as people say it who write a TOML file.
_SAID: Final = {
    "bool_type": "has to be true or false",
    "bool_parsing": "has to be true or false",
    "int_type": "has to be a whole number",
    "string_type": "has to be text in quotes",
    "list_type": "has to be a list in brackets",
    "dict_type": "has to be a table",
    "model_type": "has to be a table",
    "missing": "is missing",
}


def _problems(value: dict[str, Any], error: ValidationError, model: type[Contract]) -> list[tuple[Place, str]]:
    """What each wrong key has to be. A key that may be of several types is told once."""
    found: dict[Place, list[str]] = {}
    for detail in error.errors():
        location: Place = tuple(detail["loc"])
        if detail["type"] == "extra_forbidden":
            found[location] = [_unknown(location, model)]
            continue
        place = location if detail["type"] == "missing" else _within(value, location)
        said = _SAID.get(detail["type"]) or detail["msg"].replace("Input should be", "has to be")
        found.setdefault(place, [f"{'.'.join(map(str, place))}: "]).append(said)
    return [(place, said[0] + " or ".join(said[1:])) for place, said in found.items()]


def _unknown(location: Place, model: type[Contract]) -> str:
    key = str(location[-1])
    known = _known_keys(location[:-1], model)
    near = difflib.get_close_matches(key, known, n=1)
    table = next((name for name, keys in _tables(model) if key in keys), None)
    if table is not None:
        hint = f"it belongs below a line {table}"
    else:
        hint = f"did you mean `{near[0]}`?" if near else f"known keys: {', '.join(known)}"
    return f"unknown key `{'.'.join(map(str, location))}`, {hint}"


def _tables(model: type[Contract]) -> Iterator[tuple[str, list[str]]]:
    """The tables of the file, as they are opened there, with their keys."""
    for name, field in model.model_fields.items():
        if next(_contracts(field.annotation), None) is not None:
            opened = f"[[{name}]]" if get_origin(field.annotation) is list else f"[{name}]"
            yield opened, _known_keys((name,), model)


def _within(value: Any, location: Place) -> Place:
    """The part of `location` that is in the document: behind it, it names types that were tried."""
    for depth, part in enumerate(location):
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return location[:depth]
    return location


def _known_keys(table: Place, model: type[Contract]) -> list[str]:
    """The keys of the table at `table`, found by walking the models."""
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


def _line_of(text: str, location: Place) -> int:
    """The line of the key, else of the table that it stands in: as deep as can be found; 0 for nowhere."""
    best, found = 0, 0
    for number, place in _places(text):
        if len(place) > best and place == location[: len(place)]:
            best, found = len(place), number
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
