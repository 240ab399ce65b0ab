"""The real program on real files: killed at a system call, killed at any moment under load, its disk cut off.

Nothing is replaced here but the user's home. The logs are written as in the matrix, and the same checks are made.
"""

from __future__ import annotations

import ctypes
import fcntl
import importlib
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kato_tui.__main__ import main as program
from kato_tui.core.paths import Home
from kato_tui.core.store.fs import Fs
from tests.crash.matrix import Lost, Truth, compare, ended, truth_of
from tests.crash.stored import Stored, lay_out, stored
from tests.crash.town import CLAUDE, CODEX, DOCUMENT, GEMINI, SESSIONS, Town, check_state

Play = Callable[[int], None]

_CONFIG: Final = "globalAutoGenerateSnapshots = true\n"
#: What the user says while the program is up: two sessions in one file, files of one, stops, a resumed one.
_WORDS: Final = (
    "::start ~/notes/{0}-a.md",
    "::record ~/notes/{0}-b.jsonl",
    "::start ~/notes/shared.jsonl",
    "::stop dest:~/notes/{0}-a.md",
    "::capture ~/notes/deep/{0}-c.md",
    "just words",
    "just words",
    "just words",
)


def _turn(town: Town, name: str, words: str, reply: str = "") -> None:
    town.logs[name].turn(words.format(name), reply)


def _begun(base: Path) -> Town:
    """A town in which all sessions are known: what is said from now on is live."""
    town = Town(base)
    town.home.root.mkdir(mode=0o700)
    town.home.config.touch(0o600)
    town.home.config.write_text(_CONFIG)
    town.begin(Fs())
    town.close()
    town.fs = None
    return town


def _environ(base: Path) -> dict[str, str]:
    root = str(Path(__file__).parents[2])
    # Compiled modules would be written by the first run alone: every run has to make the same calls.
    plain = {"PYTHONPATH": root, "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"}
    return {"HOME": str(base), "PATH": os.environ["PATH"], **plain}


def _checked(town: Town, truth: Truth, what: str) -> None:
    try:
        check_state(ended(town))
        compare(truth, town, None)
    except Exception as error:
        raise Lost(f"{what} ({type(error).__name__}: {error})") from error


# At system calls.

_CALLS: Final = ("write", "pwrite64", "rename", "renameat", "fsync", "fdatasync", "ftruncate")
_LINE = re.compile(rf"^\d+ +({'|'.join(_CALLS)})\(", re.MULTILINE)
_ONCE: Final = [sys.executable, "-m", "kato_tui", "--no-ui", "--once"]


def no_strace() -> str | None:
    if shutil.which("strace") is None:
        return "there is no strace"
    tried = subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False)
    return None if tried.returncode == 0 else f"strace may not trace: {tried.stderr.decode().strip()}"


class Calls:
    """One run of `kato-tui --no-ui --once` over a morning's logs, and every call in it that changes a file."""

    def __init__(self, base: Path) -> None:
        self._base = base / "town"
        town = _begun(self._base)
        for number, words in enumerate(_WORDS):
            for name in SESSIONS:
                _turn(town, name, words, "word " * 40 * number)
        self._before = stored(self._base)
        self._town = town.saved()
        trace = base / "trace"
        command = ["strace", "-f", "-qq", "-o", str(trace), "-e", f"trace={','.join(_CALLS)}", *_ONCE]
        subprocess.run(command, env=_environ(self._base), check=True, capture_output=True)
        counts: dict[str, int] = {}
        for call in _LINE.findall(trace.read_text(errors="replace")):
            counts[call] = counts.get(call, 0) + 1
        #: Which call, and which one of its kind.
        self.points = [(call, number) for call, count in counts.items() for number in range(1, count + 1)]
        self._truth = truth_of(ended(self._restored(None)))

    def _restored(self, content: Stored | None) -> Town:
        if content is not None:
            lay_out(self._base, content)
        town = Town(self._base)
        town.restore(self._town)
        return town

    def play(self, number: int) -> None:
        """SIGKILL just before one call takes effect; then the program runs again, to its end."""
        call, count = self.points[number % len(self.points)]
        town = self._restored(self._before)
        inject = f"inject={call}:signal=SIGKILL:when={count}"
        command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject, *_ONCE]
        died = subprocess.run(command, env=_environ(self._base), check=False, capture_output=True)
        assert died.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL), (call, count, died)
        again = subprocess.run(_ONCE, env=_environ(self._base), check=False, capture_output=True)
        assert again.returncode == 0, again
        _checked(town, self._truth, f"killed before {call} number {count}")


