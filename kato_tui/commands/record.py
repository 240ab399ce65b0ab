"""`start`, `stop`, `resume`, `capture` and `export`: the same intents as in the chat, from a shell (spec §8)."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kato_tui.commands.backend import backend, home
from kato_tui.commands.talk import UsageError, exit_code, put, put_json, say
from kato_tui.core.link import Link
from kato_tui.exit_codes import DONE, FAILED
from kato_tui.view.words import counted

if TYPE_CHECKING:
    import argparse

    from kato_tui.core.model.settings import RecordSettings

Json = dict[str, Any]

_TURNS: Final = re.compile(r"-\d+")
_ESCAPED: Final = re.compile(r"([^A-Za-z0-9/])")
_SUFFIXES: Final = (".md", ".markdown", ".txt", ".jsonl")
_QUOTES: Final = ('"', "'", "`")


def run_start(arguments: argparse.Namespace) -> int:
    parts = [written(arguments.dest)] if arguments.dest else []
    if arguments.begin is not None:
        parts.append(f"from {_begin(arguments.begin)}")
    return _carry_out(arguments, "start", " ".join(parts) or None, arguments.session)


def run_capture(arguments: argparse.Namespace) -> int:
    return _carry_out(arguments, "capture", written(arguments.dest) if arguments.dest else None, arguments.session)


def run_stop(arguments: argparse.Namespace) -> int:
    return _carry_out(arguments, "stop", target(arguments.target), arguments.session)


def run_resume(arguments: argparse.Namespace) -> int:
    return _carry_out(arguments, "resume", target(arguments.target), arguments.session)


def run_export(arguments: argparse.Namespace) -> int:
    if arguments.dest == "-":
        if arguments.json:
            raise UsageError("--json has no place beside `-`: stdout is the export. Use --format jsonl for events")
        return _stream(arguments)
    named = "jsonl" if arguments.dest.lower().endswith(".jsonl") else "markdown"
    if arguments.format not in (None, named):
        raise UsageError(
            f"{arguments.dest} is written as {named}, not {arguments.format}: a name that ends in .jsonl holds events, "
            "any other Markdown. Change the name, or leave --format out"
        )
    return _carry_out(arguments, "export", written(arguments.dest), arguments.session)


def _stream(arguments: argparse.Namespace) -> int:
    """Everything so far to stdout, made by the same writer as a recording of it."""
    from kato_tui.core.record.writer import writer_for

    writer = writer_for(arguments.format or "markdown", _settings(arguments.settings))
    state = writer.begin()
    with backend() as engine:
        begun = False
        for event in engine.all_events(path_or_name(arguments.session), 1):
            state, part = writer.render(state, event)
            # In a file the first heading stands apart from what is above it; here nothing is.
            sys.stdout.buffer.write(part if begun else part.lstrip(b"\n"))
            begun = begun or bool(part)
    sys.stdout.flush()
    return DONE


def _carry_out(arguments: argparse.Namespace, action: str, argument: str | None, session: str | None) -> int:
    intent: dict[str, Any] = {"action": action, "origin": "command-line"}
    if argument is not None:
        intent["argument"] = argument
    if session is not None:
        intent["session"] = path_or_name(session)
    if getattr(arguments, "settings", None):
        intent["settings"] = _settings(arguments.settings).model_dump(mode="json", by_alias=True)
    with backend() as engine:
        outcome = engine.submit(intent)
        about = _about(engine, outcome)
        failing = [one["lastError"] for one in about if one["status"] == "failing"]
        if action == "export" and outcome["code"] == "done" and not failing and not arguments.json:
            outcome = _exported(outcome, about)
        _tell(outcome, arguments.json)
        for reason in failing:
            say(reason)
        if not arguments.json:
            _remind(engine, action, outcome)
    return exit_code(outcome) or (FAILED if failing else DONE)


def _about(engine: Link, outcome: Json) -> list[Json]:
    """How the recordings stand that a wish was about: it stands and is tried again also where a file could not be
    written, but then it is not done."""
    wanted = {one["recordingId"]: one["sessionShortId"] for one in outcome.get("recordings", ())}
    if outcome["severity"] == "error":
        return []
    found = [one for short in sorted(set(wanted.values())) for one in engine.session(short)["recordings"]]
    return [one for one in found if one["recordingId"] in wanted]


def _exported(outcome: Json, about: list[Json]) -> Json:
    """An export is over when the answer comes, so what it came to is said instead of what was begun."""
    told = [
        f"exported {counted(one['eventsWritten'], 'event')} to {one['recordingShortId']} ({one['destination']})"
        for one in about
        if one["status"] == "stopped"
    ]
    return {**outcome, "message": ", ".join(told)} if told else outcome


def _settings(changes: list[str]) -> RecordSettings:
    """The settings of the configuration, with these `key=value` in their place."""
    from kato_tui.core.config import load_config, record_settings
    from kato_tui.core.errors import ConfigError

    found = [change.partition("=") for change in changes]
    if any(not equals for _, equals, _ in found):
        raise UsageError("--set takes KEY=VALUE, as in thinking=false or toolResultLimit=500")
    try:
        return record_settings(
            load_config(home().config).markdown, {key.strip(): _value(text) for key, _, text in found}
        )
    except ConfigError as error:
        raise UsageError("\n".join(f"--set {problem}" for _, problem in error.problems)) from error


def _value(text: str) -> Any:
    """As in the settings; words need no quotes here, the shell takes them away anyway."""
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()


def _tell(outcome: dict[str, Any], as_json: bool) -> None:
    if as_json:
        put_json(outcome)
        return
    from kato_tui.view.safe import safe

    for one in (outcome, *outcome.get("also", ())):
        if one["severity"] == "info":
            put(safe(one["message"]))
        else:
            say(f"{one['severity']}: {one['message']}" if one["severity"] == "warning" else one["message"])


def _remind(engine: Link, action: str, outcome: dict[str, Any]) -> None:
    if not engine.remote and action in ("start", "capture", "resume") and outcome["severity"] != "error":
        say("no engine runs: what is said from now on is added when one does. Start it with kato-tui --no-ui")


def path_or_name(session: str) -> str:
    """A log named by a path relative to the shell becomes absolute: the engine runs elsewhere."""
    return str(Path(session).absolute()) if os.path.sep in session and Path(session).exists() else session


def target(text: str | None) -> str | None:
    """What a stop or resume is to find. Relative paths are the shell's, not the session's."""
    if text is None:
        return None
    kind, colon, rest = text.partition(":")
    if colon and kind.lower() == "dest":
        return f"dest:{_absolute(rest.strip())}"
    looks_like_a_path = os.path.sep in text or text.lower().endswith(_SUFFIXES)
    return _absolute(text) if looks_like_a_path and not (colon and kind.lower() == "id") else text


def written(path: str) -> str:
    """A path of the shell as it would be written in a chat: absolute, and quoted so that it means only itself."""
    absolute = _absolute(path)
    for quote in _QUOTES:
        if quote not in absolute:
            return f"{quote}{absolute}{quote}"
    return _ESCAPED.sub(r"\\\1", absolute)


def _absolute(path: str) -> str:
    """Joined by hand: a slash at the end, which means a folder, has to stay."""
    if path.startswith(("/", "~")):
        return path
    return f"{Path.cwd()}/{path}"


def _begin(text: str) -> str:
    if _TURNS.fullmatch(text):
        return text
    if '"' in text:
        raise UsageError(
            '--from takes words of a message without ", as in --from "the plan", or turns, as in --from -3'
        )
    return f'"{text}"'
