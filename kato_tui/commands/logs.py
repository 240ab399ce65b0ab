"""`translate`, `rebuild` and `--no-ui --once`: from logs to events and state."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kato_tui.commands.backend import backend, own_engine
from kato_tui.commands.record import path_or_name
from kato_tui.commands.talk import put, put_json, say
from kato_tui.exit_codes import DONE, FAILED, NOT_FOUND
from kato_tui.view.words import counted, size

if TYPE_CHECKING:
    import argparse

    from kato_tui.core.engine import Engine
    from kato_tui.core.providers.books import Tally
    from kato_tui.core.summary import Summary


def run_translate(arguments: argparse.Namespace) -> int:
    from kato_tui import stats
    from kato_tui.core.errors import SourceUnreadable
    from kato_tui.core.ingest.translate import Translation
    from kato_tui.core.providers.registry import PROVIDERS, detect

    chosen = PROVIDERS[arguments.provider] if arguments.provider else None
    tallies: dict[str, Tally] = {}
    code = DONE
    for path in arguments.files:
        if not path.is_file():
            say(f"{path}: {'a folder, not a file' if path.is_dir() else 'no such file'}")
            code = NOT_FOUND
            continue
        found = detect(path, chosen)
        if found is None:
            say(f"{path}: not recognised as a log of {', '.join(PROVIDERS)}. Name its provider with --provider")
            code = code or FAILED
            continue
        provider, source = found
        translation = Translation(provider, source)
        try:
            for line in translation.lines():
                if not arguments.stats:
                    sys.stdout.buffer.write(line)
        except (SourceUnreadable, OSError) as error:
            say(str(error))
            code = code or FAILED
        stats.merge(tallies.setdefault(provider.name, {}), translation.tally)
    if arguments.stats:
        _put_stats(tallies, as_json=arguments.json)
    sys.stdout.flush()
    return code


def _put_stats(tallies: dict[str, Tally], *, as_json: bool) -> None:
    from kato_tui import stats

    if as_json:
        put_json({provider: stats.as_json(tally) for provider, tally in sorted(tallies.items())})
        return
    sys.stdout.write("\n".join(stats.table(provider, tally) for provider, tally in sorted(tallies.items())))


def run_rebuild(arguments: argparse.Namespace) -> int:
    with backend() as engine:
        report = engine.rebuild(path_or_name(arguments.session))
    if arguments.json:
        put_json(report)
    else:
        put(f"rebuilt {counted(report['events'], 'event')} from {size(report['bytesRead'])}")
        for destination in report["ended"]:
            put(f"no longer recorded, start it again: {destination}")
    return DONE


def run_once(arguments: argparse.Namespace) -> int:
    from kato_tui.progress import ProgressView

    engine = own_engine()
    engine.start()
    view = ProgressView()
    try:
        summary = engine.bring_up_to_date(view)
    finally:
        view.close()
        engine.close()
    if arguments.lines_json:
        put_json(
            {
                "sessions": summary.sessions,
                "changed": summary.changed,
                "events": summary.events,
                "bytesRead": summary.bytes_read,
                "counters": dict(summary.counters),
                "problems": summary.problems,
            }
        )
        return FAILED if summary.problems else DONE
    return _report(engine, summary)


def _report(engine: Engine, summary: Summary) -> int:
    from kato_tui.commands.show import closed_roots, nothing_found

    status = engine.engine_status().model_dump(mode="json", by_alias=True, exclude_none=True)
    for line in closed_roots(status):
        say(line)
    for key, problem in sorted(summary.problems.items()):
        say(f"{_named(key)}: {problem}")
    if not summary.sessions:
        put(nothing_found(status["roots"]))
    else:
        put(
            f"{counted(summary.sessions, 'session')}, {summary.changed} brought up to date, "
            f"{counted(summary.events, 'event')} added, "
            f"{size(summary.bytes_read)} read"
        )
    return FAILED if summary.problems else DONE


def _named(what: str) -> str:
    """A session by the id that commands take; what is no session stays."""
    from kato_tui.core import identity

    return identity.short_id(identity.session_id(what)) if ":" in what else what
