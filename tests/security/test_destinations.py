"""Whatever is swapped in at a destination, whenever: nothing outside the allowed folders changes by a byte."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.world import World

Swap = Callable[[Path, Path], None]


def _link(path: Path, victim: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(victim)


def _hard_link(path: Path, victim: Path) -> None:
    path.unlink(missing_ok=True)
    path.hardlink_to(victim)


def _pipe(path: Path, _victim: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def _folder(path: Path, _victim: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def _linked_folder(path: Path, victim: Path) -> None:
    path.unlink(missing_ok=True)
    path.parent.rename(path.parent.with_name("moved"))
    path.parent.symlink_to(victim.parent)


SWAPS: dict[str, Swap] = {
    "a link": _link,
    "a hard link": _hard_link,
    "a pipe": _pipe,
    "a folder": _folder,
    "its folder by a link": _linked_folder,
}


def _world(tmp_path: Path) -> tuple[World, Path, Path]:
    """A session that is recorded to `notes/sub/a.md`, and a file of somebody else's outside the user's home."""
    base, outside = tmp_path / "home", tmp_path / "outside"
    outside.mkdir()
    victim = outside / "a.md"
    victim.write_text("theirs\n")
    (base / "notes" / "sub").mkdir(parents=True)
    world = World(base)
    world.talk("hello")
    world.start()
    world.poll()
    world.hear("::start ~/notes/sub/a.md", "one")
    return world, base / "notes" / "sub" / "a.md", victim


@pytest.mark.parametrize("what", sorted(SWAPS))
def test_a_recording_whose_file_is_swapped_writes_nowhere_else(tmp_path: Path, what: str) -> None:
    world, path, victim = _world(tmp_path)
    assert b"one" in path.read_bytes()
    SWAPS[what](path, victim)
    world.hear("two")
    world.clock.advance(3600)
    world.engine.tick()
    assert victim.read_text() == "theirs\n" and list(victim.parent.iterdir()) == [victim]
    assert world.engine.recorder.failures
    world.engine.close()


@pytest.mark.parametrize("what", sorted(SWAPS.keys() - {"a folder"}))
def test_an_export_never_writes_through_what_stands_there(tmp_path: Path, what: str) -> None:
    world, path, victim = _world(tmp_path)
    SWAPS[what](path, victim)
    assert world.ask("export", "~/notes/sub/a.md").severity == "error"
    assert victim.read_text() == "theirs\n" and list(victim.parent.iterdir()) == [victim]
    world.engine.close()


def test_a_race_of_links_at_a_destination_is_never_won(tmp_path: Path) -> None:
    """Somebody swaps file, link and hard link as fast as they can while the recording goes on."""
    world, path, victim = _world(tmp_path)
    over = threading.Event()
    swapped = [0]

    def swap() -> None:
        aside = path.with_name("aside.md")
        while not over.is_set():
            for make in (_link, _hard_link):
                make(aside, victim)
                aside.replace(path)
                path.unlink(missing_ok=True)
                swapped[0] += 1

    racer = threading.Thread(target=swap)
    racer.start()
    try:
        for number in range(60):
            world.hear(f"word {number}")
            world.clock.advance(90)
            world.engine.tick()
    finally:
        over.set()
        racer.join()
    assert swapped[0] > 0
    assert victim.read_text() == "theirs\n" and list(victim.parent.iterdir()) == [victim]
    world.engine.close()
