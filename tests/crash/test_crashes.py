"""A crash at any operation, then a restart: every event is in the twin once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from kato_tui.core.ingest import reader
from kato_tui.core.paths import Home
from tests.conftest import ManualClock
from tests.crashing import CUTS, DISK_FULL, IO_ERROR, Crash, CrashingFs, Cut, half
from tests.toy import Bench, say

Day = Callable[[Bench, CrashingFs | None], None]


def _appends(bench: Bench, fs: CrashingFs | None) -> None:
    """A log that grows in three goes, the last one while the twin is not wanted."""
    log = [
        say(f"line {n}", count=True, note="n", **({"id": "same", "again": True} if n % 3 == 0 else {}))
        for n in range(9)
    ]
    for end, keep in ((4, True), (7, False), (9, True)):
        bench.path.write_bytes(b"".join(log[:end]))
        bench.ingest(fs=fs, keep_twin=keep)


def _rewrite(bench: Bench, fs: CrashingFs | None) -> None:
    """A log that is rewritten with its head pruned, its middle changed and something new at its end."""
    bench.path.write_bytes(b"".join(say(f"line {n}", id=str(n)) for n in range(6)))
    bench.ingest(fs=fs)
    changed = [say(f"line {n}", id=str(n)) for n in range(3, 6)]
    bench.path.write_bytes(b"".join([*changed, say("yes"), say("yes"), say("last", id="9")]))
    bench.ingest(fs=fs)


DAYS: dict[str, Day] = {"appends": _appends, "rewrite": _rewrite}


def _run(base: Path, day: Day, fs: CrashingFs | None) -> Bench:
    home = Home(base / "kato")
    for folder in home.folders():
        folder.mkdir(parents=True, exist_ok=True)
    bench = Bench(home, ManualClock(), base / "talk.jsonl")
    with contextlib.suppress(Crash, OSError):
        day(bench, fs)
    return bench


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "CHUNK", 100)


def _crash_everywhere(tmp_path: Path, name: str, cut: Cut, error: int | None) -> int:
    day = DAYS[name]
    wanted = _run(tmp_path / "reference", day, None)
    counting = CrashingFs()
    _run(tmp_path / "counting", day, counting)
    for at in range(1, counting.count + 1):
        base = tmp_path / f"{at}"
        broken = _run(base, day, CrashingFs(at, cut, error))
        # The log itself goes on: after the restart it has reached the end of the day.
        broken.path.write_bytes(wanted.path.read_bytes())
        broken.ingest()
        texts = broken.texts()
        assert sorted(texts) == sorted(_expected(name, broken, wanted)), f"crash at operation {at}"
        assert [event["seq"] for event in broken.events()] == list(range(1, len(texts) + 1))
        assert not list(broken.home.sessions.glob("*.tmp")) or error is None
    return counting.count


def _expected(name: str, broken: Bench, wanted: Bench) -> list[str]:
    """What was in the log before a rewrite is only there if it had been ingested before the crash."""
    if name == "appends":
        return wanted.texts()
    pruned = {f"line {n}" for n in range(3)}
    seen = {text for text in broken.texts() if text in pruned}
    return [text for text in wanted.texts() if text not in pruned or text in seen]


@pytest.mark.parametrize("day", sorted(DAYS))
@pytest.mark.parametrize("cut", CUTS)
def test_a_kill_at_every_operation_loses_nothing_and_repeats_nothing(tmp_path: Path, day: str, cut: Cut) -> None:
    assert _crash_everywhere(tmp_path, day, cut, None) > 20


@pytest.mark.parametrize("day", sorted(DAYS))
@pytest.mark.parametrize("error", [DISK_FULL, IO_ERROR])
def test_an_error_at_every_operation_heals(tmp_path: Path, day: str, error: int) -> None:
    assert _crash_everywhere(tmp_path, day, half, error) > 20


def test_a_twin_without_its_metadata_is_continued_not_doubled(tmp_path: Path) -> None:
    bench = _run(tmp_path, _appends, None)
    before = bench.twin()
    bench.home.meta(bench.key).unlink()
    with bench.path.open("ab") as log:
        log.write(say("more"))
    bench.ingest()
    assert bench.twin().startswith(before)
    assert bench.texts()[-1] == "more"


def test_a_source_rewritten_during_a_crash_is_noticed(tmp_path: Path) -> None:
    """The twin took events that the metadata does not know, and the log no longer gives them."""
    bench = _run(tmp_path, lambda bench, fs: None, None)
    bench.path.write_bytes(say("one", id="1"))
    bench.ingest()
    saved = bench.home.meta(bench.key).read_bytes()
    bench.path.write_bytes(say("one", id="1") + say("two", id="2"))
    bench.ingest()
    bench.home.meta(bench.key).write_bytes(saved)
    bench.path.write_bytes(say("one", id="1") + say("other", id="3"))
    report = bench.ingest()
    assert report.counters["rewrites"] == 1
    assert bench.texts() == ["one", "two", "other"]
