"""Making a session's state anew from its log. What was there is moved aside, never destroyed.

In steps, so that whoever cannot wait for a long log has it read elsewhere in between.
"""

from __future__ import annotations

from dataclasses import dataclass

from kato_tui.core import identity, paths
from kato_tui.core.engine import Engine
from kato_tui.core.errors import KatoError, NeedsRebuild, SessionNotFound
from kato_tui.core.ingest.batch import Report


@dataclass(frozen=True, slots=True)
class Rebuild:
    """A session whose state was moved aside and is to be read again."""

    key: str
    keep_twin: bool
    #: Where the recordings are whose state could not be read: they are over.
    ended: tuple[str, ...]


def begin(engine: Engine, key: str) -> Rebuild:
    """Move the state aside. All that is in the log is the past now: none of its commands is run."""
    session = engine.sessions.get(key)
    if session is None:
        raise SessionNotFound(f"the log of {key} is gone, so it cannot be rebuilt; what is stored stays as it is")
    ended = _ended(engine, key)
    keep = engine.keeps_twin(session) or engine.home.twin(key).exists()
    engine.let_go(key)
    for path in (engine.home.meta(key), engine.home.twin(key)):
        if path.exists():
            engine.fs.replace(path, paths.set_aside(path, "before-rebuild"))
    engine.fs.sync_folder(engine.home.sessions)
    engine.store.forget(key)
    engine.index.remove(key)
    return Rebuild(key, keep, tuple(ended))


def read(engine: Engine, rebuild: Rebuild) -> Report:
    """The step in between, here and at once."""
    ingest = engine.open_ingest(engine.sessions[rebuild.key], keep_twin=rebuild.keep_twin, live=False)
    ingest.run()
    engine.index.put(ingest.metadata)
    return ingest.report


def end(engine: Engine, rebuild: Rebuild) -> None:
    engine.listener.changed(rebuild.key)
    if rebuild.ended:
        message = f"their state could not be read, so the rebuild ended the recordings at {', '.join(rebuild.ended)}"
        engine.say("recordings-ended", "warning", f"{message}. Start them again", rebuild.key)


def _ended(engine: Engine, key: str) -> list[str]:
    """The destinations of recordings that the rebuild is going to end, to be named.

    A rebuild forgets recordings, so it refuses while one is on: the user can stop that first. Where the state cannot be
    read they cannot be stopped either; then they end.
    """
    recorded = engine.recorded_at(key)
    try:
        usable = engine.store.load(key) is not None
    except NeedsRebuild:
        usable = False
    if recorded and usable:
        short = identity.short_id(identity.session_id(key))
        raise KatoError(f"{short} is being recorded: kato-tui stop --session {short} first")
    return recorded
