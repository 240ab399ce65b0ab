"""With an engine running, commands go through its socket; this fake stands where its client will be."""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from kato_tui import cli
from kato_tui.attach import attach
from kato_tui.commands import backend, clean, events, logs, record, service, status
from kato_tui.commands.talk import say
from kato_tui.core import client, link
from kato_tui.core.client import RequestFailed
from kato_tui.core.errors import KatoError, SessionNotFound
from kato_tui.core.paths import Home

STATUS: dict[str, Any] = {
    "engine": {"sessions": 0, "activeRecordings": 0, "bytesBehind": 0, "watching": "events", "pid": 7, "roots": []},
    "sessions": [],
    "warnings": [],
}


class FakeEngine:
    """Answers by operation and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.answers: dict[str, Any] = {"status": STATUS}
        self.refusal: Exception | None = None

    def close(self) -> None:
        return

    def request(self, op: str, **fields: Any) -> dict[str, Any]:
        self.asked.append((op, fields))
        if self.refusal is not None:
            raise self.refusal
        answer = self.answers[op]
        found: dict[str, Any] = answer.pop(0) if isinstance(answer, list) else answer
        return found


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeEngine]:
    made = FakeEngine()
    monkeypatch.setattr(link, "Client", lambda home, timeout: made)
    monkeypatch.setenv("KATO_HOME", str(tmp_path / "kato"))
    yield made
    assert not (tmp_path / "kato").exists(), "a command worked beside the running engine"


def _arguments(**fields: Any) -> argparse.Namespace:
    return argparse.Namespace(**{"json": False, "all": False, "live": False, "session": None, **fields})


def test_status_is_asked_of_the_running_engine(engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    assert status.run_status(_arguments()) == 0
    assert "engine 7 watches by events" in capsys.readouterr().out
    assert [op for op, _ in engine.asked] == ["status"]


def test_an_intent_is_sent_as_it_would_stand_in_a_chat(
    engine: FakeEngine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    engine.answers["submit"] = {"code": "done", "severity": "info", "message": "recording"}
    assert record.run_start(_arguments(session="0a0b0c0d", dest="x y.md", begin="-3")) == 0
    assert engine.asked[-1][1]["intent"] == {
        "action": "start",
        "argument": f'"{tmp_path}/x y.md" from -3',
        "session": "0a0b0c0d",
        "origin": "command-line",
    }
    captured = capsys.readouterr()
    assert captured.out == "recording\n" and captured.err == ""


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        ({"code": "ambiguous", "severity": "error", "message": "two"}, 3),
        ({"code": "too-short", "severity": "error", "message": "short"}, 3),
        ({"code": "denied-outside", "severity": "error", "message": "no"}, 1),
        ({"code": "done", "severity": "info", "message": "ok", "also": [
            {"code": "ambiguous-target", "severity": "warning", "message": "both"}]}, 0),
        ({"code": "done", "severity": "info", "message": "ok", "also": [
            {"code": "not-saved", "severity": "error", "message": "disk"}]}, 1),
    ],
)  # fmt: skip
def test_outcomes_have_their_exit_codes(engine: FakeEngine, outcome: dict[str, Any], code: int) -> None:
    engine.answers["submit"] = outcome
    assert record.run_stop(_arguments(target="0a0b0c0d")) == code


def test_events_come_in_pages_until_there_are_no_more(
    engine: FakeEngine, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    engine.answers["events"] = [
        {"events": [{"seq": 1}, {"seq": 2}], "lastSeq": 3},
        {"events": [{"seq": 3}], "lastSeq": 4},
    ]
    assert events.put_events("0a0b0c0d", 1) == 4
    assert [fields["fromSeq"] for op, fields in engine.asked if op == "events"] == [1, 3]


def test_a_file_that_could_not_be_written_is_a_failure_although_the_wish_stands(
    engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    ref = {"recordingId": "r-1", "recordingShortId": "r", "destination": "/x.md", "sessionShortId": "4ce4cff5"}
    engine.answers["submit"] = {"code": "done", "severity": "info", "message": "exporting to r", "recordings": [ref]}
    failing = {"recordingId": "r-1", "status": "failing", "lastError": "cannot record to /x.md: the disk is full"}
    engine.answers["session"] = {"recordings": [failing, failing | {"recordingId": "another"}]}
    arguments = _arguments(session="4ce4cff5", dest="/x.md", format=None, settings=[])
    assert record.run_export(arguments) == 1
    assert capsys.readouterr().err == "kato-tui: cannot record to /x.md: the disk is full\n"


def test_followed_events_go_on_where_they_ended(engine: FakeEngine) -> None:
    engine.answers["events"] = [
        {"events": [{"seq": 1}], "lastSeq": 1},
        {"events": [], "lastSeq": 1},
        {"events": [{"seq": 2}], "lastSeq": 2},
    ]
    waits = iter([None, None])

    def wait(seconds: float) -> None:
        if next(waits, "over") == "over":
            raise KeyboardInterrupt

    assert events.run_events(_arguments(session="0a0b0c0d", from_seq=1, follow=True), wait) == 0
    assert [fields["fromSeq"] for op, fields in engine.asked if op == "events"] == [1, 2, 2]


def test_a_refusal_of_the_engine_is_the_error_our_own_would_raise(engine: FakeEngine) -> None:
    engine.refusal = RequestFailed("not-found", "no session x")
    with pytest.raises(SessionNotFound, match="no session x"):
        logs.run_rebuild(_arguments(session="xxxxxxxx"))
    engine.refusal = RequestFailed("failed", "cannot")
    with pytest.raises(KatoError, match="cannot"):
        logs.run_rebuild(_arguments(session="xxxxxxxx"))


def test_an_engine_that_goes_in_the_middle_is_said_and_not_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KATO_HOME", str(tmp_path))
    (tmp_path / "run").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "run" / "control.sock"))
        listener.listen()
        leaving = threading.Thread(target=lambda: listener.accept()[0].close())
        leaving.start()
        assert cli.run(["status"]) == 1
        leaving.join()
    assert "the engine closed the connection" in capsys.readouterr().err


@pytest.fixture
def mute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """The socket of an engine that was stopped: the system takes the connections, nobody answers."""
    monkeypatch.setenv("KATO_HOME", str(tmp_path))
    monkeypatch.setattr(client, "_SOON", 0.01)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "engine.lock").write_text("4711\n")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "run" / "control.sock"))
        listener.listen()
        yield listener


def test_a_command_says_whom_it_waits_for(
    mute: socket.socket, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    awake = threading.Event()

    def tell(text: str) -> None:
        say(text)
        awake.set()

    def answer() -> None:
        connection, _ = mute.accept()
        with connection, connection.makefile("rb") as asked:
            asked.readline()
            assert awake.wait(10)
            connection.sendall(json.dumps({"ok": True, "result": STATUS}).encode() + b"\n")

    monkeypatch.setattr(backend, "say", tell)
    engine = threading.Thread(target=answer)
    engine.start()
    assert cli.run(["status"]) == 0
    engine.join()
    said = capsys.readouterr()
    assert "the engine (process 4711) does not answer yet" in said.err and "nothing found" in said.out


@pytest.mark.usefixtures("mute")
def test_a_screen_does_not_stay_empty_for_an_engine_that_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(client.NotAnswering, match="process 4711"):
        attach(Home(tmp_path), pytest.fail)


def test_cleaning_is_asked_of_the_running_engine(engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.answers["clean"] = {"done": True, "bytes": 0, "sessions": [], "files": [], "refused": {}}
    assert clean.run_clean(_arguments(older_than=3, yes=True)) == 0
    assert engine.asked[-1] == ("clean", {"olderThan": 3, "yes": True})
    assert capsys.readouterr().out == "nothing to clean\n"


def test_live_redraws_on_a_terminal_and_tells_changes_in_a_pipe(
    engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    session = {"sessionId": "0a0b0c0d-1", "sessionShortId": "0a0b0c0d", "provider": "claude", "reason": "idle"}
    first, second = {**STATUS, "sessions": [session]}, {**STATUS, "sessions": [{**session, "reason": "acting"}]}

    def play(**fields: Any) -> str:
        engine.answers["status"] = [first, first, second]
        waits = iter([None, None])

        def wait(seconds: float) -> None:
            if next(waits, "over") == "over":
                raise KeyboardInterrupt

        assert (
            status.live(
                _arguments(live=True, **{k: v for k, v in fields.items() if k == "json"}), wait, fields.get("tty")
            )
            == 0
        )
        return capsys.readouterr().out

    piped = play(tty=False).splitlines()
    assert len(piped) == 2 and "○ idle" in piped[0] and "● working" in piped[1]
    assert play(tty=True).count("\x1b[H\x1b[J") == 3
    assert [orjson.loads(line)["sessions"][0]["reason"] for line in play(json=True).splitlines()] == [
        "idle",
        "idle",
        "acting",
    ]


def test_status_of_a_running_engine_needs_neither_pydantic_nor_the_engine() -> None:
    code = (
        "import sys\n"
        "from kato_tui.core import link\n"
        "class Client:\n"
        "    def __init__(self, home, timeout): pass\n"
        "    def close(self): pass\n"
        f"    def request(self, op, **fields): return {STATUS!r}\n"
        "link.Client = Client\n"
        "from kato_tui.cli import run\n"
        "assert run(['status']) == 0 and run(['status', '--json']) == 0\n"
        "loaded = {'pydantic', 'textual', 'orjson', 'kato_tui.core.engine'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_unit_file_is_printed_for_the_program_that_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["/nowhere/pytest"])
    assert service.run_service(_arguments(kind="systemd", what="print-unit")) == 0
    assert capsys.readouterr().out.startswith("[Unit]")
    assert service.program().endswith("kato-tui")
