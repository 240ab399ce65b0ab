"""The real program, running: a process with a home of its own, seen through its socket and its files."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from kato_tui.core.client import NotRunning
from kato_tui.core.clock import stamp
from kato_tui.core.link import RemoteLink
from kato_tui.core.paths import Home
from tests.unit import claude_log

PATIENCE = 30.0


class Running:
    """`kato-tui --no-ui --json` on a machine of its own."""

    def __init__(self, base: Path, config: str = "globalAutoGenerateSnapshots = true\n") -> None:
        self.base = base
        self.home = Home(base / ".kato")
        self.home.root.mkdir(exist_ok=True)
        self.home.config.write_text(config)
        self.projects = base / ".claude" / "projects" / "-w"
        self.environ = {
            "HOME": str(base),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "LC_ALL": "C.UTF-8",
        }
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> RemoteLink:
        """Start the engine and connect to it."""
        with (self.base / "out.jsonl").open("ab") as out, (self.base / "err.txt").open("ab") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "kato_tui", "--no-ui", "--json"], env=self.environ, stdout=out, stderr=err
            )
        return self.connect()

    def connect(self) -> RemoteLink:
        deadline = time.monotonic() + PATIENCE
        while True:
            assert self.process is None or self.process.poll() is None, (self.base / "err.txt").read_text()
            assert time.monotonic() < deadline, "the engine does not answer"
            with contextlib.suppress(NotRunning):
                return RemoteLink(self.home)
            # Nothing tells when a socket appears: ask again, as the command line would.
            time.sleep(0.02)

    def end(self, number: int = signal.SIGTERM) -> tuple[int, float]:
        """The exit code, and the seconds it took."""
        assert self.process is not None
        begun = time.monotonic()
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self.process = None
        return code, time.monotonic() - begun

    def command(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "kato_tui", *arguments], env=self.environ, capture_output=True, check=False
        )

    def log(self, session: str) -> Path:
        self.projects.mkdir(parents=True, exist_ok=True)
        return self.projects / f"{session}.jsonl"

    def words(self, session: str) -> list[str]:
        """What was said in a session, as its twin has it, whole lines only."""
        twin = self.home.twin(f"claude:{session}")
        lines = twin.read_bytes().split(b"\n")[:-1] if twin.exists() else []
        events = [orjson.loads(line) for line in lines]
        return [event["payload"]["text"] for event in events if event["kind"] == "user.message"]


def said(session: str, *texts: str) -> bytes:
    """Lines of a Claude log in which the user says these things."""
    now = stamp(datetime.now(UTC))
    return claude_log.lines(
        *(claude_log.user(text, str(uuid.uuid4()), sessionId=session, timestamp=now) for text in texts)
    )


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def until(link: RemoteLink, condition: Callable[[], Any]) -> Any:
    """Wait on the engine's own changes until the condition holds; gives its value."""
    deadline, version = time.monotonic() + PATIENCE, 0
    while not (found := condition()):
        assert time.monotonic() < deadline, "not in time"
        version = link.changes(version, 0.25).version
    return found


@contextlib.contextmanager
def engine(base: Path, **options: Any) -> Iterator[tuple[Running, RemoteLink]]:
    running = Running(base, **options)
    link = running.start()
    try:
        yield running, link
    finally:
        link.close()
        if running.process is not None:
            running.process.kill()
            running.process.wait()