# At any moment.

#: Lives of the program in one schedule.
LIVES: Final = 5
#: How long it lives at most: from being forked on, or else from its first write on.
_LONGEST: Final = 0.2
_PATIENCE: Final = 60.0


class Service:
    """`kato-tui --no-ui` as a child of its own, forked from this interpreter: it is up in milliseconds."""

    def __init__(self, base: Path) -> None:
        # Loaded once, before the fork: the child would spend its short life on imports.
        importlib.import_module("kato_tui.headless")
        self._base = base
        self._home = Home(base / ".kato")
        self._since = 0
        self._pid = 0

    def start(self) -> None:
        self._since = time.time_ns()
        self._pid = os.fork()
        if self._pid == 0:
            self._run()

    def _run(self) -> None:
        try:
            environ = _environ(self._base)
            os.environ.clear()
            os.environ.update(environ)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(nowhere, descriptor)
            sys.argv = ["kato-tui", "--no-ui"]
            program()
        except Exception:  # noqa: BLE001 - a child must never come back into the test
            (self._base / "failed.txt").write_text(traceback.format_exc())
        finally:
            os._exit(1)

    def at_work(self) -> bool:
        """Whether it has changed the state since it was started."""
        try:
            return any(path.stat().st_mtime_ns > self._since for path in self._home.sessions.glob("*.json*"))
        except FileNotFoundError:
            # A temporary file came and went just now.
            return True

    def kill(self) -> bool:
        """Whether it was still running."""
        ended, _ = os.waitpid(self._pid, os.WNOHANG)
        if not ended:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        return not ended


