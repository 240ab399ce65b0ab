"""Destinations: every way people write a path, and nothing but a named error for everything else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kato_tui.core.record.commands import parse_line
from kato_tui.core.record.destination import (
    Argument,
    Begin,
    DestinationError,
    Naming,
    Place,
    SinceText,
    TurnsBack,
    absolute,
    forbidden_character,
    format_of,
    parse_argument,
    resolve,
    shown,
    unwrap,
)

NAMING = Naming(
    provider="claude",
    session_id="0a1b2c3d-0000-5000-8000-000000000000",
    recording_id="7d14af8e-0000-4000-8000-000000000000",
    at=datetime(2026, 11, 18, 9, 5, tzinfo=UTC),
)
NAME = "claude-0a1b2c3d-7d14af8e-2026-11-18_0905"


def place(
    cwd: str | None = "/work/app",
    *,
    is_dir: Callable[[Path], bool] = lambda path: False,
    exists: Callable[[Path], bool] = lambda path: False,
) -> Place:
    return Place(Path("/home/me"), Path("/home/me/.kato/recordings"), Path(cwd) if cwd else None, is_dir, exists)


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("/abs/x.md", "/abs/x.md"),
        ("/abs/a b.md", "/abs/a b.md"),
        ("~/x.md", "/home/me/x.md"),
        ("~//x.md", "/home/me/x.md"),
        ("notes/x.md", "/work/app/notes/x.md"),
        ("./x.md", "/work/app/x.md"),
        ("../x.md", "/work/app/../x.md"),
        ('"~/a b.md"', "/home/me/a b.md"),
        ("'a b.md'", "/work/app/a b.md"),
        ("'it`s.md'", "/work/app/it`s.md"),
        ("`notes/x.md`", "/work/app/notes/x.md"),
        ("@notes/x.md", "/work/app/notes/x.md"),
        ('@"a b.md"', "/work/app/a b.md"),
        ("@'a b.md'", "/work/app/a b.md"),
        ("@notes/x.md#L3-9", "/work/app/notes/x.md"),
        (r"@a\ b.md", "/work/app/a b.md"),
        (r"~/My\ Notes/x\ \(1\).md", "/home/me/My Notes/x (1).md"),
        ('"@x.md"', "/work/app/@x.md"),
        ("[x](notes/x.md)", "/work/app/notes/x.md"),
        ("[x.md](notes/a%20b.md)", "/work/app/notes/a b.md"),
        ("[x](<notes/a b.md>)", "/work/app/notes/a b.md"),
        ('[x](notes/x.md "My title")', "/work/app/notes/x.md"),
        ("[x](notes/a(1).md)", "/work/app/notes/a(1).md"),
        ("[`x`](~/x.md)", "/home/me/x.md"),
        ("[x](file:///tmp/a%20b.md#L4)", "/tmp/a b.md"),
        ("<file:///tmp/x.md>", "/tmp/x.md"),
        ("<file://localhost/tmp/x.md>", "/tmp/x.md"),
        ("<notes/x.md>", "/work/app/notes/x.md"),
        ("file:///tmp/gr%C3%BC%C3%9Fe.md", "/tmp/grüße.md"),
        ("/tmp/100%25.md", "/tmp/100%25.md"),
        ("[x](100%2525.md)", "/work/app/100%25.md"),
        ("no-extension", "/work/app/no-extension"),
        ("．．／x.md", "/work/app/．．／x.md"),
    ],
)
def test_every_way_to_write_a_path_gives_the_path(written: str, path: str) -> None:
    argument = parse_argument("capture", written)
    assert argument.path is not None
    found = resolve(argument.path, place(), NAMING)
    assert str(found.path) == path
    assert not found.generated


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ('"a b.md', "not closed"),
        ("'tis.md", "not closed"),
        ("`x.md", "not closed"),
        ('@"x.md', "not closed"),
        ('"a.md" b.md', "more after the closing"),
        ('"a.md" from 3', "from -3"),
        ('""', "empty"),
        ("@", "empty"),
        ("[x]()", "empty"),
        ("<>", "empty"),
        ("~bob/x.md", "only ~ and ~/"),
        ("$HOME/x.md", "not expanded"),
        ("${HOME}/x.md", "not expanded"),
        ("https://example.org/x.md", "not a file on this computer"),
        ("<https://example.org/x.md>", "not a file on this computer"),
        ("[x](http://example.org/x.md)", "not a file on this computer"),
        ("file://server/share/x.md", "not a file on this computer"),
        ("[x](a%FF.md)", "not UTF-8"),
        ("[x](a%00.md)", "U+0000"),
        ("[x](a%0A.md)", "U+000A"),
        ("a\x1b]0;x.md", "U+001B"),
        ("a\u202edm.exe", "U+202E"),
        ("a\ud800.md", "U+D800"),
    ],
)
def test_what_cannot_be_a_path_is_refused_with_the_reason(written: str, reason: str) -> None:
    with pytest.raises(DestinationError) as error:
        unwrap(written)
    message = str(error.value)
    assert reason in message
    assert forbidden_character(message) is None


@pytest.mark.parametrize("cwd", [None, "C:\\Users\\me", "relative"])
def test_a_relative_path_without_a_known_working_directory_is_refused_with_the_fix(cwd: str | None) -> None:
    with pytest.raises(DestinationError, match=r"notes/x\.md: it is relative.*Write it as ~/notes/x\.md"):
        resolve("notes/x.md", place(cwd), NAMING)
    assert resolve("~/x.md", place(cwd), NAMING).path == Path("/home/me/x.md")
    assert resolve(None, place(cwd), NAMING).generated


@pytest.mark.parametrize(
    ("raw", "argument"),
    [
        (None, Argument()),
        ("", Argument()),
        ("from -3", Argument(begin=TurnsBack(3))),
        ("FROM -12", Argument(begin=TurnsBack(12))),
        ('from "some text"', Argument(begin=SinceText("some text"))),
        ('~/x.md from "some text"', Argument("~/x.md", SinceText("some text"))),
        ("~/a b.md  from  -1", Argument("~/a b.md", TurnsBack(1))),
        ('"a from -3"', Argument("a from -3")),
        ('"a b.md" from "c d"', Argument("a b.md", SinceText("c d"))),
        ('"a from b.md" from -2', Argument("a from b.md", TurnsBack(2))),
        ("@x.md from -2", Argument("x.md", TurnsBack(2))),
        ("[x](a%20b.md) from -2", Argument("a b.md", TurnsBack(2))),
        ("letter from mum.md", Argument("letter from mum.md")),
        ("~/from -3", Argument("~/from -3")),
    ],
)
@pytest.mark.parametrize("command", ["start", "record"])
def test_where_to_begin_is_split_off(command: str, raw: str | None, argument: Argument) -> None:
    assert parse_argument(command, raw) == argument


@pytest.mark.parametrize("raw", ["from -0", "from -" + "9" * 5000, 'from ""', 'x.md from " "'])
def test_a_beginning_that_means_nothing_is_refused(raw: str) -> None:
    with pytest.raises(DestinationError, match="cannot begin from"):
        parse_argument("start", raw)


@pytest.mark.parametrize("command", ["capture", "export"])
def test_a_beginning_is_refused_where_everything_is_taken_anyway(command: str) -> None:
    with pytest.raises(DestinationError, match=f"::{command} always takes everything so far, so it has no from -3"):
        parse_argument(command, "~/x.md from -3")


@pytest.mark.parametrize("begin", ["", " from -3", ' from "text"', " FROM  -07", ' from "a \' b"'])
@pytest.mark.parametrize("written", ["", "~/x.md", '"a b.md"', "@x.md", "from.md", "x from.md"])
def test_the_event_names_the_same_target_as_is_used(written: str, begin: str) -> None:
    argument = (written + begin).strip()
    payload = parse_line(f"::record {argument}")
    assert payload is not None
    target = payload.get("target", {}).get("value")
    used = parse_argument("record", argument)
    assert used.path == (unwrap(target) if target else None)
    assert (used.begin is not None) == bool(begin)


@pytest.mark.parametrize(
    ("name", "format"),
    [("x.jsonl", "jsonl"), ("x.JSONL", "jsonl"), ("x.md", "markdown"), ("x.txt", "markdown"), ("x", "markdown")],
)
def test_the_ending_chooses_the_format(name: str, format: str) -> None:
    assert format_of(Path(name)) == format
    assert resolve(f"/n/{name}", place(), NAMING).format == format


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        (None, "/home/me/.kato/recordings"),
        ("/abs/new/", "/abs/new"),
        ("~", "/home/me"),
        ("~/", "/home/me"),
        (".", "/work/app"),
        ("..", "/work/app/.."),
        ("notes/..", "/work/app/notes/.."),
        ("there", "/work/app/there"),
        ("/there", "/there"),
    ],
)
def test_a_folder_gets_a_generated_name(path: str | None, folder: str) -> None:
    found = resolve(path, place(is_dir=lambda one: one.name == "there"), NAMING)
    assert str(found.path) == f"{folder}/{NAME}.md"
    assert found.generated and found.format == "markdown"


def test_a_generated_name_is_never_one_that_exists() -> None:
    taken = {f"{NAME}.md", f"{NAME}-2.md"}
    assert resolve(None, place(exists=lambda one: one.name in taken), NAMING).path.name == f"{NAME}-3.md"


def test_a_folder_where_every_name_is_taken_is_an_error_not_an_endless_search() -> None:
    with pytest.raises(DestinationError, match=r"cannot find a free name in /home/me/\.kato/recordings"):
        resolve(None, place(exists=lambda one: True), NAMING)


def test_a_hostile_id_cannot_leave_the_folder_through_a_generated_name() -> None:
    hostile = Naming("../etc", "../../x\n", "/", NAMING.at)
    assert resolve(None, place(), hostile).path.parent == Path("/home/me/.kato/recordings")


def test_the_real_file_system_is_asked_by_default(tmp_path: Path) -> None:
    real = Place(tmp_path, tmp_path, tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / f"{NAME}.md").symlink_to("nowhere")
    assert resolve("there", real, NAMING).path == tmp_path / "there" / f"{NAME}.md"
    assert resolve(None, real, NAMING).path == tmp_path / f"{NAME}-2.md"
    assert resolve("x" * 5000 + ".md", real, NAMING).path.parent == tmp_path


def test_a_long_path_is_cut_in_messages() -> None:
    assert len(shown("x" * 100_000)) == 300


PIECES = st.sampled_from(
    [*"\"'`@~$<>[]()#%\\/.-: \t\n\x00", "from", "-3", "file://", "%41", "%ff", "x.md", "..", "http://", "é", "\ud800"]
)


@given(st.lists(PIECES, max_size=12).map("".join) | st.text(st.characters(), max_size=40))
@example("from -" + "٣" * 3)
@example("[](" * 200)
def test_any_argument_gives_a_path_or_a_named_error(raw: str) -> None:
    for command in ("start", "record", "capture", "export"):
        for cwd in ("/work", None):
            try:
                found = resolve(parse_argument(command, raw).path, place(cwd), NAMING)
            except DestinationError as error:
                assert str(error) and forbidden_character(str(error)) is None
            else:
                assert found.path.is_absolute()
                assert forbidden_character(str(found.path)) is None


def _writable(text: str) -> bool:
    return bool(text) and forbidden_character(text) is None and text[0] not in "~$" and "://" not in text


@given(
    st.text(st.characters(exclude_characters="\"'`"), max_size=40).filter(_writable),
    st.sampled_from(['"{}"', "'{}'", "`{}`", '@"{}"', "@'{}'"]),
    st.sampled_from([None, TurnsBack(3), SinceText("plan b")]),
)
def test_a_quoted_path_comes_back_as_it_was(path: str, quotes: str, begin: Begin | None) -> None:
    tails = {None: "", TurnsBack(3): " from -3", SinceText("plan b"): ' from "plan b"'}
    assert parse_argument("record", quotes.format(path) + tails[begin]) == Argument(path, begin)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_a_percent_encoded_link_comes_back_as_it_was(name: str) -> None:
    encoded = "".join(f"%{byte:02X}" for byte in name.encode())
    if forbidden_character(name):
        with pytest.raises(DestinationError, match="holds the character"):
            unwrap(f"[x](file:///{encoded})")
    else:
        assert unwrap(f"[x](file:///{encoded})") == f"/{name}"
        assert str(absolute(f"/{name}", place())) == str(Path(f"/{name}"))
