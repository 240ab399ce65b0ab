"""The running service over toy logs, and its socket: seen through the hub, never by sleeping."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from kato_tui.core import control, identity
from kato_tui.core import hot as hot_module
from kato_tui.core import service as service_module
from kato_tui.core import turns as turns_module
from kato_tui.core.client import Client, NotRunning
from kato_tui.core.config import Config, WatchConfig
from kato_tui.core.control import Control
from kato_tui.core.engine import Engine
from kato_tui.core.ingest.watch import Changes, Watcher
from kato_tui.core.paths import Home
from kato_tui.core.service import Service
from tests.toy import Toy, say


class Running:
    def __init__(self, base: Path, config: Config) -> None:
        self.logs = base / "toys"
        self.logs.mkdir(exist_ok=True)
        self.home = Home(base / ".kato")
        self.service = Service(Engine(self.home, config, {"toy": Toy()}, {}, base), config)
        self.service.start()
        self.control = Control(self.service)
        self.control.start()

    def wait(self, condition: Callable[[], bool], timeout: float = 10) -> None:
        deadline, version = time.monotonic() + timeout, 0
        while not condition():
            assert time.monotonic() < deadline, "not in time"
            version = self.service.hub.changes(version, 0.2).version

    def holds(self, session: str, word: str) -> bool:
        twin = self.home.twin(f"toy:{session}")
        return twin.exists() and word.encode() in twin.read_bytes()

    def close(self) -> None:
        self.control.close()
        self.service.stop()
        assert self.service.join(2)
        assert self.service.failure is None


@pytest.fixture(params=["events", "polling"])
def running(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Running]:
    config = Config(global_auto_generate_snapshots=True, watch=WatchConfig(mode=request.param))
    found = Running(tmp_path, config)
    yield found
    found.close()


def test_new_logs_appends_and_moves_are_seen(running: Running) -> None:
    path = running.logs / "a.jsonl"
    path.write_bytes(say("one"))
    running.wait(lambda: running.holds("a", "one"))
    with path.open("ab") as log:
        log.write(say("two"))
    running.wait(lambda: running.holds("a", "two"))
    path.rename(running.logs / "b.jsonl")
    running.wait(lambda: running.holds("b", "two"))


def test_the_socket_answers_and_a_garbage_client_harms_nobody(running: Running) -> None:
    with socket.socket(socket.AF_UNIX) as garbage:
        garbage.settimeout(5)
        garbage.connect(str(running.home.socket))
        garbage.sendall(b"\x00nonsense\n")
        assert garbage.recv(10) == b""
    (running.logs / "a.jsonl").write_bytes(say("one"))
    with Client(running.home) as client:
        assert client.request("submit", intent={"action": "capture", "session": "a"})["code"] == "done"
        assert [event["payload"]["text"] for event in client.request("events", session="a")["events"]] == ["one"]
        assert client.request("status")["engine"]["activeRecordings"] == 1
    assert running.home.socket.stat().st_mode & 0o777 == 0o600


def test_when_the_watch_dies_the_sweeps_go_on_and_it_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying, watches = threading.Event(), 0

    def deaf(roots: list[Path], stop: threading.Event) -> Changes:
        """Stands, tells of nothing, and dies when it is told to."""
        nonlocal watches
        watches += 1
        yield None
        while not stop.wait(0.02):
            if dying.is_set() and watches == 1:
                raise OSError("no more watches")
            yield set()

    monkeypatch.setattr(Watcher.__init__, "__defaults__", (deaf,))
    running = Running(tmp_path, Config(global_auto_generate_snapshots=True))
    path = running.logs / "a.jsonl"
    path.write_bytes(say("one"))
    running.wait(lambda: running.holds("a", "one"), timeout=30)
    dying.set()
    running.wait(lambda: watches > 1)
    with path.open("ab") as log:
        log.write(say("two"))
    running.wait(lambda: running.holds("a", "two"))
    running.wait(lambda: running.service.engine.watching == "events")
    running.close()


def test_the_logs_tell_what_was_done_and_no_word_of_what_was_said(running: Running) -> None:
    path = running.logs / "a.jsonl"
    path.write_bytes(say("a secret plan") + say("::start") + say("::strat secret.md"))
    running.wait(lambda: running.holds("a", "strat"))
    path.write_bytes(say("another secret"))
    running.wait(lambda: running.holds("a", "another"))
    with Client(running.home) as client:
        client.request("submit", intent={"action": "capture", "session": "a"})
    running.service.stop()
    assert running.service.join(2)
    told = running.home.operational_log.read_bytes()
    events = [orjson.loads(line) for line in told.splitlines()]
    assert [one["event"] for one in (events[0], events[-1])] == ["engine.started", "engine.stopped"]
    assert events[-1]["counters"]["rewrites"] == 1
    assert any(one["event"] == "read" and one["counters"].get("rewrites") for one in events)
    assert b"secret" not in told + running.home.audit_log.read_bytes()


def test_another_user_is_refused(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "peer_uid", lambda _: -1)
    with Client(running.home) as client, pytest.raises(NotRunning):
        client.request("ping")


def test_twins_are_forgotten_at_the_end_and_made_again_without_running_commands(tmp_path: Path) -> None:
    config = Config(global_auto_generate_snapshots=True, clean_session_states_on_shutdown=True)
    first = Running(tmp_path, config)
    # Whole at once: what comes to a log that was seen empty is typed while somebody watches, and would be done.
    aside = tmp_path / "a.jsonl"
    aside.write_bytes(say("one") + say("::start"))
    aside.rename(first.logs / "a.jsonl")
    first.wait(lambda: first.holds("a", "start"))
    first.close()
    assert not first.home.twin("toy:a").exists()
    second = Running(tmp_path, config)
    second.wait(lambda: second.holds("a", "start"))
    assert not second.service.call(lambda: second.service.engine.index.entries["toy:a"].recordings).result(5)
    second.close()


def test_a_log_that_is_rewritten_while_it_is_read_is_read_again_right_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = Running(tmp_path, Config(global_auto_generate_snapshots=True, watch=WatchConfig(mode="polling")))
    engine, log = running.service.engine, running.logs / "a.jsonl"
    late = [say("two, which is longer")]
    stepped = engine.stepped

    def meanwhile(*arguments: Any) -> None:
        stepped(*arguments)
        if late:
            log.write_bytes(late.pop())
            engine.look([log])

    monkeypatch.setattr(engine, "stepped", meanwhile)
    log.write_bytes(say("one"))
    running.wait(lambda: running.holds("a", "two"))
    running.close()


def test_what_was_worked_on_last_is_read_first_and_a_giant_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "_GIANT", 1000)
    logs = tmp_path / "toys"
    logs.mkdir()
    for age, name in enumerate(("giant", "new", "middle", "old")):
        path = logs / f"{name}.jsonl"
        path.write_bytes(say("word " * (400 if name == "giant" else 1)))
        os.utime(path, (2_000_000 - age, 2_000_000 - age))
    config = Config(global_auto_generate_snapshots=True)
    service = Service(Engine(Home(tmp_path / ".kato"), config, {"toy": Toy()}, {}, tmp_path), config)
    keys = {f"toy:{name}": name for name in ("giant", "new", "middle", "old")}
    shorts = {identity.short_id(identity.session_id(key)): name for key, name in keys.items()}
    service.start()
    deadline = time.monotonic() + 10
    events: tuple[dict[str, object], ...] = ()
    while len(events) < 4 and time.monotonic() < deadline:
        service.hub.changes(service.hub.changes(0).version, 0.1)
        events = service.hub.changes(0).events
    service.stop()
    assert service.join(5)
    assert [shorts[str(event["sessionShortId"])] for event in events] == ["new", "middle", "old", "giant"]


def test_a_session_that_goes_on_rests_between_two_readings_but_never_when_somebody_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns_module, "_REST", 1e9)
    monkeypatch.setattr(turns_module, "_LONGEST_REST", 1e9)
    running = Running(tmp_path, Config(global_auto_generate_snapshots=True))
    log, aside = running.logs / "a.jsonl", tmp_path / "a.jsonl"
    aside.write_bytes(say("one"))
    aside.rename(log)
    running.wait(lambda: running.holds("a", "one"))
    with log.open("ab") as file:
        file.write(say("two"))
    running.wait(lambda: "toy:a" in running.service._turns)
    assert not running.holds("a", "two")
    with Client(running.home) as client:
        told = client.request("events", session="toy:a", fromSeq=1)
    assert [event["payload"]["text"] for event in told["events"]] == ["one", "two"]
    running.close()


def test_only_logs_that_changed_lately_are_looked_at_between_sweeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hot_module, "_MOST", 2)
    logs = tmp_path / "toys"
    logs.mkdir()
    for name in ("old", "a", "b", "c"):
        (logs / f"{name}.jsonl").write_bytes(say("one"))
    os.utime(logs / "old.jsonl", (1, 1))
    running = Running(tmp_path, Config(global_auto_generate_snapshots=True))
    running.wait(lambda: all(running.holds(name, "one") for name in ("old", "a", "b", "c")))
    hot = running.service.call(lambda: set(running.service._hot.keys())).result(5)
    assert len(hot) == 2 and "toy:old" not in hot
    running.close()


def test_a_short_status_leaves_out_what_lists_hide(tmp_path: Path) -> None:
    running = Running(tmp_path, Config())
    for name in ("new", "old"):
        aside = tmp_path / f"{name}.jsonl"
        aside.write_bytes(say("one"))
        aside.rename(running.logs / f"{name}.jsonl")
    entries = running.service.engine.index.entries
    running.wait(lambda: len(entries) == 2)
    entries["toy:old"].facts.last_activity = "2001-01-01T00:00:00Z"
    with Client(running.home) as client:
        short, whole = client.request("status", recent=True), client.request("status")
    assert [one["providerSessionId"] for one in short["sessions"]] == ["new"]
    assert short["hidden"] == {"older than 7 days": 1} and short["engine"]["sessions"] == 2
    assert len(whole["sessions"]) == 2 and "hidden" not in whole
    running.close()
