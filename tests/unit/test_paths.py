"""Paths: a log chooses its session id, but never a path."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kato_tui.core.paths import Home, safe_name, session_of, set_aside

HOSTILE = [
    "..",
    ".",
    "../../etc/passwd",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "\x00",
    "a\nb",
    "%2e%2e",
    "~",
    "",
    "\udcff",
    "x" * 5000,
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_session_id_stays_inside_the_sessions_folder(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path)
    home.sessions.mkdir()
    for path in (home.meta(f"claude:{name}"), home.twin(f"claude:{name}")):
        assert path.resolve().parent == home.sessions.resolve()
        path.write_bytes(b"")
        assert [entry.name for entry in home.sessions.iterdir()] == [path.name]
        path.unlink()


@given(st.text(st.characters(), min_size=1, max_size=60))
@example("..")
@example("%41")
@example("\udcff")
def test_the_encoding_is_reversible(name: str) -> None:
    encoded = safe_name(name)
    if "~" not in encoded:
        assert unquote_to_bytes(encoded) == name.encode("utf-8", "surrogatepass")


@given(st.lists(st.text(max_size=400), min_size=2, max_size=6, unique=True))
def test_two_ids_never_share_a_name(names: list[str]) -> None:
    assert len({safe_name(name) for name in names}) == len(names)


def test_an_ordinary_id_is_its_own_name() -> None:
    home = Home(Path("/k"))
    assert home.meta("claude:0f0f-1.agent_2").name == "claude:0f0f-1.agent_2.meta.json"
    assert home.twin("codex:01a2").name == "codex:01a2.twin.jsonl"


def test_kato_home_overrides_the_default() -> None:
    assert Home.from_environ({}, Path("/u")).root == Path("/u/.kato")
    assert Home.from_environ({"KATO_HOME": "/elsewhere"}, Path("/u")).root == Path("/elsewhere")


def test_state_moved_aside_overwrites_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    first = set_aside(path, "torn")
    first.write_bytes(b"1")
    assert set_aside(path, "torn") != first


def test_a_state_file_tells_whose_it_is_as_long_as_its_name_holds_all_of_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for key in ("claude:abc-1", "gemini:a/b é\udc80~", "codex:%41:x", "claude:.."):
        assert session_of(home.meta(key)) == session_of(home.twin(key)) == key
    assert session_of(home.meta(f"claude:{'x' * 500}")) is None
