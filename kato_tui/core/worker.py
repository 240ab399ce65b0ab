"""A process that brings sessions up to date for the engine: `python -m kato_tui.core.worker`, jobs on stdin.

It inherits the engine's lock, so that after a sudden death of the engine no other one starts beside it; and it ends
itself as soon as its parent is gone. Being killed at any instruction is as harmless as any crash.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Final

import orjson

from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.errors import KatoError, SourceUnreadable, about_log
from kato_tui.core.ingest import reader
from kato_tui.core.ingest.discover import FoundSession
from kato_tui.core.paths import Home
from kato_tui.core.providers.base import SourceFile
from kato_tui.core.providers.registry import PROVIDERS

Json = dict[str, Any]

_NICE: Final = 5


def job_of(session: FoundSession, *, keep_twin: bool, live: bool, since: str | None) -> Json:
    """What a worker has to know to bring one session up to date."""
    return {
        "key": session.key,
        "provider": session.provider.name,
        "keepTwin": keep_twin,
        "live": live,
        "since": since,
        "sources": [
            {
                "id": source.provider_session_id,
                "path": os.fsencode(source.path).decode("latin-1"),
                "kind": source.kind,
                "layout": source.layout,
                "compressed": source.compressed,
                "generation": source.generation,
                "parent": source.parent,
            }
            for source in session.sources
        ],
    }


def _session_of(job: Json) -> FoundSession:
    sources = [
        SourceFile(
            job["provider"],
            one["id"],
            _path_of(one),
            one["kind"],
            one["layout"],
            one["compressed"],
            one["generation"],
            one["parent"],
        )
        for one in job["sources"]
    ]
    stamp = reader.stamp_of(sources[-1].path)
    if stamp is None:
        raise SourceUnreadable(f"{sources[-1].path} is gone")
    return FoundSession(job["key"], PROVIDERS[job["provider"]], sources, stamp, job["keepTwin"])


def _path_of(source: Json) -> Path:
    return Path(os.fsdecode(source["path"].encode("latin-1")))


def main() -> int:
    parent = os.getppid()
    os.nice(_NICE)
    hello = orjson.loads(sys.stdin.buffer.readline())
    user_home = Path(hello["userHome"])
    engine = Engine(Home(Path(hello["home"])), Config.model_validate(hello["config"]), PROVIDERS, {}, user_home)
    engine.assist()
    for line in sys.stdin.buffer:
        job = orjson.loads(line)
        try:
            _run(engine, job, parent)
        except (KatoError, OSError) as error:
            said = about_log(_path_of(job["sources"][-1]), error)
            _tell({"key": job["key"], "error": said, "kind": type(error).__name__})
    return 0


def _run(engine: Engine, job: Json, parent: int) -> None:
    session = _session_of(job)
    ingest = engine.open_ingest(session, keep_twin=job["keepTwin"], live=job["live"], since=job["since"])
    told = 0
    try:
        while ingest.step():
            if os.getppid() != parent:
                os._exit(1)
            if ingest.bytes_so_far - told > 1 << 20:
                told = ingest.bytes_so_far
                _tell({"key": job["key"], "bytes": told})
    finally:
        ingest.close()
    report = ingest.report
    outcomes = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in report.outcomes]
    _tell(
        {
            "key": job["key"],
            "done": {
                "events": report.events,
                "bytesRead": report.bytes_read,
                "counters": dict(report.counters),
                "outcomes": outcomes,
            },
        }
    )


def _tell(message: Json) -> None:
    sys.stdout.buffer.write(orjson.dumps(message) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
