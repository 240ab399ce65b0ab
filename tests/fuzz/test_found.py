"""What the fuzzer found, each as the smallest input that showed it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from kato_tui.core.client import Client
from kato_tui.core.config import Config, load_config
from kato_tui.core.engine import Engine
from kato_tui.core.errors import ConfigError, NeedsRebuild, SessionNotFound
from kato_tui.core.host import Host
from kato_tui.core.ingest import reader
from kato_tui.core.model.events import TwinEvent
from kato_tui.core.providers.base import SourceFile
from kato_tui.core.providers.registry import PROVIDERS
from kato_tui.core.record import frontmatter, recorder
from tests.machine import CLAUDE, CODEX, GEMINI, Machine, Place
from tests.unit import claude_log, codex_log, gemini_log
from tests.unit.talk import calls, rendered


@pytest.mark.parametrize("status", [{}, [], None, 5])
def test_a_task_whose_status_is_no_text_is_a_task_to_do(status: Any) -> None:
    shown = rendered(calls("TodoWrite", {"todos": [{"content": "a", "status": status}]}))
    assert "- [ ] a" in shown


def _events(tmp_path: Path, place: Place, *records: dict[str, Any]) -> list[TwinEvent]:
    machine = Machine(tmp_path, place)
    machine.write(place.lines(*records))
    assert machine.run().problems == {}
    return [TwinEvent.model_validate(event) for event in machine.events()]


@pytest.mark.parametrize("name", ["", " ", "\x9b2J", "x" * 1000])
def test_a_record_type_is_a_short_clean_name(tmp_path: Path, name: str) -> None:
    (event,) = _events(tmp_path, CODEX, codex_log.meta(), {"type": name})
    assert 0 < len(event.source.provider_event_type) <= 80
    assert event.source.provider_event_type.isprintable()


def test_a_thought_of_nothing_but_control_characters_is_no_thought(tmp_path: Path) -> None:
    answer = gemini_log.gemini("yes", thoughts=[gemini_log.thought("", "\x1b]0;x\x07")])
    kinds = [event.kind for event in _events(tmp_path, GEMINI, gemini_log.header(), answer)]
    assert kinds == ["assistant.message"]


def test_injected_text_of_nothing_but_control_characters_is_left_out(tmp_path: Path) -> None:
    records = [codex_log.meta(), codex_log.user_item("\x00\x1b[2J"), *codex_log.prompt("yes")]
    kinds = [event.kind for event in _events(tmp_path, CODEX, *records)]
    assert kinds == ["user.message"]


def test_counts_beyond_all_numbers_still_fit_the_metadata(tmp_path: Path) -> None:
    most = {"input_tokens": 2**53 - 1, "output_tokens": 2**53 - 1}
    records = [
        claude_log.assistant(claude_log.text("x"), uuid=f"a{n}", message=f"m{n}", usage=most) for n in range(1100)
    ]
    assert len(_events(tmp_path, CLAUDE, *records)) == 1100


def test_a_batch_holds_so_many_lines_however_short_they_are(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"\n" * (3 * reader.MAX_LINES + 7))
    lines = reader.LineReader(SourceFile("toy", "s", path))
    assert [len(batch) for batch in iter(lines.batch, [])] == [reader.MAX_LINES] * 3 + [7]
    assert lines.offset == path.stat().st_size
    lines.close()


@pytest.mark.parametrize("number", ["-9223372036854775809", "99999999999999999999"])
def test_metadata_with_a_number_that_cannot_be_written_back_is_refused(tmp_path: Path, number: str) -> None:
    machine = Machine(tmp_path)
    machine.write(claude_log.lines(claude_log.typed("hi")))
    machine.run()
    meta = machine.home.meta(CLAUDE.key)
    value = orjson.loads(meta.read_bytes())
    value["parserState"]["odd"] = 0
    bad = orjson.dumps(value).replace(b'"odd":0', b'"odd":%b' % number.encode())
    meta.write_bytes(bad)
    engine = machine.engine()
    with pytest.raises(NeedsRebuild):
        engine.store.load(CLAUDE.key)
    engine.close()
    assert meta.read_bytes() == bad


def test_settings_nested_beyond_reason_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("x = " + "[" * 100_000)
    with pytest.raises(ConfigError, match="not valid TOML"):
        load_config(path)


@pytest.mark.parametrize("name", ["a\x00b", "\ud800", "/loop/x", "~" * 5000])
def test_a_name_that_no_file_system_takes_names_no_session(tmp_path: Path, name: str) -> None:
    engine = Machine(tmp_path).engine()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(SessionNotFound):
        engine.resolve(name.replace("/loop", str(tmp_path / "loop")))
    engine.close()


def test_a_question_that_no_code_was_ready_for_is_answered_and_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path)
    host = _host(machine)
    monkeypatch.setattr(host.service.engine, "engine_status", _unforeseen)
    with Client(machine.home) as client:
        with pytest.raises(Exception, match=r"fault of kato-tui itself.*KeyError"):
            client.request("status")
        assert client.request("ping")["pid"]
    assert host.service.failure is None
    host.close()


def test_a_session_whose_recording_no_code_was_ready_for_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path)
    drain = recorder.Recorder.drain

    def broken(self: recorder.Recorder, key: str) -> Any:
        if key == CLAUDE.key:
            raise TypeError("unforeseen")
        return drain(self, key)

    monkeypatch.setattr(recorder.Recorder, "drain", broken)
    machine.write(claude_log.lines(*claude_log.conversation("hi", "hello")))
    other = Machine(tmp_path, GEMINI)
    other.write(gemini_log.lines(*gemini_log.conversation("hi", "hello")))
    engine = machine.engine()
    assert engine.bring_up_to_date().events == 4
    assert [notice.code for notice in engine.notices] == ["fault"]
    engine.close()


def test_a_session_that_no_code_was_ready_for_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, other = Machine(tmp_path), Machine(tmp_path, GEMINI)
    machine.write(claude_log.lines(*claude_log.conversation("hi", "hello")))
    other.write(gemini_log.lines(*gemini_log.conversation("hi", "hello")))
    monkeypatch.setattr(PROVIDERS["claude"], "translator", lambda *_: _unforeseen())
    summary = machine.run()
    assert list(summary.problems) == [CLAUDE.key] and "fault of kato-tui" in summary.problems[CLAUDE.key]
    assert len(other.events()) == 2


def _host(machine: Machine) -> Host:
    host = Host(Engine(machine.home, Config(), PROVIDERS, {}, machine.base), Config(), workers=0)
    host.start()
    return host


def _unforeseen() -> Any:
    raise KeyError("x")


@pytest.mark.parametrize("value", ['["\t]', "['a]", '["a]'])
def test_a_list_with_a_quote_that_does_not_end_is_left_alone(value: str) -> None:
    assert frontmatter.merge(f"---\nrecordingIds: {value}\n---\n".encode(), "id-1") is None


def test_blanks_at_the_end_of_a_list_stay() -> None:
    merged = frontmatter.merge(b"---\nrecordingIds: [a, b\t ]\n---\n", "id-1")
    assert merged is not None and b'[a, b\t , "id-1"]' in merged.block


def test_a_wrong_key_whose_line_is_not_found_is_told_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('"ro\\u006fps" = 1\n')
    with pytest.raises(ConfigError, match=f"^{path}: unknown key `roops`"):
        load_config(path)
