"""The command line: argv to one function each. Output goes to stdout, talk to stderr."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kato_tui import __version__

if TYPE_CHECKING:
    from kato_tui.core.engine import Engine, Summary
    from kato_tui.core.providers.base import Tally

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3

_EPILOG: Final = """\
examples:
  kato-tui --no-ui --once                  bring every session's state up to date, then exit
  kato-tui translate session.jsonl         print a log as canonical events
  kato-tui translate *.jsonl --stats       show what became of every record
  kato-tui rebuild 7d14af8e                make one session's state anew from its log

state lives in ~/.kato (KATO_HOME), logs are looked for where CLAUDE_CONFIG_DIR, CODEX_HOME and
GEMINI_CLI_HOME point, else in ~/.claude, ~/.codex and ~/.gemini

exit codes: 0 done, 1 failed, 2 usage, 3 not found or ambiguous
"""
_TRANSLATE_EPILOG: Final = """\
examples:
  kato-tui translate ~/.claude/projects/-w/0f0f0f0f-0000-4000-8000-000000000001.jsonl
  kato-tui translate rollout-*.jsonl.zst --provider codex --stats
"""


def run(argv: Sequence[str]) -> int:
    """Do what `argv` asks for and give the exit code."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    try:
        return _dispatch(parser, arguments)
    except BrokenPipeError:
        # The reader went away (`| head`): nothing is wrong, and Python must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return 130


def _dispatch(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    if arguments.command == "translate":
        return _translate(arguments)
    if arguments.command == "rebuild":
        return _rebuild(arguments.session)
    if arguments.no_ui and arguments.once:
        return _once()
    if arguments.no_ui:
        return _headless(arguments)
    if arguments.once:
        parser.error("--no-ui and --once go together: kato-tui --no-ui --once")
    parser.print_help(sys.stderr)
    return USAGE


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="kato-tui",
        description="Own your AI conversations: a durable, provider-neutral twin of every session.",
        epilog=_EPILOG,
        formatter_class=keep,
    )
    parser.add_argument("--version", action="version", version=f"kato-tui {__version__}")
    parser.add_argument("--no-ui", action="store_true", help="run without the dashboard")
    parser.add_argument("--once", action="store_true", help="with --no-ui: bring everything up to date, then exit")
    parser.add_argument("--json", action="store_true", dest="lines_json", help="with --no-ui: JSON lines")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="")
    translate = commands.add_parser(
        "translate",
        help="print logs as canonical events (JSONL)",
        description="Print logs as canonical events, one JSON object a line. Touches no state.",
        epilog=_TRANSLATE_EPILOG,
        formatter_class=keep,
    )
    translate.add_argument("files", nargs="+", metavar="FILE", type=Path, help="a session log (.jsonl, .json, .zst)")
    translate.add_argument("--provider", choices=("claude", "codex", "gemini"), help="whose log it is (default: look)")
    translate.add_argument("--stats", action="store_true", help="print what became of every record type instead")
    translate.add_argument("--json", action="store_true", help="with --stats: as JSON")
    rebuild = commands.add_parser(
        "rebuild",
        help="make one session's state anew from its log",
        description="Make a session's state anew from its log. What was stored is moved aside, never deleted.",
    )
    rebuild.add_argument("session", metavar="SESSION", help="session id or a prefix of it, or the provider's own id")
    return parser


def _translate(arguments: argparse.Namespace) -> int:
    from kato_tui import stats
    from kato_tui.core.errors import SourceUnreadable
    from kato_tui.core.ingest.translate import Translation
    from kato_tui.core.providers.registry import PROVIDERS, detect

    chosen = PROVIDERS[arguments.provider] if arguments.provider else None
    tallies: dict[str, Tally] = {}
    code = DONE
    for path in arguments.files:
        if not path.is_file():
            _say(f"{path}: no such file")
            code = NOT_FOUND
            continue
        found = detect(path, chosen)
        if found is None:
            _say(f"{path}: not recognised as a log of {', '.join(PROVIDERS)}. Name its provider with --provider")
            code = code or FAILED
            continue
        provider, source = found
        translation = Translation(provider, source)
        try:
            for line in translation.lines():
                if not arguments.stats:
                    sys.stdout.buffer.write(line)
        except (SourceUnreadable, OSError) as error:
            _say(str(error))
            code = code or FAILED
        stats.merge(tallies.setdefault(provider.name, {}), translation.tally)
    if arguments.stats:
        _print_stats(tallies, as_json=arguments.json)
    sys.stdout.flush()
    return code


def _print_stats(tallies: dict[str, Tally], *, as_json: bool) -> None:
    from kato_tui import stats

    if as_json:
        import orjson

        value = {provider: stats.as_json(tally) for provider, tally in sorted(tallies.items())}
        sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        return
    sys.stdout.write("\n".join(stats.table(provider, tally) for provider, tally in sorted(tallies.items())))


def _engine() -> Engine:
    from kato_tui.core.config import load_config
    from kato_tui.core.engine import Engine
    from kato_tui.core.paths import Home
    from kato_tui.core.providers.registry import PROVIDERS

    user_home = Path.home()
    home = Home.from_environ(os.environ, user_home)
    return Engine(home, load_config(home.config), PROVIDERS, os.environ, user_home)


def _headless(arguments: argparse.Namespace) -> int:
    from kato_tui import headless

    return headless.run(as_json=arguments.lines_json)


def _once() -> int:
    from kato_tui.core.errors import KatoError
    from kato_tui.progress import ProgressView

    try:
        engine = _engine()
        engine.start()
    except (KatoError, OSError) as error:
        _say(str(error))
        return FAILED
    view = ProgressView()
    try:
        summary = engine.bring_up_to_date(view)
    finally:
        view.close()
        engine.close()
    return _report(engine, summary)


def _report(engine: Engine, summary: Summary) -> int:
    from kato_tui.progress import size
    from kato_tui.view.safe import safe

    for key, problem in sorted(summary.problems.items()):
        _say(f"{key}: {problem}")
    if not summary.sessions:
        folders = ", ".join(safe(str(root.path)) for root in engine.roots)
        sys.stdout.write(f"nothing found, looked in {folders}\n")
        return FAILED if summary.problems else DONE
    sys.stdout.write(
        f"{summary.sessions} sessions, {summary.changed} brought up to date, {summary.events} events added, "
        f"{size(summary.bytes_read)} read\n"
    )
    return FAILED if summary.problems else DONE


def _rebuild(name: str) -> int:
    from kato_tui.core.errors import KatoError, SessionNotFound

    try:
        engine = _engine()
        engine.start()
    except (KatoError, OSError) as error:
        _say(str(error))
        return FAILED
    try:
        report = engine.rebuild(name)
    except SessionNotFound as error:
        _say(str(error))
        return NOT_FOUND
    except (KatoError, OSError) as error:
        _say(str(error))
        return FAILED
    finally:
        engine.close()
    sys.stdout.write(f"rebuilt {report.events} events from {report.bytes_read} bytes\n")
    return DONE


def _say(text: str) -> None:
    """Talk to the user: errors may quote paths and ids, which logs choose."""
    from kato_tui.view.safe import safe

    sys.stderr.write("".join(f"kato-tui: {safe(line)}\n" for line in text.splitlines()))
