"""Where recordings may be written: names that lie, links, special files, and files swapped between check and open."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from kato_tui.core.errors import ConfigError
from kato_tui.core.record.policy import (
    Allowed,
    Denied,
    WritePolicy,
    WriteRefused,
    open_destination,
    open_folder,
)
from kato_tui.core.store.fs import Fs


@pytest.fixture
def user(tmp_path: Path) -> Path:
    home = tmp_path / "user"
    (home / "notes").mkdir(parents=True)
    (home / ".kato" / "recordings").mkdir(parents=True)
    (home / ".kato" / "sessions").mkdir()
    (tmp_path / "outside").mkdir()
    return home


@pytest.fixture
def policy(user: Path) -> WritePolicy:
    kato = user / ".kato"
    return WritePolicy(
        (user, kato / "recordings"), kato / "recordings", protected=(kato,), user_home=user, config_file=kato / "c.toml"
    )


def _denied(policy: WritePolicy, path: Path) -> Denied:
    decision = policy.check(path)
    assert isinstance(decision, Denied), decision
    return decision


def _allowed(policy: WritePolicy, path: Path) -> Allowed:
    decision = policy.check(path)
    assert isinstance(decision, Allowed), decision
    return decision


@pytest.mark.parametrize(
    "name", ["notes/a.md", "a.markdown", "new/deep/er/a.txt", "notes/a.JSONL", ".kato/recordings/a.md", "…/ä b.md"]
)
def test_a_plain_file_below_home_is_allowed(user: Path, policy: WritePolicy, name: str) -> None:
    decision = _allowed(policy, user / name)
    assert decision.path == user / name
    assert decision.audit()["decision"] == "allow"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("../outside/a.md", "outside"),
        ("notes/../../outside/a.md", "outside"),
        (".ssh/a.md", "dot-directory"),
        ("notes/.git/a.md", "dot-directory"),
        ("notes/\u200b.git/a.md", "dot-directory"),
        ("notes/.hidden.md", "dot-file"),
        (".kato/sessions/a.jsonl", "protected"),
        (".kato/config.md", "protected"),
        (".KATO/sessions/a.jsonl", "protected"),
        (".\u212aato/sessions/a.jsonl", "protected"),
        (".kato/recordings/../sessions/a.jsonl", "protected"),
        (".kato/recordings/.deep/a.md", "dot-directory"),
        ("notes/..\u200b/a.md", "dot-directory"),
        ("notes/\ufeff.ssh/a.md", "dot-directory"),
        ("notes/a.\uff4d\uff44", "extension"),
        ("notes/a\uff0emd", "extension"),
        ("notes/a.md.", "extension"),
        ("notes/a.md ", "extension"),
        ("notes/.md", "dot-file"),
        ("notes/a.sh", "extension"),
        ("notes/a", "extension"),
        ("notes/a.md.exe", "extension"),
        ("notes/a.m\u217e", "extension"),
        ("notes/a.mar\u212adown", "extension"),
        ("notes", "extension"),
        ("notes/a\n.md", "bad-character"),
        ("notes/\u202egpj.md", "bad-character"),
        ("notes/a\x00.md", "bad-character"),
        ("notes/" + "x" * 300 + ".md", "name-too-long"),
    ],
)
def test_a_name_that_lies_or_leads_elsewhere_is_denied_with_its_reason(
    user: Path, policy: WritePolicy, name: str, code: str
) -> None:
    decision = _denied(policy, user / name)
    assert decision.code == code
    assert decision.reason.startswith("cannot record to ") and decision.audit()["decision"] == "deny"
    assert "\n" not in decision.reason and "\u202e" not in decision.reason


def test_a_link_is_judged_by_where_it_leads(user: Path, policy: WritePolicy, tmp_path: Path) -> None:
    (user / "notes" / "out").symlink_to(tmp_path / "outside")
    assert _denied(policy, user / "notes/out/a.md").code == "outside"
    (user / "notes" / "a.md").symlink_to(tmp_path / "outside" / "x.md")
    assert _denied(policy, user / "notes/a.md").code == "outside"
    (user / "inner").symlink_to(user / "notes")
    assert _allowed(policy, user / "inner/b.md").path == user / "notes/b.md"
    (user / "state").symlink_to(user / ".kato" / "sessions")
    assert _denied(policy, user / "state/b.md").code == "protected"
    (user / "ssh").symlink_to(user / ".ssh")
    assert _denied(policy, user / "ssh/b.md").code == "dot-directory"
    (user / "loop.md").symlink_to(user / "loop.md")
    assert _denied(policy, user / "loop.md").code == "not-a-file"


def test_a_way_back_out_of_a_link_leads_where_the_system_takes_it(
    user: Path, policy: WritePolicy, tmp_path: Path
) -> None:
    """`out/../a.md` is beside what the link leads to, not beside the link."""
    (tmp_path / "outside" / "deep").mkdir()
    (user / "notes" / "out").symlink_to(tmp_path / "outside" / "deep")
    assert _denied(policy, user / "notes/out/../a.md").code == "outside"


def test_a_link_to_nothing_is_judged_by_where_the_file_would_be(
    user: Path, policy: WritePolicy, tmp_path: Path
) -> None:
    (user / "notes" / "a.md").symlink_to("../../outside/new.md")
    assert _denied(policy, user / "notes/a.md").code == "outside"
    (user / "notes" / "b.md").symlink_to("c.md")
    assert _allowed(policy, user / "notes/b.md").path == user / "notes/c.md"


def test_look_alikes_are_other_names_and_stay_inside(user: Path, policy: WritePolicy) -> None:
    """Nothing maps them to the real thing, so neither do we: what is checked is what is opened."""
    for name in (
        "notes/\u2024\u2024/a.md",
        "notes\uff0f..\uff0f..\uff0fa.md",
        "\u2024ssh/a.md",
        "notes/\uff0e\uff0e/a.md",
    ):
        assert _allowed(policy, user / name).path == user / name


def test_only_plain_files_of_ones_own_are_allowed(
    user: Path, policy: WritePolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(user / "pipe.md")
    assert _denied(policy, user / "pipe.md").code == "not-a-file"
    monkeypatch.chdir(user)  # the path of a socket has to be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.md")
    assert _denied(policy, user / "socket.md").code == "not-a-file"
    (user / "folder.md").mkdir()
    assert _denied(policy, user / "folder.md").code == "not-a-file"
    (tmp_path / "outside" / "secret.md").write_text("secret")
    os.link(tmp_path / "outside" / "secret.md", user / "linked.md")
    assert _denied(policy, user / "linked.md").code == "hard-link"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_denied(user: Path, policy: WritePolicy) -> None:
    (user / "theirs.md").write_text("theirs")
    os.chown(user / "theirs.md", 12345, 12345)
    assert _denied(policy, user / "theirs.md").code == "other-owner"


def test_a_device_is_denied_even_inside_an_allowed_folder() -> None:
    policy = WritePolicy((Path("/dev"),), Path("/dev/shm"), extensions=frozenset({""}))
    assert _denied(policy, Path("/dev/null")).code == "not-a-file"


def test_a_link_put_in_place_after_the_check_is_not_followed(user: Path, policy: WritePolicy, tmp_path: Path) -> None:
    allowed = _allowed(policy, user / "notes/a.md")
    (user / "notes/a.md").symlink_to(tmp_path / "outside/x.md")
    for create in (Fs(), None):
        with pytest.raises(WriteRefused):
            open_destination(allowed, create=create)
    assert not (tmp_path / "outside/x.md").exists()


def test_a_folder_swapped_for_a_link_after_the_check_is_not_entered(
    user: Path, policy: WritePolicy, tmp_path: Path
) -> None:
    (user / "notes/deep").mkdir()
    allowed = _allowed(policy, user / "notes/deep/a.md")
    (user / "notes/deep").rmdir()
    (user / "notes/deep").symlink_to(tmp_path / "outside")
    with pytest.raises(WriteRefused) as refused:
        open_destination(allowed, create=Fs())
    assert refused.value.code == "changed"
    assert not list((tmp_path / "outside").iterdir())


def test_a_file_swapped_for_a_hard_link_or_a_pipe_after_the_check_is_refused(
    user: Path, policy: WritePolicy, tmp_path: Path
) -> None:
    path = user / "notes/a.md"
    path.write_text("mine")
    allowed = _allowed(policy, path)
    secret = tmp_path / "outside/secret.md"
    secret.write_text("secret")
    path.unlink()
    os.link(secret, path)
    with pytest.raises(WriteRefused) as refused:
        open_destination(allowed)
    assert refused.value.code == "hard-link" and secret.read_text() == "secret"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(WriteRefused):
        open_destination(allowed)


@pytest.mark.parametrize(("instead", "code"), [(False, "missing"), (True, "changed")])
def test_a_hard_link_that_is_gone_right_after_the_opening_is_refused(
    user: Path, policy: WritePolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, instead: bool, code: str
) -> None:
    """Its victim has one name again by then, as if it were a file of ours."""
    path, secret = user / "notes/a.md", tmp_path / "outside/secret.md"
    path.write_text("mine")
    allowed = _allowed(policy, path)
    secret.write_text("secret")
    path.unlink()
    os.link(secret, path)
    really = os.fstat

    def late(descriptor: int) -> os.stat_result:
        path.unlink(missing_ok=True)
        if instead:
            path.write_text("another")
        return really(descriptor)

    monkeypatch.setattr(os, "fstat", late)
    with pytest.raises(WriteRefused) as refused:
        open_destination(allowed)
    assert refused.value.code == code


def test_creating_never_opens_an_existing_file_and_keeps_it_private(user: Path, policy: WritePolicy) -> None:
    allowed = _allowed(policy, user / "new/deep/a.md")
    previous = os.umask(0)
    try:
        os.close(open_destination(allowed, create=Fs()))
    finally:
        os.umask(previous)
    assert stat.S_IMODE(allowed.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(allowed.path.parent.stat().st_mode) == 0o700
    with pytest.raises(WriteRefused) as refused:
        open_destination(allowed, create=Fs())
    assert refused.value.code == "exists"


def test_a_missing_root_is_not_made(user: Path, tmp_path: Path) -> None:
    """It may be a disk that is not mounted; only kato-tui's own folder is made anew."""
    disk = tmp_path / "disk"
    policy = WritePolicy((disk,), user / ".kato/recordings")
    with pytest.raises(WriteRefused) as refused:
        open_folder(_allowed(policy, disk / "a.md"), create=Fs())
    assert refused.value.code == "missing" and not disk.exists()


def test_a_relative_folder_in_the_configuration_is_an_error() -> None:
    with pytest.raises(ConfigError, match="it is relative"):
        WritePolicy((Path("notes"),), Path("/x"))


def test_a_denial_names_the_folders_and_the_setting(policy: WritePolicy, tmp_path: Path) -> None:
    reason = _denied(policy, tmp_path / "outside/a.md").reason
    assert "outside the allowed folders (~, ~/.kato/recordings). Change allowedWriteRoots in ~/.kato/c.toml" in reason
