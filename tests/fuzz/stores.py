"""Targets: kato-tui's own files as a crash, a failing disk or somebody with an editor leaves them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Final

import orjson

from kato_tui.core.config import Config, load_config
from kato_tui.core.errors import ConfigError, NeedsRebuild
from kato_tui.core.model.index import FileOwner
from kato_tui.core.paths import Home
from kato_tui.core.providers.registry import PROVIDERS
from kato_tui.core.store.index import IndexStore
from kato_tui.core.store.sessions import encode_metadata, read_metadata
from kato_tui.core.store.twin import LineEncoder, Twin
from tests.conftest import ManualClock
from tests.crashing import CrashingFs
from tests.fuzz.corpus import FORMS, twin
from tests.fuzz.mutation import bent, dumped, mutated
from tests.fuzz.target import Target
from tests.machine import CLAUDE, Machine
from tests.unit import claude_log

_CONFIG: Final = b"""\
globalAutoGenerateSnapshots = true
cleanSessionStatesOnShutdown = false
allowedWriteRoots = ["~", "/notes"]
theme = "kato-dark"
bell = false
[keymap]
quit = "q"
[[roots]]
provider = "claude"
path = "~/.claude/projects"
autoGenerateSnapshots = false
[markdown]
thinking = true
toolResultLimit = "all"
[watch]
mode = "auto"
"""
_CONFIG_TOKENS: Final = (
    *(b"=", b"[", b"]", b"[[", b"]]", b'"', b"'", b"'''", b"#", b".", b"\n", b"\r", b"\x00", b"\xff", b"true", b"nan"),
    *(
        b"inf",
        b"9" * 30,
        b"[[roots]]\n",
        b"[keymap]\n",
        b'x = "',
        b"watch.mode = 1\n",
        b"1979-05-27",
        b"{a=1}",
        b"[" * 2000,
    ),
)


class TwinTarget(Target):
    """A twin whose tail is anything: the whole lines are kept, the rest is set aside, nothing is lost or invented."""

    name = "twin"
    weight = 3

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self._good = [twin(form, base / "log").splitlines(keepends=True) for form in FORMS if form.layout == "lines"]
        self._path = base / "claude:x.twin.jsonl"

    def make(self, rng: Random) -> bytes:
        lines = list(rng.choice(self._good)[: rng.randint(0, 12)])
        if lines and rng.random() < 0.3:
            at = rng.randrange(len(lines))
            lines[at : at + 1] = rng.choice(
                ([], [lines[at]] * 2, [mutated(rng, lines[at])], [b"\x00" * len(lines[at])])
            )
        data = b"".join(lines)
        return mutated(rng, data, most=2) if rng.random() < 0.7 else data

    def check(self, data: bytes, rng: Random) -> None:
        self._path.write_bytes(data)
        known = rng.choice((0, 0, rng.randint(0, 3)))
        lines = data.splitlines(keepends=True)[:known] if b"\x0b" not in data else []
        length, seq = sum(map(len, lines)), len(lines) + 1
        kept = Twin(CrashingFs(), self._path, _encoder(), seq, length)
        try:
            recovered = kept.recover()
            events = list(kept.read(seq))
        except NeedsRebuild:
            return
        finally:
            torn = [path.read_bytes() for path in self.base.glob("*.torn-*")]
            for path in self.base.glob("*.torn-*"):
                path.unlink()
            left = self._path.read_bytes()
            assert data == left + b"".join(torn)
        assert len(left) == kept.length
        assert [event["seq"] for event in events] == list(range(seq, kept.next_seq)) and len(events) == recovered
        self._reads_from_anywhere(kept, events, rng)

    @staticmethod
    def _reads_from_anywhere(kept: Twin, events: list[dict[str, Any]], rng: Random) -> None:
        if not events or events[0]["seq"] != 1:
            return
        begin = rng.randint(1, kept.next_seq)
        assert list(kept.read(begin)) == events[begin - 1 :]


def _encoder() -> LineEncoder:
    return LineEncoder({"provider": "claude"}, "byte-offset")


class _StateFile(Target):
    """A state file in JSON: bent as JSON, or broken as bytes."""

    good: bytes

    def make(self, rng: Random) -> bytes:
        if rng.random() < 0.6:
            return dumped(bent(rng, orjson.loads(self.good)))
        return mutated(rng, self.good)


class MetadataTarget(_StateFile):
    """Metadata is understood exactly, and written back the same, or refused and left alone."""

    name = "metadata"
    weight = 4

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        machine = _recorded(base)
        self.good = _same_everywhere(machine, machine.home.meta(CLAUDE.key).read_bytes())
        self._path = base / "one.meta.json"

    def check(self, data: bytes, rng: Random) -> None:
        self._path.write_bytes(data)
        try:
            found = read_metadata(self._path)
        except NeedsRebuild as error:
            str(error).encode()
            assert self._path.read_bytes() == data
            return
        self._path.write_bytes(encode_metadata(found))
        assert read_metadata(self._path) == found


class IndexTarget(_StateFile):
    """The index is used or made anew: nothing in it may stop the engine, and what it says is written back."""

    name = "index"
    weight = 2

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        machine = _recorded(base)
        self._home = machine.home
        machine.home.meta(CLAUDE.key).unlink()
        index = orjson.loads(_same_everywhere(machine, machine.home.index.read_bytes()))
        owner = {"size": 1, "mtimeNs": 2, "provider": "gemini", "providerSessionId": "x", "layout": "document"}
        index["files"] = {"/a/session-x.json": owner}
        self.good = orjson.dumps(index)

    def check(self, data: bytes, rng: Random) -> None:
        self._home.index.write_bytes(data)
        store = IndexStore(self._home, ManualClock(), CrashingFs())
        usable = store.load()
        # No metadata, no entry: the index is a cache of what is there.
        assert store.entries == {} and (usable or store.files == {})
        store.put_files({**store.files, "/b": FileOwner(size=1, mtime_ns=1, provider="claude")})
        store.save(force=True)
        again = IndexStore(self._home, ManualClock(), CrashingFs())
        assert again.load() and again.files == store.files


def _recorded(base: Path) -> Machine:
    """A session with a recording, so that every field of the state files is there."""
    machine = Machine(base / "machine")
    machine.write(claude_log.lines(*claude_log.conversation("hi", "hello")))
    machine.run()
    with machine.path.open("ab") as log:
        said = claude_log.typed("::capture ~/x.md\nmore", "u2", 3)
        log.write(claude_log.lines(said, {"type": "unheard"}))
    machine.run()
    return machine


def _same_everywhere(machine: Machine, data: bytes) -> bytes:
    """Without what differs from run to run: an input is found again by its number alone."""
    data = data.replace(bytes(machine.base), b"/home/user")
    data = re.sub(rb'("(?:mtimeNs|metadataStamp)": ?)(?:\d+|\[[^\]]*\])', rb"\g<1>null", data)
    data = data.replace(b'"mtimeNs":null', b'"mtimeNs":5').replace(b'"mtimeNs": null', b'"mtimeNs": 5')
    return re.sub(rb"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}", b"0f0f0f0f-0000-4000-8000-000000000001", data)


class ConfigTarget(Target):
    """Settings are taken as they are or refused with a sentence that says where."""

    name = "config"
    weight = 3

    def make(self, rng: Random) -> bytes:
        lines = _CONFIG.splitlines(keepends=True)
        if rng.random() < 0.3:
            rng.shuffle(lines)
        return mutated(rng, b"".join(lines), _CONFIG_TOKENS)

    def check(self, data: bytes, rng: Random) -> None:
        path = self.base / "config.toml"
        path.write_bytes(data)
        try:
            found = load_config(path)
        except ConfigError as error:
            assert str(path) in str(error)
            str(error).encode()
            return
        assert Config.model_validate(found.model_dump(mode="json", by_alias=True, exclude_none=True)) == found


class NamesTarget(Target):
    """Files of any name where logs lie: whose they are is told without a word, and never outside their folder."""

    name = "names"
    weight = 2
    _NAMES: ClassVar = (
        *(b"0f0f0f0f-0000-4000-8000-000000000001.jsonl", b"agent-x.jsonl", b"journal.jsonl", b"session-x.json"),
        *(b"rollout-2026-05-01T10-00-00-019a0000-0000-7000-8000-000000000001.jsonl", b"x.jsonl.zst", b"session-.jsonl"),
    )
    _TOKENS: ClassVar = (
        b"\xff",
        b"\n",
        b"\x1b",
        b".",
        b"..",
        b"-",
        b"_",
        b".zst",
        b".jsonl",
        b"\xe2\x80\xae",
        b" ",
        b":",
    )

    def make(self, rng: Random) -> bytes:
        return mutated(rng, rng.choice(self._NAMES), self._TOKENS).replace(b"/", b"").replace(b"\x00", b"")[:200]

    def check(self, data: bytes, rng: Random) -> None:
        head = rng.choice(rng.choice(FORMS).logs)[0]
        path = self.base / "projects" / "-w" / os.fsdecode(data or b"x")
        home = Home(self.base / "kato")
        for provider in PROVIDERS.values():
            source = provider.identify(path, lambda _: head + b"\n")
            provider.sniff(mutated(rng, head))
            if source is not None:
                key = f"{provider.name}:{source.provider_session_id}"
                key.encode()
                assert home.twin(key).parent == home.sessions and len(os.fsencode(home.twin(key).name)) <= 255


TARGETS: Final = (TwinTarget, MetadataTarget, IndexTarget, ConfigTarget, NamesTarget)
