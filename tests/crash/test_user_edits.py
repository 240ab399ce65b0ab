"""What the user does to a file while it is being recorded, combined with a crash at every operation before it.

One event is safely in the file, a second one is being written when the machine dies, the user changes the file, the
machine comes back and a third event follows. Per reliability.md §2.3: the user's text is never damaged, no event is
lost, and whoever's file is not what it was is told so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conftest import LONG
from tests.crashing import CUTS, Crash, CrashingFs, Cut, half, none_of
from tests.world import World, body

ONE, TWO, THREE = (
    f"{name} words that stand nowhere else, {name} {'and on ' * 5}." for name in ("alpha", "beta", "gamma")
)
NOTE = b"\nMy own note, which is *mine*.\n"
EDITED = b"words that I have rewritten here"


@dataclass
class Scene:
    """The world at the moment the user comes in."""

    world: World
    #: How long the file was before the second event.
    before: int
    #: Codes of notices, also those of a process that died.
    told: set[str] = field(default_factory=set)

    @property
    def path(self) -> Path:
        return self.world.notes / "a.md"

    def data(self) -> bytes:
        return self.path.read_bytes()


Edit = Callable[[Scene], None]
Check = Callable[[Scene], None]


def _append(scene: Scene) -> None:
    scene.path.write_bytes(scene.data() + NOTE)


def _insert_at_head(scene: Scene) -> None:
    scene.path.write_bytes(NOTE + scene.data())


def _edit_inside(scene: Scene) -> None:
    scene.path.write_bytes(scene.data().replace(ONE.encode(), EDITED))


def _edit_what_is_new(scene: Scene) -> None:
    scene.path.write_bytes(scene.data().replace(TWO.encode(), EDITED))


def _delete(scene: Scene) -> None:
    scene.path.unlink()


def _rename(scene: Scene) -> None:
    scene.path.rename(scene.world.notes / "moved.md")


def _replace_by_folder(scene: Scene) -> None:
    _rename(scene)
    scene.path.mkdir()


def _truncate(scene: Scene) -> None:
    scene.path.write_bytes(scene.data()[: scene.before // 2])


def _empty(scene: Scene) -> None:
    scene.path.write_bytes(b"")


def _lose_power(scene: Scene, *, keep: float, extra: int = 0) -> None:
    """What was not synced comes back as zeros, from some page on; a file system may even have made the file longer."""
    data = scene.data()
    extra = extra if len(data) > scene.before else 0
    kept = scene.before + int((len(data) - scene.before) * keep)
    scene.path.write_bytes(data[:kept] + bytes(len(data) - kept + extra))


def _holes(scene: Scene) -> None:
    _lose_power(scene, keep=0)


def _half_a_hole(scene: Scene) -> None:
    _lose_power(scene, keep=0.5)


def _a_hole_that_is_too_long(scene: Scene) -> None:
    _lose_power(scene, keep=0.5, extra=4096)


def _a_hole_in_the_middle(scene: Scene) -> None:
    """A later page got to the disk, an earlier one did not."""
    data = scene.data()
    third = (len(data) - scene.before) // 3
    scene.path.write_bytes(data[: scene.before + third] + bytes(third) + data[scene.before + 2 * third :])


def _a_hole_at_the_start(scene: Scene) -> None:
    data = scene.data()
    half = (len(data) - scene.before) // 2
    scene.path.write_bytes(data[: scene.before] + bytes(half) + data[scene.before + half :])


def _a_hole_in_the_middle_and_a_note(scene: Scene) -> None:
    _a_hole_in_the_middle(scene)
    _append(scene)


def _a_hole_and_a_note(scene: Scene) -> None:
    _lose_power(scene, keep=0.5, extra=10)
    _append(scene)


# What has to be true at the end.


def _told_once(data: bytes, *texts: str) -> None:
    assert [data.count(text.encode()) for text in texts] == [1] * len(texts), data.decode()
    assert b"\0" not in data


def _exact(scene: Scene) -> None:
    (recording,) = scene.world.recordings()
    assert body(scene.path) == scene.world.expected(recording)


def _all_and_the_note(scene: Scene) -> None:
    data = scene.data()
    _told_once(data, ONE, TWO, THREE)
    assert data.count(NOTE) == 1
    assert data.index(TWO.encode()) < data.index(THREE.encode())


def _exact_without_the_note(scene: Scene) -> None:
    _all_and_the_note(scene)
    (recording,) = scene.world.recordings()
    assert scene.data().replace(NOTE, b"").partition(b"\n---\n")[2] == scene.world.expected(recording)


def _head_note(scene: Scene) -> None:
    assert scene.data().startswith(NOTE)
    _exact_without_the_note(scene)


def _the_edit_and_the_rest(scene: Scene) -> None:
    data = scene.data()
    _told_once(data, EDITED.decode(), TWO, THREE)
    assert ONE.encode() not in data


def _the_edit_and_perhaps_the_original(scene: Scene) -> None:
    """Undecidable by content: what was edited before it was known to be written comes again, visibly."""
    data = scene.data()
    _told_once(data, ONE, THREE)
    assert data.count(TWO.encode()) == 1 and data.count(EDITED) <= 1


def _a_new_file(scene: Scene) -> None:
    _told_once(scene.data(), TWO, THREE)
    assert ONE.encode() not in scene.data()
    assert scene.data().startswith(b"---\n") and b"\ncontinuedFrom: " in scene.data()
    assert "recording-recreated" in scene.told


def _only_what_came_after(scene: Scene) -> None:
    """What the user took away stays away."""
    _told_once(scene.data(), THREE)
    assert TWO.encode() not in scene.data()
    assert {"recording-recreated", "recording-edited"} & scene.told


def _two_files(scene: Scene) -> None:
    _a_new_file(scene)
    assert (scene.world.notes / "moved.md").read_bytes().count(ONE.encode()) == 1


def _what_was_left_and_the_rest(scene: Scene) -> None:
    _told_once(scene.data(), TWO, THREE)
    assert "recording-edited" in scene.told


def _waits_until_the_file_is_back(scene: Scene) -> None:
    assert scene.path.is_dir() and not list(scene.path.iterdir())
    assert "recording-failing" in scene.told
    scene.path.rmdir()
    (scene.world.notes / "moved.md").rename(scene.path)
    scene.world.clock.advance(3600)
    scene.world.engine.tick()
    _exact(scene)


def _nothing(scene: Scene) -> None:
    pass


CASES: list[tuple[Edit, Check]] = [
    (_nothing, _exact),
    (_append, _all_and_the_note),
    (_insert_at_head, _head_note),
    (_edit_inside, _the_edit_and_the_rest),
    (_edit_what_is_new, _the_edit_and_perhaps_the_original),
    (_delete, _a_new_file),
    (_rename, _two_files),
    (_replace_by_folder, _waits_until_the_file_is_back),
    (_truncate, _what_was_left_and_the_rest),
    (_empty, _what_was_left_and_the_rest),
    (_holes, _exact),
    (_half_a_hole, _exact),
    (_a_hole_that_is_too_long, _exact),
    (_a_hole_in_the_middle, _exact),
    (_a_hole_at_the_start, _exact),
    (_a_hole_in_the_middle_and_a_note, _all_and_the_note),
    (_a_hole_and_a_note, _all_and_the_note),
]


def _recording(base: Path) -> Scene:
    world = World(base)
    world.talk("old words")
    world.start()
    world.poll()
    world.hear(f"::start ~/notes/a.md\n{ONE}")
    world.engine.close()
    return Scene(world, (world.notes / "a.md").stat().st_size)


def _crashed(base: Path, at: int | None, cut: Cut) -> tuple[Scene, CrashingFs]:
    """The second event, with a crash at operation `at`."""
    scene = _recording(base)
    fs = CrashingFs(at, cut)
    with contextlib.suppress(Crash):
        scene.world.start(fs)
        scene.world.hear(TWO)
    scene.world.die()
    return scene, fs


def _come_back(scene: Scene, fs: CrashingFs | None = None) -> None:
    world = scene.world
    with contextlib.suppress(Crash):
        _live_on(world, fs)
    scene.told.update(world.codes())


def _live_on(world: World, fs: CrashingFs | None) -> None:
    if TWO not in (world.toys / "talk.jsonl").read_text():
        world.talk(TWO)
    world.start(fs)
    world.poll()
    if THREE not in (world.toys / "talk.jsonl").read_text():
        world.talk(THREE)
    world.poll()
    world.clock.advance(3600)
    world.engine.tick()


def _crash_points(base: Path) -> list[tuple[int, Cut]]:
    """Every operation, and the writes also torn at several places."""
    _, fs = _crashed(base, None, none_of)
    assert fs.count > 10 and len(fs.writes) > 2
    return [(at, none_of) for at in range(1, fs.count + 1)] + [(at, cut) for at in fs.writes for cut in CUTS[1:]]


NAMES = [edit.__name__.strip("_") for edit, _ in CASES]


@pytest.mark.parametrize(("edit", "check"), CASES, ids=NAMES)
def test_an_edit_after_a_crash(tmp_path: Path, edit: Edit, check: Check) -> None:
    share = NAMES.index(edit.__name__.strip("_"))
    for number, (at, cut) in enumerate(_crash_points(tmp_path / "count")):
        if not (LONG or cut is not none_of or at % 3 == share % 3):
            # The cases take turns; `KATO_LONG=1` has each take all.
            continue
        scene, _ = _crashed(tmp_path / str(number), at, cut)
        edit(scene)
        _come_back(scene)
        check(scene)
        scene.world.engine.close()


@pytest.mark.parametrize(("edit", "check"), CASES, ids=NAMES)
def test_an_edit_after_a_crash_and_another_crash_on_the_way_back(tmp_path: Path, edit: Edit, check: Check) -> None:
    """The append is torn in the middle; then the recovery dies at each of its own operations."""
    _, fs = _crashed(tmp_path / "count", None, none_of)
    for at in fs.writes if LONG else fs.writes[-1:]:
        for again in range(1, 40, 1 if LONG else 3):
            scene, _ = _crashed(tmp_path / f"{at}-{again}", at, half)
            edit(scene)
            _come_back(scene, CrashingFs(again, half))
            scene.world.die()
            _come_back(scene)
            check(scene)
            scene.world.engine.close()


@pytest.mark.parametrize(
    ("edit", "check"),
    [
        (_append, _exact_without_the_note),
        (_insert_at_head, _head_note),
        (_edit_inside, _the_edit_and_the_rest),
        (_replace_by_folder, _waits_until_the_file_is_back),
        (_truncate, _only_what_came_after),
        (_delete, _only_what_came_after),
    ],
)
def test_an_edit_between_two_events(tmp_path: Path, edit: Edit, check: Check) -> None:
    scene = _recording(tmp_path)
    scene.world.start()
    scene.world.hear(TWO)
    edit(scene)
    scene.world.hear(THREE)
    scene.told.update(scene.world.codes())
    check(scene)
    scene.world.engine.close()
