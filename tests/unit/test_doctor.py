"""The doctor's checks, each on the smallest machine that has the trouble."""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from kato_tui.commands import doctor
from kato_tui.commands.doctor import Finding, Looked
from kato_tui.core import retention
from kato_tui.core.paths import Home
from tests.unit import codex_log

NOW = datetime(2026, 11, 18, 9, 0, tzinfo=UTC)


def _looked(home: Home, *sessions: dict[str, Any], roots: list[dict[str, Any]] | None = None, **more: Any) -> Looked:
    whole = [
        {"provider": "claude", "sessionShortId": "0a0b0c0d", "twinEvents": 0, "twinLags": True, **one}
        for one in sessions
    ]
    return Looked(home, {"sessions": whole, "engine": {"roots": roots or []}}, NOW, **more)


def _found(looked: Looked, check: str) -> list[Finding]:
    return [finding for one in doctor.CHECKS for finding in one(looked) if finding.check == check]


def _root(path: Path, provider: str = "claude") -> dict[str, Any]:
    return {"provider": provider, "path": str(path), "exists": path.exists(), "keepTwins": False}


def _log(path: Path, days: float) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"{}\n")
    then = (NOW - timedelta(days=days)).timestamp()
    os.utime(path, (then, then))
    return str(path)


def test_a_log_that_claude_deletes_within_days_is_named_with_the_way_to_keep_it(home: Home, tmp_path: Path) -> None:
    source = _log(tmp_path / "projects" / "a.jsonl", days=26)
    (finding,) = _found(_looked(home, {"source": source}, roots=[_root(tmp_path / "projects")]), "retention")
    assert finding.level == "warning"
    assert "0a0b0c0d" in finding.text and "export" in finding.text and "30 days" in finding.text


def test_a_log_with_a_complete_twin_or_of_today_is_no_worry(home: Home, tmp_path: Path) -> None:
    old = _log(tmp_path / "projects" / "a.jsonl", days=29)
    new = _log(tmp_path / "projects" / "b.jsonl", days=1)
    kept = {"source": old, "twinEvents": 9, "twinLags": False}
    (finding,) = _found(_looked(home, kept, {"source": new}, roots=[_root(tmp_path / "projects")]), "retention")
    assert finding.level == "ok"


def test_the_period_in_claudes_settings_counts(home: Home, tmp_path: Path) -> None:
    source = _log(tmp_path / "projects" / "a.jsonl", days=26)
    (tmp_path / "settings.json").write_text('{"cleanupPeriodDays": 365}')
    (finding,) = _found(_looked(home, {"source": source}, roots=[_root(tmp_path / "projects")]), "retention")
    assert finding.level == "ok" and "365 days" in finding.text


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        (b"", 30),
        (b"not json", 30),
        (b"[]", 30),
        (b'{"general": 3}', 30),
        (b'{"general": {"sessionRetention": {"enabled": true, "maxAge": "2w"}}}', 14),
        (b'{"general": {"sessionRetention": {"maxAge": "soon"}}}', 30),
        (b'{"general": {"sessionRetention": {"enabled": false}}}', None),
    ],
)
def test_geminis_retention_is_read_from_its_settings(tmp_path: Path, settings: bytes, days: int | None) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "settings.json").write_bytes(settings)
    found = retention.rules([_root(tmp_path / "tmp", "gemini")]).get("gemini")
    assert (found.days if found is not None else None) == days


def test_codex_deletes_nothing_by_itself(tmp_path: Path) -> None:
    assert retention.rules([_root(tmp_path, "codex")]) == {}


def test_generations_of_codex_logs_are_told_apart(tmp_path: Path) -> None:
    heads = {
        "paginated": codex_log.lines(codex_log.meta(history_mode="paginated")),
        "legacy": codex_log.lines(codex_log.meta()),
        "bare": codex_log.lines(codex_log.bare_meta()),
    }
    for name, data in heads.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(data)
        assert retention.generation("codex", path) == name
    assert retention.generation("gemini", tmp_path / "x.json") == "JSON document"
    assert retention.generation("codex", tmp_path / "none.jsonl") == "unreadable"


def test_versions_formats_and_unknown_records_are_counted(home: Home, tmp_path: Path) -> None:
    looked = _looked(
        home,
        {"cliVersion": "2.1.252", "source": str(tmp_path / "a.jsonl"), "unknownTypes": {"brand-new": 2}},
        {"cliVersion": "2.1.252", "source": str(tmp_path / "b.jsonl"), "unknownTypes": {"brand-new": 1}},
    )
    assert "2.1.252 (2)" in _found(looked, "sessions")[0].text
    assert "brand-new (3)" in _found(looked, "unknown record types")[0].text


