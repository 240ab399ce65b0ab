"""Batches: any cut of a log into appends, restarts, crashes and rewrites gives the twin that one pass gives."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from kato_tui.core.errors import SourceUnreadable
from kato_tui.core.ingest import reader
from kato_tui.core.model.events import TwinEvent
from kato_tui.core.paths import Home
from kato_tui.core.store.sessions import SessionStore, read_metadata
from tests.conftest import ManualClock
from tests.toy import Bench, ShakyToy, say, toy_source

records = st.lists(
    st.builds(
        lambda text, number, again, note: say(
            text, count=True, **({"id": f"m{number}"} if number else {}), **({"again": True} if again else {}), **note
        ),
        st.sampled_from(["yes", "no", "::start", "über", "a\nb", "\x1b[31mred", "x" * 300]),
        st.integers(0, 6),
        st.booleans(),
        st.sampled_from([{}, {"note": "n"}]),
    ),
    max_size=25,
)


@pytest.fixture
def bench(home: Home, clock: ManualClock, tmp_path: Path) -> Bench:
    return Bench(home, clock, tmp_path / "talk.jsonl")


@given(
    log=records,
    cuts=st.lists(st.integers(0, 10_000), max_size=8),
    chunk=st.sampled_from([7, 64, 4096]),
    piece=st.sampled_from([0, 30, 300, 4096]),
)
def test_any_pieces_with_restarts_between_give_the_twin_of_one_pass(
    tmp_path_factory: pytest.TempPathFactory, log: list[bytes], cuts: list[int], chunk: int, piece: int
) -> None:
    base = tmp_path_factory.mktemp("pieces")
    bench = _bench(base)
    data = b"".join(log)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "CHUNK", chunk)
        patch.setattr(reader, "PIECE", piece)
        for cut in [*sorted(cut % (len(data) + 1) for cut in cuts), len(data)]:
            bench.path.write_bytes(data[:cut])
            bench.ingest()
    assert bench.twin() == bench.one_pass()


def _bench(base: Path) -> Bench:
    home = Home(base / "kato")
    for folder in home.folders():
        folder.mkdir(parents=True, exist_ok=True)
    return Bench(home, ManualClock(), base / "talk.jsonl")


@given(log=records)
def test_reading_a_log_again_from_its_start_adds_nothing(
    tmp_path_factory: pytest.TempPathFactory, log: list[bytes]
) -> None:
    bench = _bench(tmp_path_factory.mktemp("again"))
    bench.path.write_bytes(b"".join(log))
    bench.ingest()
    before = bench.twin()
    bench.home.meta(bench.key).unlink()
    bench.ingest()
    assert bench.twin() == before


@given(log=records, pauses=st.lists(st.booleans(), min_size=1, max_size=6))
def test_a_twin_that_is_kept_only_now_and_then_ends_up_the_same(
    tmp_path_factory: pytest.TempPathFactory, log: list[bytes], pauses: list[bool]
) -> None:
    bench = _bench(tmp_path_factory.mktemp("pauses"))
    step = len(log) // len(pauses) + 1
    for number, keep in enumerate(pauses):
        bench.path.write_bytes(b"".join(log[: (number + 1) * step]))
        bench.ingest(keep_twin=keep)
    bench.ingest()
    assert bench.twin() == bench.one_pass()


def test_every_line_of_a_twin_validates(bench: Bench) -> None:
    bench.path.write_bytes(say("hi", id="a", note="seen") + b'{"other": 1}\n' + b"not json\n")
    bench.ingest(live=True)
    for event in bench.events():
        TwinEvent.model_validate(event)
    kinds = [event["kind"] for event in bench.events()]
    assert kinds == ["user.message", "provider.info", "provider.raw", "provider.raw"]


def test_a_torn_last_line_waits_for_its_newline(bench: Bench) -> None:
    bench.path.write_bytes(say("one") + b'{"say": "tw')
    bench.ingest()
    assert bench.texts() == ["one"]
    bench.path.write_bytes(say("one") + b'{"say": "two"}\n')
    bench.ingest()
    assert bench.texts() == ["one", "two"]


def test_nothing_is_read_again_when_only_a_little_was_appended(bench: Bench) -> None:
    bench.path.write_bytes(say("x" * 1000) * 500)
    bench.ingest()
    with bench.path.open("ab") as log:
        log.write(say("new"))
    assert bench.ingest().bytes_read == len(say("new"))


def test_capture_times_are_only_on_what_arrived_while_watching(bench: Bench) -> None:
    bench.path.write_bytes(say("before"))
    bench.ingest()
    with bench.path.open("ab") as log:
        log.write(say("now"))
    bench.ingest(live=True)
    assert [event.get("time") for event in bench.events()] == [None, {"capturedAt": "2026-11-18T09:00:00.000Z"}]


def test_a_truncated_log_keeps_its_events_in_the_twin(bench: Bench) -> None:
    bench.path.write_bytes(say("one", id="1") + say("two", id="2"))
    bench.ingest()
    bench.path.write_bytes(say("one", id="1"))
    assert bench.ingest().counters["rewrites"] == 1
    with bench.path.open("ab") as log:
        log.write(say("three", id="3"))
    bench.ingest()
    assert bench.texts() == ["one", "two", "three"]


def test_a_log_replaced_by_a_larger_one_is_noticed_and_only_news_are_added(bench: Bench) -> None:
    bench.path.write_bytes(say("yes") + say("yes"))
    bench.ingest()
    bench.path.write_bytes(say("first") + say("yes") + say("yes") + say("yes"))
    report = bench.ingest()
    assert report.counters["rewrites"] == 1
    assert bench.texts() == ["yes", "yes", "first", "yes"]


def test_ids_that_change_with_a_rewrite_are_matched_by_content(home: Home, clock: ManualClock, tmp_path: Path) -> None:
    bench = Bench(home, clock, tmp_path / "talk.jsonl", ShakyToy())
    bench.path.write_bytes(say("hello") + say("bye", id="old"))
    bench.ingest()
    bench.path.write_bytes(say("hello", id="new-1") + say("bye", id="new-2") + say("more", id="new-3"))
    bench.ingest()
    assert bench.texts() == ["hello", "bye", "more"]


def test_a_pruned_head_is_no_loss(bench: Bench) -> None:
    bench.path.write_bytes(b"".join(say(f"line {n}", id=str(n)) for n in range(10)))
    bench.ingest()
    bench.path.write_bytes(b"".join(say(f"line {n}", id=str(n)) for n in range(5, 12)))
    bench.ingest()
    assert bench.texts() == [f"line {n}" for n in range(12)]


def test_a_moved_log_continues_where_it_was(bench: Bench, tmp_path: Path) -> None:
    bench.path.write_bytes(say("one"))
    bench.ingest()
    moved = tmp_path / "archive" / "talk.jsonl"
    moved.parent.mkdir()
    bench.path.rename(moved)
    with moved.open("ab") as log:
        log.write(say("two"))
    report = bench.ingest(path=moved)
    assert (report.counters["rewrites"], report.bytes_read) == (0, len(say("two")))
    assert bench.texts() == ["one", "two"]


def test_a_compressed_log_continues_where_the_plain_one_was(bench: Bench, tmp_path: Path) -> None:
    bench.path.write_bytes(say("one"))
    bench.ingest()
    packed = tmp_path / "talk.jsonl.zst"
    packed.write_bytes(zstandard.compress(say("one") + say("two")))
    report = bench.ingest(path=packed)
    assert report.counters["rewrites"] == 0
    assert bench.texts() == ["one", "two"]


def test_damaged_zstd_is_an_error_of_that_session_only(bench: Bench, tmp_path: Path) -> None:
    packed = tmp_path / "talk.jsonl.zst"
    packed.write_bytes(b"\x28\xb5\x2f\xfd garbage")
    with pytest.raises(SourceUnreadable):
        bench.ingest(path=packed)


def test_files_that_continue_one_another_are_one_twin(bench: Bench, tmp_path: Path) -> None:
    more = tmp_path / "talk+2.jsonl"
    bench.path.write_bytes(say("one", count=True))
    bench.ingest()
    more.write_bytes(say("two", count=True))
    sources = [toy_source(bench.path), toy_source(more)]
    bench.ingest(sources=sources)
    bench.ingest(sources=sources)
    assert bench.texts() == ["one #1", "two #2"]


def test_a_document_is_compared_message_by_message(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_bytes(_document({"say": "hi", "id": "a"}, {"say": "yes"}, {"say": "yes"}))
    bench.ingest(path=path)
    path.write_bytes(
        _document({"say": "hi", "id": "a", "note": "late"}, {"say": "yes"}, {"say": "yes"}, {"say": "yes"})
    )
    bench.ingest(path=path)
    assert bench.texts() == ["hi", "yes", "yes", "late", "yes"]


def test_a_half_written_document_changes_nothing(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    whole = _document({"say": "hi", "id": "a"})
    path.write_bytes(whole)
    bench.ingest(path=path)
    before = read_metadata(bench.home.meta(bench.key))
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(SourceUnreadable):
            bench.ingest(path=path)
    assert read_metadata(bench.home.meta(bench.key)) == before
    assert bench.texts() == ["hi"]


def test_a_twin_wanted_later_is_built_from_an_unchanged_document(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_bytes(_document({"say": "hi", "id": "a"}))
    bench.ingest(path=path, keep_twin=False)
    assert bench.twin() == b""
    bench.ingest(path=path)
    assert bench.texts() == ["hi"]


def _document(*messages: dict[str, object]) -> bytes:
    return orjson.dumps({"messages": list(messages)}, option=orjson.OPT_INDENT_2)


def test_facts_are_the_same_with_and_without_a_twin(bench: Bench, clock: ManualClock) -> None:
    bench.path.write_bytes(say("title here") + say("two"))
    bench.ingest(keep_twin=False)
    without = SessionStore(bench.home, clock).load(bench.key)
    bench.ingest()
    kept = SessionStore(bench.home, clock).load(bench.key)
    assert without is not None and kept is not None
    assert without.facts == kept.facts
    assert (kept.facts.title, kept.facts.user_messages) == ("title here", 2)


def test_a_line_beyond_the_limit_is_kept_as_a_fact(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_LINE", 2000)
    monkeypatch.setattr(reader, "CHUNK", 512)
    bench.path.write_bytes(say("before") + say("y" * 5000) + say("after"))
    bench.ingest()
    kinds = [event["payload"].get("rawType") or event["payload"]["text"] for event in bench.events()]
    assert kinds == ["before", "oversize-line", "after"]
    assert bench.events()[1]["payload"]["raw"]["length"] == len(say("y" * 5000)) - 1