class Load:
    """Sessions that go on all the time, whatever becomes of the program."""

    def __init__(self, town: Town, dice: random.Random) -> None:
        self.town = town
        self._dice = dice
        self.said: list[tuple[str, str, str]] = []

    def say(self) -> None:
        name = self._dice.choice((CLAUDE, CODEX, GEMINI, DOCUMENT))
        words = self._dice.choice(_WORDS)
        reply = "word " * self._dice.choice((0, 5, 200, 2000))
        self.said.append((name, words, reply))
        _turn(self.town, name, words, reply)

    def go_on_until(self, seen: Callable[[], bool]) -> None:
        """On a busy machine the program may take its time to come up."""
        ends = time.monotonic() + _PATIENCE
        self.say()
        while not seen():
            assert time.monotonic() < ends, "the program does nothing"
            time.sleep(0.005)

    def go_on(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            if self._dice.random() < 0.5:
                self.say()
            time.sleep(min(left, self._dice.random() * 0.02))

    def truth(self, base: Path) -> Truth:
        """The same words on a quiet day. When they are read makes no difference, so they are read together."""
        town = _begun(base)
        for name, words, reply in self.said:
            _turn(town, name, words, reply)
        return truth_of(ended(town))


class _Scene:
    """A town with every session met once, laid out again for each schedule."""

    def __init__(self, base: Path, quiet: Path) -> None:
        self._base = base
        self._quiet = quiet
        self._begun = _begun(base)
        self._before = stored(base)

    def again(self, dice: random.Random) -> tuple[Town, Load, Service]:
        lay_out(self._base, self._before)
        town = Town(self._base)
        town.restore(self._begun.saved())
        return town, Load(town, dice), Service(self._base)

    def check(self, town: Town, load: Load, how: str) -> None:
        shutil.rmtree(self._quiet, ignore_errors=True)
        _checked(town, load.truth(self._quiet), how)


def _at_work(load: Load, service: Service, dice: random.Random) -> None:
    """The program runs, under load, up to any moment."""
    service.start()
    if dice.random() < 0.7:
        load.go_on_until(service.at_work)
    load.go_on(dice.random() * _LONGEST)


class Kills:
    def __init__(self, base: Path) -> None:
        self._scene = _Scene(base / "town", base / "quiet")

    def play(self, number: int) -> None:
        dice = random.Random(number)
        town, load, service = self._scene.again(dice)
        for _ in range(LIVES):
            _at_work(load, service, dice)
            assert service.kill(), "the program ended by itself"
        self._scene.check(town, load, f"killed {LIVES} times at any moment, seed {number}")


# The power goes.

#: `XFS_IOC_GOINGDOWN`, which ext4 took over as `EXT4_IOC_SHUTDOWN`: from now on nothing gets to the disk.
_SHUTDOWN: Final = 0x8004587D
_NO_FLUSH: Final = 2
_SIZES: Final = {"ext4": 64 << 20, "xfs": 320 << 20}


def no_power(kind: str) -> str | None:
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return "only root on Linux can mount a disk and shut it down"
    if shutil.which(f"mkfs.{kind}") is None:
        return f"there is no mkfs.{kind}"
    folder = Path(f"/dev/shm/kato-power-{os.getpid()}")
    folder.mkdir()
    try:
        with _mounted(kind, folder) as mount, _opened(mount) as descriptor:
            _shut_down(descriptor)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no {kind} can be mounted from a file and shut down here: {error}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return None


@contextmanager
def _mounted(kind: str, folder: Path) -> Iterator[Path]:
    image, mount = folder / "image", folder / "disk"
    mount.mkdir(exist_ok=True)
    with image.open("wb") as file:
        file.truncate(_SIZES[kind])
    subprocess.run(
        [f"mkfs.{kind}", "-q", *(["-F"] if kind == "ext4" else []), str(image)], check=True, capture_output=True
    )
    _mount(image, mount)
    try:
        yield mount
    finally:
        _unmount(mount)


def _mount(image: Path, mount: Path) -> None:
    subprocess.run(["mount", "-o", "loop", str(image), str(mount)], check=True, capture_output=True)


def _unmount(mount: Path) -> None:
    for _ in range(50):
        done = subprocess.run(["umount", str(mount)], check=False, capture_output=True)
        if done.returncode == 0:
            return
        # A killed process may still be letting go of its files.
        time.sleep(0.02)
    raise OSError(done.stderr.decode())


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _shut_down(descriptor: int) -> None:
    fcntl.ioctl(descriptor, _SHUTDOWN, struct.pack("I", _NO_FLUSH))


def _synced(mount: Path) -> None:
    with _opened(mount) as descriptor:
        ctypes.CDLL(None).syncfs(descriptor)


#: Power cuts in one schedule.
CUTS: Final = 4


class Power:
    """Cuts the power of a disk of its own, under the running program."""

    def __init__(self, base: Path, mount: Path) -> None:
        self._folder = base
        self._mount = mount
        self._scene = _Scene(mount / "town", base / "quiet")

    def play(self, number: int) -> None:
        dice = random.Random(number)
        town, load, service = self._scene.again(dice)
        _synced(self._mount)
        for _ in range(CUTS):
            _at_work(load, service, dice)
            with _opened(self._mount) as descriptor:
                _shut_down(descriptor)
            service.kill()
            _unmount(self._mount)
            _mount(self._folder / "image", self._mount)
            _written_again(town)
        self._scene.check(town, load, f"power cut {CUTS} times, seed {number}")


def _written_again(town: Town) -> None:
    """Nobody syncs logs: what the power took of them comes again. Otherwise nothing could be told lost."""
    for log in town.logs.values():
        log.path.parent.mkdir(parents=True, exist_ok=True)
        if not log.path.exists() or log.path.read_bytes() != log.content():
            log.path.write_bytes(log.content())


@contextmanager
def power(kind: str, base: Path) -> Iterator[Play]:
    """Schedules of power cuts on a file system of this kind."""
    with _mounted(kind, base) as mount:
        yield Power(base, mount).play