def test_state_that_others_can_read_is_a_problem_but_a_recording_or_the_settings_are_not(home: Home) -> None:
    (home.recordings / "mine.md").write_text("x")
    (home.recordings / "mine.md").chmod(0o644)
    home.config.write_text("bell = true\n")
    home.config.chmod(0o644)
    assert _found(_looked(home), "permissions")[0].level == "ok"
    secret = home.sessions / "a.twin.jsonl"
    secret.write_text("x")
    secret.chmod(0o644)
    (finding,) = _found(_looked(home), "permissions")
    assert finding.level == "problem" and str(secret) in finding.text and "chmod" in finding.text


def test_few_inotify_watches_are_a_warning_with_the_way_out(home: Home, tmp_path: Path) -> None:
    limits = tmp_path / "inotify"
    limits.mkdir()
    (limits / "max_user_watches").write_text("100\n")
    (limits / "max_user_instances").write_text("128\n")
    (finding,) = _found(_looked(home, inotify=limits), "inotify")
    assert finding.level == "warning" and "sysctl" in finding.text and "polling" in finding.text
    (limits / "max_user_watches").write_text("524288\n")
    assert _found(_looked(home, inotify=limits), "inotify")[0].level == "ok"


def test_without_inotify_there_is_nothing_to_say_about_it(home: Home, tmp_path: Path) -> None:
    assert _found(_looked(home, inotify=tmp_path / "none"), "inotify") == []


def test_activity_in_the_future_questions_the_clock(home: Home) -> None:
    (finding,) = _found(_looked(home, {"lastActivity": "2031-01-01T00:00:00Z"}), "clock")
    assert finding.level == "warning" and "0a0b0c0d" in finding.text
    assert _found(_looked(home, {"lastActivity": "not a time"}), "clock")[0].level == "ok"


def test_an_unusable_session_is_a_problem(home: Home) -> None:
    (finding,) = _found(_looked(home, {"problem": "x has schema version 9"}), "state")
    assert finding.level == "problem" and "schema version 9" in finding.text


def test_no_folder_of_any_assistant_is_a_warning(home: Home, tmp_path: Path) -> None:
    findings = _found(_looked(home, roots=[_root(tmp_path / "none")]), "root")
    assert [finding.level for finding in findings] == ["ok", "warning"]


@pytest.mark.parametrize("data", [b"{", b"[]", b"{}", b'{"sessions": 3}'])
def test_a_damaged_index_is_a_warning(home: Home, data: bytes) -> None:
    home.index.write_bytes(data)
    (finding,) = doctor.look_at_index(home)
    assert finding.level == "warning" and "damaged" in finding.text


def test_an_index_that_lacks_sessions_is_a_warning_and_a_whole_one_is_not(home: Home) -> None:
    assert [finding.level for finding in doctor.look_at_index(home)] == ["ok"]
    home.meta("toy:a").write_bytes(b"{}")
    assert "missing" in next(doctor.look_at_index(home)).text
    home.index.write_bytes(orjson.dumps({"sessions": {}}))
    assert "knows 0 of 1" in next(doctor.look_at_index(home)).text
    home.index.write_bytes(orjson.dumps({"sessions": {"toy:a": {}}}))
    assert next(doctor.look_at_index(home)).level == "ok"


def test_folders_that_cannot_be_looked_into_are_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "projects"
    (root / "open").mkdir(parents=True)
    (root / "closed").mkdir()
    scandir = os.scandir

    def refusing(path: str) -> Any:
        if str(path).endswith("closed"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    (found,) = _found(_looked(Home(tmp_path), roots=[_root(root)]), "root")
    assert found.level == "problem" and f"{root}/closed cannot be read" in found.text and "chmod" in found.text


def test_a_closed_log_and_the_closed_folder_above_a_root_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = {str(tmp_path / "closed"), str(tmp_path / "log.jsonl")}
    (tmp_path / "log.jsonl").write_bytes(b"")
    monkeypatch.setattr(os, "access", lambda path, mode: mode == os.F_OK or str(path) not in closed)
    monkeypatch.setattr(doctor, "_closed", lambda root: [str(root)])
    root = _root(tmp_path / "closed" / "sessions") | {"exists": True, "problem": "permission denied"}
    looked = _looked(Home(tmp_path), {"source": str(tmp_path / "log.jsonl")}, roots=[root])
    assert _found(looked, "root")[0].text.endswith(f"chmod -R u+rX {tmp_path}/closed")
    (log,) = _found(looked, "logs")
    assert log.level == "problem" and log.text.endswith(f"chmod u+r {tmp_path}/log.jsonl")
