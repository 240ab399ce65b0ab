"""The words of the command line: what can be said, and which function does it. Knows no work itself."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from kato_tui.columns import columns

_EPILOG: Final = """\
examples:
  kato-tui                                 the dashboard
  kato-tui --demo                          the dashboard on made-up sessions, in a throw-away home
  kato-tui --no-ui                         the engine without a screen, until ctrl+c
  kato-tui status                          what every assistant is doing, and what is recorded
  kato-tui start 7d14af8e ~/notes/x.md     record a session from now on
  kato-tui export 7d14af8e - | less        read a whole session
  kato-tui --no-ui --once                  bring every session's state up to date, then exit
  kato-tui --demo --no-ui --once           see it work on made-up sessions in a throw-away home

SESSION is a short id, a prefix of at least 8 characters, a full id, the assistant's own id, or the path of a log.
State lives in ~/.kato (KATO_HOME); logs are looked for where CLAUDE_CONFIG_DIR, CODEX_HOME and GEMINI_CLI_HOME
point, else in ~/.claude, ~/.codex and ~/.gemini.

exit codes: 0 done, 1 failed, 2 usage, 3 not found or ambiguous
"""

DASHBOARD: Final = "kato_tui.dashboard:run_dashboard"
_SESSION: Final = "short id, prefix, full id, the assistant's own id, or the path of a log"


class Command(NamedTuple):
    """One command: what `--help` says about it, and `module:function` that does it."""

    help: str
    does: str
    examples: tuple[str, ...]
    arguments: Callable[[argparse.ArgumentParser], None]
    description: str = ""


def understood(argv: Sequence[str]) -> tuple[str, argparse.Namespace]:
    """What to do, as `module:function`, and how. Exits with a word about what is wrong in `argv`."""
    made = parser(argv[0] if argv and argv[0] in COMMANDS else None)
    _refuse_unknown(made, argv)
    arguments = made.parse_args(argv)
    return _what(made, arguments), arguments


def _refuse_unknown(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    """The options before a command take no values, so the first word is the command."""
    word = next((word for word in argv if not word.startswith("-")), None)
    if word is None or word in COMMANDS:
        return
    import difflib

    near = difflib.get_close_matches(word, COMMANDS, n=1)
    hint = f"did you mean {near[0]}?" if near else "kato-tui --help lists them"
    parser.error(f"unknown command {word!r}, {hint}")


def _what(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> str:
    if arguments.version:
        return "kato_tui.commands.version:run_version"
    if arguments.command and (arguments.demo or arguments.no_ui or arguments.once):
        parser.error(f"--demo, --no-ui and --once stand alone, without {arguments.command}")
    if arguments.command:
        return COMMANDS[arguments.command].does
    if arguments.demo:
        if arguments.lines_json and (arguments.once or not arguments.no_ui):
            parser.error("with --demo, --json needs --no-ui and no --once: kato-tui --demo --no-ui --json")
        return "kato_tui.demo:run_demo"
    if arguments.no_ui and arguments.once:
        return "kato_tui.commands.logs:run_once"
    if arguments.once:
        parser.error("--once needs --no-ui: kato-tui --no-ui --once")
    if arguments.no_ui:
        return "kato_tui.headless:run_headless"
    if arguments.lines_json:
        parser.error("--json needs --no-ui or a command: kato-tui --no-ui --json")
    return DASHBOARD


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=columns() - 2)

    def _iter_indented_subactions(self, action: argparse.Action) -> Generator[argparse.Action, None, None]:
        """The commands, as far to the left as the options: argparse would indent them and then lack the room."""
        if isinstance(action, argparse._SubParsersAction):
            yield from action._choices_actions

    def _format_action(self, action: argparse.Action) -> str:
        """The commands without the empty line that argparse puts above them when they have no common name."""
        text = super()._format_action(action)
        return text.partition("\n")[2] if isinstance(action, argparse._SubParsersAction) else text


class _Parser(argparse.ArgumentParser):
    """Says what is wrong without repeating what a terminal would act on: file names get into arguments by `*`."""

    def error(self, message: str) -> NoReturn:
        from kato_tui.view.safe import safe

        super().error(safe(message))


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """All the words of the command line, or those of one command: the others take longer to lay out than to do."""
    made = _Parser(
        prog="kato-tui",
        description="Own your AI conversations: a durable, provider-neutral twin of every session.",
        epilog=_EPILOG,
        formatter_class=_Formatter,
    )
    made.add_argument("--version", action="store_true", help="the version, and facts for bug reports")
    made.add_argument("--no-ui", action="store_true", help="run without the dashboard")
    made.add_argument("--once", action="store_true", help="with --no-ui: bring everything up to date, then exit")
    made.add_argument(
        "--json", action="store_true", dest="lines_json", help="with --no-ui: JSON lines; with --once: one JSON object"
    )
    made.add_argument("--demo", action="store_true", help="made-up sessions, live, in a throw-away home")
    commands = made.add_subparsers(dest="command", title="commands", metavar="COMMAND", prog="kato-tui")
    for name, command in COMMANDS.items() if only is None else [(only, COMMANDS[only])]:
        one = commands.add_parser(
            name,
            help=command.help,
            description=command.description or f"{command.help[0].upper()}{command.help[1:]}.",
            epilog="\n".join(["examples:", *(f"  kato-tui {example}" for example in command.examples)]),
            formatter_class=_Formatter,
        )
        command.arguments(one)
        one.add_argument("--json", action="store_true", help="print JSON, for machines")
    return made


def _nothing(parser: argparse.ArgumentParser) -> None:  # noqa: ARG001
    return


def _all(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="also sub-agents and sessions older than 7 days")


def _status(parser: argparse.ArgumentParser) -> None:
    _all(parser)
    parser.add_argument("--live", action="store_true", help="again every second, until ctrl+c; piped, what changes")


def _session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION", help=_SESSION)


def _capture(parser: argparse.ArgumentParser) -> None:
    _session(parser)
    parser.add_argument("dest", metavar="DEST", nargs="?", help="a file (.md, .jsonl, …) or folder; default: a new one")
    _settings(parser)


def _settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set",
        dest="settings",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="how this one is written, as [markdown] in the settings: --set thinking=false --set toolResultLimit=all",
    )


def _start(parser: argparse.ArgumentParser) -> None:
    _capture(parser)
    parser.add_argument(
        "--from", dest="begin", metavar="-3|TEXT", help="begin so many turns back, or where the user last said TEXT"
    )


def _target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", metavar="SESSION", help=f"only among the recordings of this one: {_SESSION}")


def _stop(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target", metavar="TARGET", nargs="?", help="a recording (id or prefix) or destination; default: all"
    )
    _target(parser)


def _resume(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET", help="a recording (id or prefix) or destination")
    _target(parser)


def _export(parser: argparse.ArgumentParser) -> None:
    _session(parser)
    parser.add_argument("dest", metavar="DEST", help="a new file, or - for stdout")
    parser.add_argument("--format", choices=("markdown", "jsonl"), help="with -: what to write (default: markdown)")
    _settings(parser)


def _number(text: str, least: int, most: int, what: str) -> int:
    """Argparse would name the function that found a word to be no number."""
    if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most):
        raise argparse.ArgumentTypeError(what)
    return int(text)


def _seq(text: str) -> int:
    return _number(text, 1, 1 << 53, "the number of an event, counted from 1")


def _events(parser: argparse.ArgumentParser) -> None:
    _session(parser)
    parser.add_argument("--follow", action="store_true", help="go on as the session grows, until ctrl+c")
    parser.add_argument("--from", dest="from_seq", metavar="SEQ", type=_seq, default=1, help="begin with this event")


def _translate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", type=Path, help="a session log (.jsonl, .json, .zst)")
    parser.add_argument("--provider", choices=("claude", "codex", "gemini"), help="whose log it is (default: look)")
    parser.add_argument("--stats", action="store_true", help="print what became of every record type instead")


def _days(text: str) -> int:
    return _number(text, 0, 36500, "a number of days from 0 to 36500")


def _clean(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--older-than", metavar="DAYS", type=_days, help="without activity for so many days")
    parser.add_argument("--session", metavar="SESSION", help=f"all state of this one: {_SESSION}")
    parser.add_argument("--yes", action="store_true", help="do it; without this, only say what would go")


def _config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        choices=("path", "show", "validate", "init"),
        help="where it is; what holds; whether it is valid; write a first one",
    )


def _service(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("print-unit",), help="print the unit file")
    parser.add_argument("--kind", choices=("systemd", "launchd"), help="default: what this system uses")


def _completion(parser: argparse.ArgumentParser) -> None:
    # The scripts ask for the last two: which ids there are.
    choices = ("bash", "zsh", "fish", "sessions", "recordings")
    parser.add_argument("what", metavar="bash|zsh|fish", choices=choices, help="your shell")


_RECORD: Final = "kato_tui.commands.record"
_STATUS: Final = "kato_tui.commands.status"
_LOGS: Final = "kato_tui.commands.logs"

COMMANDS: Final[dict[str, Command]] = {
    "status": Command(
        "what every assistant is doing, and what is recorded",
        f"{_STATUS}:run_status",
        ("status", "status --live", "status --json | jq '.sessions[].title'"),
        _status,
    ),
    "sessions": Command("list sessions", f"{_STATUS}:run_sessions", ("sessions", "sessions --all --json"), _all),
    "recordings": Command(
        "list recordings", f"{_STATUS}:run_recordings", ("recordings", "recordings --json"), _nothing
    ),
    "start": Command(
        "record a session from now on",
        f"{_RECORD}:run_start",
        ("start 7d14af8e", "start 7d14af8e ~/notes/plan.md --from -3", 'start 7d14af8e --from "the plan"'),
        _start,
    ),
    "stop": Command(
        "stop recordings",
        f"{_RECORD}:run_stop",
        ("stop", "stop 3c2f81aa", "stop dest:~/notes/plan.md", "stop --session 7d14af8e"),
        _stop,
    ),
    "resume": Command(
        "go on with a stopped recording",
        f"{_RECORD}:run_resume",
        ("resume 3c2f81aa", "resume ~/notes/plan.md"),
        _resume,
    ),
    "capture": Command(
        "record everything so far and go on",
        f"{_RECORD}:run_capture",
        ("capture 7d14af8e", "capture 7d14af8e ~/notes/"),
        _capture,
    ),
    "export": Command(
        "write everything so far, once",
        f"{_RECORD}:run_export",
        ("export 7d14af8e ~/notes/talk.md", "export 7d14af8e - | less", "export 7d14af8e - --format jsonl"),
        _export,
    ),
    "events": Command(
        "print a session's events (JSONL)",
        "kato_tui.commands.events:run_events",
        ("events 7d14af8e", "events 7d14af8e --follow --from 120"),
        _events,
        "Print a session's canonical events, one JSON object a line.",
    ),
    "translate": Command(
        "print logs as canonical events (JSONL)",
        f"{_LOGS}:run_translate",
        ("translate session.jsonl", "translate rollout-*.jsonl.zst --provider codex --stats"),
        _translate,
        "Print logs as canonical events, one JSON object a line. Touches no state.",
    ),
    "rebuild": Command(
        "make one session's state anew from its log",
        f"{_LOGS}:run_rebuild",
        ("rebuild 7d14af8e",),
        _session,
        "Make a session's state anew from its log. What was stored is moved aside, never deleted.",
    ),
    "clean": Command(
        "throw away old state and logs",
        "kato_tui.commands.clean:run_clean",
        ("clean --older-than 90", "clean --older-than 90 --yes", "clean --session 7d14af8e"),
        _clean,
        "Throw away twins, metadata and kato-tui's own logs. Files of recordings are never touched.",
    ),
    "config": Command(
        "where the settings are and what they come to",
        "kato_tui.commands.configure:run_config",
        ("config init", "config show", "config validate"),
        _config,
    ),
    "doctor": Command(
        "look for what may go wrong on this machine",
        "kato_tui.commands.doctor:run_doctor",
        ("doctor", "doctor --json"),
        _nothing,
    ),
    "service": Command(
        "have the system start kato-tui",
        "kato_tui.commands.service:run_service",
        ("service print-unit > ~/.config/systemd/user/kato-tui.service",),
        _service,
    ),
    "completion": Command(
        "have the shell complete commands, options and ids",
        "kato_tui.commands.completion:run_completion",
        (
            "completion bash > ~/.local/share/bash-completion/completions/kato-tui",
            "completion zsh > ~/.zfunc/_kato-tui     # with fpath+=~/.zfunc before compinit in ~/.zshrc",
            "completion fish > ~/.config/fish/completions/kato-tui.fish",
        ),
        _completion,
        "Print a script with which a shell completes commands, options, ids and files.",
    ),
}
