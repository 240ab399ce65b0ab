"""The benchmarks run: a tiny corpus of every format generation is made, read and reported on. No time is asserted."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from benchmarks import bench, corpus, results
from benchmarks.__main__ import main
from benchmarks.catchup import bring_up
from benchmarks.corpus import MB, Corpus, Size
from benchmarks.registry import Result, at_most, measurements


@pytest.fixture
def small(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path, tuple(corpus.make(tmp_path, Size(MB // 4, 14))))


def test_a_corpus_holds_every_format_generation_and_is_the_same_every_time(small: Corpus, tmp_path: Path) -> None:
    assert {file.kind for file in small.files} == set(corpus._KINDS)
    again = corpus.make(tmp_path / "again", Size(MB // 4, 14))
    for one, other in zip(small.files, again, strict=True):
        assert one.path.read_bytes() == other.path.read_bytes()


@pytest.mark.parametrize("provider", ["claude", "codex", "gemini"])
def test_the_engine_reads_a_corpus_whole_and_knows_all_of_its_records(small: Corpus, provider: str) -> None:
    done = bring_up(str(small.home), str(small.home / "kato"), [provider])
    logs = small.of(provider)
    assert (done["problems"], done["bytes"]) == (0, sum(log.size for log in logs))
    metadata = [orjson.loads(path.read_bytes()) for path in (small.home / "kato" / "sessions").glob("*.meta.json")]
    assert len(metadata) == len(logs)
    assert [one["facts"]["unknownTypes"] for one in metadata] == [{}] * len(logs)


def test_a_corpus_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(corpus.SIZES, "XS", Size(MB // 20, 3))
    first = corpus.ensure(tmp_path, "XS")
    monkeypatch.setattr(corpus, "make", None)
    assert corpus.ensure(tmp_path, "XS") == first


def test_a_task_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    ran = bench.Bench("XS", tmp_path).task(corpus.ensure_size, folder=str(tmp_path), size="XS")
    assert ran.value > MB // 2
    assert ran.peak > MB


def test_all_measurements_are_listed_with_what_they_measure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(one.name in listed and one.about for one in measurements().values())


def test_an_unknown_measurement_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "no-such"]) == 2
    assert "no-such" in capsys.readouterr().err


def test_results_say_which_goal_is_met() -> None:
    found = [
        Result("one", 2.4, "x", at_most(2.5), "a|b"),
        Result("two", 2.6, "x", at_most(2.5)),
        Result("three", 1, "s"),
    ]
    report = results.as_json("S", found)
    assert [one["met"] for one in report["results"]] == [True, False, None]
    page = results.as_markdown(report)
    assert "| one | 2.40 x | <= 2.50 | met | a/b |" in page
    assert "**not met**" in page


def test_remarks_below_the_table_outlive_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "RESULTS", tmp_path / "RESULTS.md")
    results.write(results.as_json("S", [Result("one", 1, "x")]))
    with results.RESULTS.open("a") as page:
        page.write("\n## Remarks\n\nWhy so.\n")
    results.write(results.as_json("S", [Result("two", 2, "x")]))
    page_now = results.RESULTS.read_text()
    assert "| two |" in page_now and "| one |" not in page_now and page_now.endswith("\n## Remarks\n\nWhy so.\n")
