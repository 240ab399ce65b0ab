"""Real logs, where they are at hand: everything translates, validates, adds up, and survives being cut anywhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kato_tui.core import identity
from kato_tui.core.ingest import reader
from kato_tui.core.ingest.batch import SessionIngest, Stores
from kato_tui.core.ingest.translate import Translation
from kato_tui.core.model.events import TwinEvent
from kato_tui.core.paths import Home
from kato_tui.core.providers.registry import PROVIDERS, detect
from kato_tui.core.store.sessions import SessionStore
from tests.conftest import ManualClock
from tests.samples import SAMPLES, needs_samples, provider_of, sample_files

pytestmark = needs_samples

FILES = sample_files() if SAMPLES.is_dir() else []


def test_every_sample_is_recognised_by_its_content() -> None:
    wrong = []
    for path in FILES:
        found = detect(path)
        if found is None or found[0].name != provider_of(path):
            wrong.append(path.name)
    assert wrong == []


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_every_line_validates_and_every_record_is_accounted_for(name: str) -> None:
    count = 0
    for path in (path for path in FILES if provider_of(path) == name):
        found = detect(path, PROVIDERS[name])
        assert found is not None
        translation = Translation(*found)
        for line in translation.lines():
            TwinEvent.model_validate_json(line)
            count += 1
        for record_type, row in translation.tally.items():
            parts = row.translated + row.dropped + row.repeated + row.raw + row.invalid
            assert row.read == parts, (path.name, record_type)
    assert count > 100


class Growing:
    """A sample that grows on disk while engines come and go."""

    def __init__(self, base: Path, sample: Path) -> None:
        found = detect(sample, PROVIDERS[provider_of(sample)])
        assert found is not None
        self.provider, source = found
        self.path = base / sample.name
        self.home = Home(base / "kato")
        for folder in self.home.folders():
            folder.mkdir(parents=True)
        shutil.copyfile(sample, self.path)
        again = detect(self.path, self.provider)
        assert again is not None
        self.source = again[1]
        assert self.source.provider_session_id == source.provider_session_id

    def ingest(self, data: bytes) -> None:
        self.path.write_bytes(data)
        clock = ManualClock()
        stores = Stores(self.home, SessionStore(self.home, clock), clock)
        SessionIngest(stores, self.provider, [self.source], keep_twin=True).run()

    def twin(self) -> bytes:
        key = identity.session_key(self.provider.name, self.source.provider_session_id)
        path = self.home.twin(key)
        return path.read_bytes() if path.exists() else b""

    def one_pass(self) -> bytes:
        return b"".join(Translation(self.provider, self.source).lines())


@pytest.mark.parametrize("sample", [path for path in FILES if path.suffix == ".jsonl"], ids=lambda path: path.name[:60])
def test_a_real_log_in_pieces_with_restarts_gives_the_twin_of_one_pass(
    tmp_path: Path, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = sample.read_bytes()
    data = data if data.endswith(b"\n") else data + b"\n"
    monkeypatch.setattr(reader, "CHUNK", max(1000, len(data) // 20))
    growing = Growing(tmp_path, sample)
    if growing.source.layout == "document":
        pytest.skip("a document in a .jsonl")
    for part in (0.0, 0.13, 0.5, 0.51, 0.9):
        growing.ingest(data[: int(len(data) * part)])
    growing.ingest(data)
    assert growing.twin() == growing.one_pass()


@pytest.mark.parametrize("series", sorted({path.parent for path in FILES if "series" in path.parts}), ids=str)
def test_snapshots_of_a_growing_session_add_up(tmp_path: Path, series: Path) -> None:
    steps = sorted(series.iterdir())
    growing = Growing(tmp_path, steps[-1])
    for step in steps:
        data = step.read_bytes()
        growing.ingest(data if data.endswith(b"\n") else data + b"\n")
    twin, last = growing.twin().splitlines(), growing.one_pass().splitlines()
    # A redactor went over each snapshot anew, so a few lines differ between them; nothing else may be added.
    assert len(last) <= len(twin) <= len(last) * 1.2
