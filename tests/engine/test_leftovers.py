"""What processes that died left half done is cleared away at the start, and only that."""

from __future__ import annotations

from pathlib import Path

import pytest

from kato_tui.core.record import recorder
from tests.crashing import Crash, CrashingFs, none_of
from tests.world import World


class _Watched(CrashingFs):
    """Notes the order in which things are made durable and removed."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[tuple[str, Path]] = []

    def sync_folder(self, folder: Path) -> None:
        self.order.append(("sync", folder))
        super().sync_folder(folder)

    def unlink(self, path: Path) -> None:
        self.order.append(("unlink", path))
        super().unlink(path)


def test_temporary_files_of_other_processes_go(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.talk("one")
    world.start()
    world.poll()
    world.engine.close()
    left = [world.home.sessions / "x.meta.json.123-456.tmp", world.home.root / "daemon-control.json.123-456.tmp"]
    for path in left:
        path.write_bytes(b"half")
    world.start()
    world.engine.close()
    assert not any(path.exists() for path in left)


@pytest.fixture
def _nothing_inline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "_MAX_INLINE", 0)


@pytest.mark.usefixtures("_nothing_inline")
def test_bytes_put_aside_stay_while_the_metadata_speaks_of_them_and_no_longer(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.talk("one")
    world.start()
    world.poll()
    world.engine.close()
    fs = _DiesAfterTheIntent()
    world.start(fs)
    fs.armed = True
    with pytest.raises(Crash):
        world.hear("go\n::start ~/notes/a.md")
    (wanted,) = world.home.pending_files()
    orphan = wanted.with_name("toy:talk.00000009.0123456789abcdef.pending")
    orphan.write_bytes(b"nobody's")
    world.die()
    watched = _Watched()
    world.start(watched)
    removed = watched.order.index(("unlink", orphan))
    assert watched.order.index(("sync", world.home.sessions)) < removed
    assert not orphan.exists()
    world.engine.tick()
    world.engine.close()
    assert (world.notes / "a.md").read_bytes().count(b"start") == 1
    assert not world.home.pending_files()


class _DiesAfterTheIntent(CrashingFs):
    """The process is gone as soon as the recording's file is to be made."""

    def __init__(self) -> None:
        super().__init__(cut=none_of)
        self.armed = False

    def create_in(self, folder: int, name: str) -> int:
        if self.armed and name == "a.md":
            self._die()
        return super().create_in(folder, name)
