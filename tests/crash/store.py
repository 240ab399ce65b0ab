"""The parts that carry the promise, without an engine around them: a life of one or two sessions in a few milliseconds.

What reads, keeps and appends is the production code: providers, fold, sink, twin, metadata, commands, keeper, recorder,
appender, policy. Left out is what cannot lose anything: discovery (the logs are known), the index file (a cache; the
entries are made anew at each start), the lock, the operational logs, threads and sockets. `simulate` has those too.
"""

from __future__ import annotations

import random
import shutil
from collections import deque
from collections.abc import Callable, Iterable
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from kato_tui.core.clock import stamp
from kato_tui.core.config import Config
from kato_tui.core.errors import HomeUnusable, KatoError, in_words
from kato_tui.core.ingest import reader
from kato_tui.core.ingest.batch import SessionIngest, Stores
from kato_tui.core.model.intents import Intent, Notice, Outcome
from kato_tui.core.providers.base import Provider, SourceFile
from kato_tui.core.providers.registry import PROVIDERS, detect
from kato_tui.core.record import desk, resolve
from kato_tui.core.record.chat import ChatCommands
from kato_tui.core.record.director import Director, Surroundings
from kato_tui.core.record.keeper import Keeper
from kato_tui.core.record.policy import write_policy
from kato_tui.core.record.recorder import Recorder
from kato_tui.core.store.fs import Fs, make_folders
from kato_tui.core.store.index import IndexStore
from kato_tui.core.store.sessions import SessionStore
from tests.crash.disk import Disk
from tests.crash.life import Life, drawn, lead
from tests.crash.stored import Stored, lay_out, stored
from tests.crash.town import SESSIONS, Hint, Log, Process, Town, check_files, small_pieces

#: In a short life less meets, but there are many more of them in an hour.
_MOST: Final = 9
#: Bytes of a batch and of an append, and from how many on they are put aside: a turn is one of each, or several.
_PIECES: Final = ((400, 120, 300), (4000, 4000, 4000), (4000, 120, 4000), (4000, 4000, 300))


class _News:
    """Keeps what is told, where the engine's own would write a log."""

    def __init__(self) -> None:
        self.kept: deque[Notice] = deque()

    def put(self, notice: Notice) -> None:
        self.kept.append(notice)

    def say(self, *_: Any) -> None: ...

    def write(self, event: str, **fields: Any) -> None: ...


@cache
def _source(path: Path, name: str) -> tuple[Provider, SourceFile]:
    """Nothing in a log changes whose it is."""
    found = detect(path, PROVIDERS["gemini" if name == "document" else name])
    assert found is not None
    return found


class Store:
    """Does, one after the other, what an engine does with sessions that it knows."""

    def __init__(self, town: Town, fs: Fs) -> None:
        self._town = town
        self._fs = fs
        home, clock = town.home, town.clock
        self._news = news = _News()
        self._store = SessionStore(home, clock, fs)
        self._stores = Stores(home, self._store, clock, fs)
        self._index = IndexStore(home, clock, fs)
        config = Config()
        policy = write_policy(config, home, town.base)
        self.recorder = Recorder(home, self._store, policy, clock, fs, news)
        self._keeper = Keeper(home, fs, self._store, self._index, self.recorder, news, lambda key: None)  # type: ignore[arg-type]
        around = Surroundings(town.base, policy, config.markdown, clock, news, self._keeper.others_at, town.new_id)
        director = Director(around)
        self._commands = ChatCommands(director, news)
        self._desk = desk.Desk(home, self._store, director, self, lambda: self._index.entries, clock, news)
        self._watched: set[str] = set()
        self._since: str | None = None

    @property
    def notices(self) -> deque[Notice]:
        return self._news.kept

    def start(self) -> None:
        home = self._town.home
        try:
            make_folders(self._fs, home.sessions)
            self._fs.sync_folder(home.sessions)
        except OSError as error:
            raise HomeUnusable(in_words(error)) from error
        self._since = stamp(self._town.clock.now())
        self._index.load()
        self._keeper.clear_leftovers()
        self._keeper.settle()

    def poll(self) -> None:
        for log in self._town.logs.values():
            self._look(log)

    def _look(self, log: Log) -> None:
        if not self._changed(log):
            return
        try:
            self._bring(log)
        except (KatoError, OSError):
            # Tried again at the next look; what never comes right is seen at the end.
            return
        self._keeper.record(log.key)

    def hint(self, how: Hint, paths: list[Path]) -> None:
        for path in paths if how == "look" else [log.path for log in self._town.logs.values()]:
            self._look(next(log for log in self._town.logs.values() if log.path == path))

    def _changed(self, log: Log) -> bool:
        entry, now = self._index.entries.get(log.key), reader.stamp_of(log.path)
        if entry is None or entry.source is None:
            return now is not None
        return now is not None and (entry.source.size, entry.source.mtime_ns) != (now.size, now.mtime_ns)

    def _bring(self, log: Log) -> None:
        provider, source = _source(log.path, log.name)
        ingest = SessionIngest(
            self._stores,
            provider,
            [source],
            keep_twin=True,
            live=log.key in self._watched,
            commands=self._commands,
            since=self._since,
        )
        ingest.run()
        self._index.put(ingest.metadata)
        self._watched.add(log.key)

    def submit(self, intent: Intent) -> Outcome:
        outcome, changed = self._desk.submit(intent)
        for key in changed:
            self._keeper.record(key)
        return outcome

    def session_candidates(self) -> list[resolve.SessionCandidate]:
        return desk.session_candidates((log.key, str(log.path)) for log in self._town.logs.values())

    def freshen(self, key: str, *, keep_twin: bool) -> None:
        for log in self._town.logs.values():
            if log.key == key:
                self._bring(log)

    def tick(self) -> None:
        self._keeper.tick()

    def close(self) -> None:
        self._keeper.flush()

    def killed(self) -> None: ...


def _town(base: Path, names: Iterable[str]) -> Town:
    def process(town: Town, fs: Fs) -> Process:
        return Store(town, fs)

    return Town(base, names, process)


#: Whose sessions were met, the files as they were then, and what is not seen in them.
_Begun = tuple[tuple[str, ...], Stored, dict[str, Any]]


class Stage:
    """One session of each kind, and two of each two, met once and laid out again for every life."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._begun = [[self._begin(names) for names in combinations(SESSIONS, many)] for many in (1, 2)]

    def _begin(self, names: tuple[str, ...]) -> _Begun:
        shutil.rmtree(self._base, ignore_errors=True)
        town = _town(self._base, names)
        town.begin()
        town.close()
        return names, stored(self._base), town.saved()

    def play(self, number: int) -> None:
        dice = random.Random(number)
        names, content, saved = dice.choice(dice.choice(self._begun))
        lay_out(self._base, content)
        town = _town(self._base, names)
        town.restore(saved)
        town.disk = Disk()
        with small_pieces(*dice.choice(_PIECES)):
            lead(Life(town), drawn(dice, names, _MOST), check_files)


def player(base: Path) -> Callable[[int], None]:
    return Stage(base / "town").play
