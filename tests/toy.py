"""A provider of our own, as small as can be, to test the engine without any assistant's format in the way.

Records: {"say": text, "id"?: id, "again"?: true, "note"?: text, "at"?: time}. Its state counts what was said so far,
so a lost or repeated state shows in the events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import orjson

from kato_tui.core.clock import Clock
from kato_tui.core.ingest.batch import Report, SessionIngest, Stores
from kato_tui.core.ingest.translate import Translation
from kato_tui.core.model import events
from kato_tui.core.model.facts import Facts
from kato_tui.core.paths import Home
from kato_tui.core.providers.base import Provider, ReadHead, Record, SourceFile, Translator
from kato_tui.core.store.fs import Fs
from kato_tui.core.store.sessions import SessionStore


class ToyTranslator(Translator):
    def restore(self, state: Record) -> None:
        self._said = int(state.get("said", 0))

    def save(self) -> Record:
        return {"said": self._said, "nothing": None}

    def record_type(self, record: Record) -> str:
        return "say" if "say" in record else str(next(iter(record), "empty"))

    def translate(self, record: Record) -> None:
        if "say" not in record:
            return
        self._said += 1
        text = record["say"] + (f" #{self._said}" if record.get("count") else "")
        where: dict[str, Any] = {
            "event_id": record.get("id"),
            "check": bool(record.get("again")),
            "timestamp": record.get("at"),
        }
        self.facts.cwd = record.get("cwd", self.facts.cwd)
        self.emit_typed(text, **where)
        if "note" in record:
            self.emit(events.PROVIDER_INFO, {"text": record["note"]}, **where)

    def translate_document(self, document: Record) -> None:
        for number, message in enumerate(document.get("messages", [])):
            self.item("say", {**message, "again": True}, self.translate, number)


class Toy(Provider):
    name: ClassVar[str] = "toy"

    def roots(self, environ: Mapping[str, str], home: Path) -> list[Path]:
        return [home / "toys"]

    def walk(self, root: Path) -> Iterator[Path]:
        if root.is_dir():
            yield from sorted(path for path in root.iterdir() if path.suffix in (".jsonl", ".json", ".zst"))

    def identify(self, path: Path, read_head: ReadHead) -> SourceFile | None:
        return toy_source(path)

    def order(self, sources: list[SourceFile]) -> list[SourceFile]:
        return sorted(sources, key=lambda source: source.generation)

    def sniff(self, head: bytes) -> bool:
        return b'"say"' in head

    def translator(self, source: SourceFile, state: Record | None = None, facts: Facts | None = None) -> Translator:
        return ToyTranslator(source, state, facts)


class ShakyToy(Toy):
    """Gives old records new ids when its log is rewritten."""

    stable_ids: ClassVar[bool] = False


def toy_source(path: Path) -> SourceFile:
    """`talk.jsonl` is the session "talk"; `talk+2.jsonl` continues it."""
    session, _, generation = path.name.split(".")[0].partition("+")
    return SourceFile(
        "toy",
        session,
        path,
        layout="document" if path.suffix == ".json" else "lines",
        compressed=path.suffix == ".zst",
        generation=generation,
    )


def say(text: str, **more: Any) -> bytes:
    return orjson.dumps({"say": text, **more}) + b"\n"


class Bench:
    """One toy session in one home, ingested again and again as a restarted program would."""

    def __init__(self, home: Home, clock: Clock, path: Path, provider: Provider | None = None) -> None:
        self.home = home
        self.clock = clock
        self.path = path
        self.provider = provider or Toy()
        self.key = f"toy:{toy_source(path).provider_session_id}"

    def ingest(
        self,
        *,
        keep_twin: bool = True,
        live: bool = False,
        fs: Fs | None = None,
        path: Path | None = None,
        sources: list[SourceFile] | None = None,
    ) -> Report:
        return self.open(keep_twin=keep_twin, live=live, fs=fs, path=path, sources=sources).run()

    def open(
        self,
        *,
        keep_twin: bool = True,
        live: bool = False,
        fs: Fs | None = None,
        path: Path | None = None,
        sources: list[SourceFile] | None = None,
    ) -> SessionIngest:
        fs = fs or Fs()
        stores = Stores(self.home, SessionStore(self.home, self.clock, fs), self.clock, fs)
        found = sources or [toy_source(path or self.path)]
        return SessionIngest(stores, self.provider, found, keep_twin=keep_twin, live=live)

    def twin(self) -> bytes:
        path = self.home.twin(self.key)
        return path.read_bytes() if path.exists() else b""

    def events(self) -> list[dict[str, Any]]:
        return [orjson.loads(line) for line in self.twin().splitlines()]

    def texts(self) -> list[str]:
        return [event["payload"]["text"] for event in self.events()]

    def texts_or_raw(self) -> list[str]:
        payloads = [event["payload"] for event in self.events()]
        return [payload.get("text", payload.get("rawType")) for payload in payloads]

    def one_pass(self) -> bytes:
        """The twin that a single undisturbed pass over the log gives."""
        return b"".join(Translation(self.provider, toy_source(self.path)).lines())
