"""Worker processes for catch-up, so that neither the engine's thread nor the screen waits for gigabytes.

Plain subprocesses that talk JSON lines: `multiprocessing` cannot spawn from within a running Textual app.
"""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Assistance:
    """What a worker needs to work for an engine. `lock` is called late: the engine has its lock only once it runs."""

    hello: Callable[[], Json]
    lock: Callable[[], int]


@dataclass(slots=True, eq=False)
class _Worker:
    process: subprocess.Popen[bytes]
    job: Json | None = None
    cancelled: bool = field(default=False)
    #: It was told settings that no longer hold: it ends with its job.
    outdated: bool = field(default=False)


class Pool:
    """Used from the engine's thread alone; answers are put into a queue by a thread per worker."""

    def __init__(self, assistance: Assistance, wake: Callable[[], None], size: int) -> None:
        self._assistance = assistance
        self._wake = wake
        self._size = size
        self._workers: list[_Worker] = []
        #: By session, in the order in which they are done. There may be thousands: each is laid out in its turn.
        self._jobs: OrderedDict[str, Callable[[], Json]] = OrderedDict()
        self._answers: queue.SimpleQueue[tuple[_Worker, Json | None]] = queue.SimpleQueue()

    def submit(self, key: str, job: Callable[[], Json], *, urgent: bool = False) -> None:
        """Do it when a worker is free; an urgent one before the others."""
        self._jobs[key] = job
        if urgent:
            self._jobs.move_to_end(key, last=False)
        self._hand_out()

    def has(self, key: str) -> bool:
        return key in self._jobs or any(worker.job is not None and worker.job["key"] == key for worker in self._workers)

    @property
    def busy(self) -> bool:
        return bool(self._jobs) or any(worker.job is not None for worker in self._workers)

    def cancel(self, key: str) -> None:
        """Take a job back at once. A worker in the middle of it is killed; its batches so far are on disk."""
        self._jobs.pop(key, None)
        for worker in [worker for worker in self._workers if worker.job is not None and worker.job["key"] == key]:
            self._dismiss(worker)

    def take(self) -> list[Json]:
        """The answers since the last call."""
        found: list[Json] = []
        while True:
            try:
                worker, answer = self._answers.get_nowait()
            except queue.Empty:
                return found
            if worker.cancelled:
                continue
            if answer is None:
                answer = self._lost(worker)
            if answer is not None:
                found.append(answer)
                if "bytes" not in answer:
                    worker.job = None
                    if worker.outdated:
                        self._dismiss(worker)
            self._hand_out()

    def renew(self) -> None:
        """The settings changed, and workers are told them only once: the next jobs are for new ones."""
        for worker in list(self._workers):
            worker.outdated = True
            if worker.job is None:
                self._dismiss(worker)

    def close(self) -> None:
        self._jobs.clear()
        for worker in list(self._workers):
            self._dismiss(worker)

    def _hand_out(self) -> None:
        while self._jobs:
            free = next((worker for worker in self._workers if worker.job is None), None)
            if free is None and len(self._workers) < self._size:
                free = self._hire()
            if free is None:
                return
            free.job = self._jobs.popitem(last=False)[1]()
            if not _say(free, free.job):
                self._answers.put((free, None))

    def _hire(self) -> _Worker:
        lock = self._assistance.lock()
        process = subprocess.Popen(
            [sys.executable, "-m", "kato_tui.core.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=[lock],
            # Ctrl+c in the terminal is for the engine, which then ends its workers.
            start_new_session=True,
        )
        worker = _Worker(process)
        _say(worker, self._assistance.hello())
        self._workers.append(worker)
        threading.Thread(target=self._listen, args=(worker,), name="kato-worker", daemon=True).start()
        return worker

    def _listen(self, worker: _Worker) -> None:
        assert worker.process.stdout is not None
        with worker.process.stdout as lines:
            for line in lines:
                self._answers.put((worker, orjson.loads(line)))
                self._wake()
        self._answers.put((worker, None))
        self._wake()

    def _lost(self, worker: _Worker) -> Json | None:
        """A worker that ended by itself, such as for want of memory."""
        if worker not in self._workers:
            return None
        job = worker.job
        self._dismiss(worker)
        if job is None:
            return None
        code = worker.process.returncode
        return {"key": job["key"], "error": f"the process that read it ended with {code}", "kind": "WorkerLost"}

    def _dismiss(self, worker: _Worker) -> None:
        worker.cancelled = True
        self._workers.remove(worker)
        worker.process.kill()
        worker.process.wait()
        if worker.process.stdin is not None:
            worker.process.stdin.close()


def _say(worker: _Worker, message: Json) -> bool:
    assert worker.process.stdin is not None
    try:
        worker.process.stdin.write(orjson.dumps(message) + b"\n")
        worker.process.stdin.flush()
    except OSError:
        return False
    return True
