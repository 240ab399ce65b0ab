"""Warnings come by themselves, stay until they are acknowledged or mended, and offer what mends them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kato_tui.view import warnings
from kato_tui.view.warnings import Alert
from tests.tui.house import Dash, House, look


async def _go_to(dash: Dash, code: str) -> Alert:
    """Put the cursor on the first warning of that sort."""
    pane = dash.app.warnings
    dash.app.go_to(pane)
    pane.select(next(key for key, one in pane._alerts.items() if one.code == code))
    await dash.settled()
    assert pane.alert is not None
    return pane.alert


async def test_an_ambiguous_stop_shows_its_candidates_and_enter_stops_the_one_meant(tmp_path: Path) -> None:
    ids = iter(f"7ade0001-{number:04d}-4000-8000-000000000000" for number in range(1, 9))
    house = House(tmp_path, ids=ids)
    log = house.stage.tests
    async with look(house) as dash:
        await dash.select(log)
        await dash.command("start ~/notes/one.md")
        await dash.command("start ~/notes/two.md")
        log.user("::stop id:7ade0001")
        await dash.hear()
        assert any("ambiguous" in one for one in dash.toasts)
        await _go_to(dash, "ambiguous")
        rows = dash.rows(dash.app.warnings)
        assert any("└ 7ade0001-0001" in one and "one.md" in one for one in rows)
        pane = dash.app.warnings
        wanted = next(key for key in pane.items if key.endswith("0002-4000-8000-000000000000"))
        pane.select(wanted)
        await dash.press("y")
        assert dash.copied == "7ade0001-0002-4000-8000-000000000000"
        await dash.press("enter")
        states = {Path(one["destination"]).name: one["desiredState"] for one in house.recordings(log)}
        assert states == {"one.md": "on", "two.md": "off"}
        await dash.press("enter")
        assert [one["desiredState"] for one in house.recordings(log)] == ["on", "on"]


async def test_a_failing_recording_stands_there_until_it_works_again(tmp_path: Path) -> None:
    house = House(tmp_path)
    log, folder = house.stage.tests, house.base / "away"
    folder.mkdir()
    async with look(house) as dash:
        await dash.select(log)
        await dash.command("start ~/away/notes.md")
        log.say("written")
        await dash.hear()
        shutil.rmtree(folder)
        folder.write_text("a file is in the way")
        log.say("kept for later")
        await dash.hear()
        assert "! failing" in dash.text and "!1" in dash.text
        alert = await _go_to(dash, "failing")
        assert warnings.fix_of(alert).text == "start "
        await dash.press("enter")
        assert dash.app.line.is_open and dash.app.line.entry.value == "start "
        await dash.press("escape")
        folder.unlink()
        folder.mkdir()
        house.clock.advance(3600)
        await dash.hear()
        assert "kept for later" in (folder / "notes.md").read_text()
        assert not any(one.code == "failing" for one in dash.app.board.alerts())


async def test_what_failed_once_and_was_acknowledged_is_told_again_when_it_fails_anew(tmp_path: Path) -> None:
    house = House(tmp_path)
    log, folder = house.stage.tests, house.base / "away"
    folder.mkdir()
    async with look(house) as dash:
        await dash.select(log)
        await dash.command("start ~/away/notes.md")
        for _ in range(2):
            log.say("something to write")
            shutil.rmtree(folder)
            folder.write_text("in the way")
            house.clock.advance(3600)
            await dash.hear()
            await _go_to(dash, "failing")
            await dash.press("d")
            assert not any(one.code == "failing" for one in dash.app.board.alerts())
            folder.unlink()
            folder.mkdir()
            house.clock.advance(3600)
            await dash.hear()


async def test_a_refused_path_can_be_named_again(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.legacy)
        house.stage.tests.user("::record /etc/harbour.md")
        await dash.hear()
        alert = next(one for one in dash.app.board.alerts() if one.code.startswith("denied"))
        await _go_to(dash, alert.code)
        await dash.press("enter")
        await dash.type("~/notes/better.md")
        await dash.press("enter")
        [one] = house.recordings(house.stage.tests)
        assert one["destination"].endswith("notes/better.md")


async def test_a_session_that_cannot_be_used_is_rebuilt_after_a_question(tmp_path: Path) -> None:
    house = House(tmp_path)
    log = house.stage.tests
    meta = house.home.meta(f"claude:{log.session}")
    house.close()
    text = meta.read_text()
    meta.write_text(text.replace('"schemaVersion": 1', '"schemaVersion": 99'))
    assert text != meta.read_text()
    house.open()
    async with look(house) as dash:
        await _go_to(dash, "needs-rebuild")
        await dash.press("enter")
        assert "Rebuild" in dash.text and "set aside, not deleted" in dash.text
        await dash.press("escape")
        assert '"schemaVersion": 99' in meta.read_text()
        await dash.press("enter", "y")
        assert '"schemaVersion": 99' not in meta.read_text()
        assert any("rebuilt, 1 event" in one for one in dash.toasts)


async def test_logs_that_go_soon_can_be_kept(tmp_path: Path) -> None:
    house = House(tmp_path, global_auto_generate_snapshots=False)
    house.clock.advance(25 * 86400)
    async with look(house) as dash:
        await _go_to(dash, "retention")
        assert "claude deletes 2 of its logs" in dash.text
        await dash.press("enter")
        assert "Keep twins of 2 sessions?" in dash.text
        await dash.press("y")
        kept = [one for one in house.link.status()["sessions"] if one.get("keepTwin")]
        assert {one["provider"] for one in kept} == {"claude"} and len(kept) == 2
        assert not any(one.key.startswith("retention:claude") for one in dash.app.board.alerts())


async def test_record_types_nobody_knows_can_be_reported_without_a_word_of_the_conversation(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.stage.tests.append({"type": "from-the-future", "secret": "a word of the conversation"})
    house.poll()
    async with look(house) as dash:
        await _go_to(dash, "unknown-types")
        await dash.press("enter")
        assert "from-the-future ×1" in dash.copied and "secret" not in dash.copied
        assert "a word" not in dash.copied


async def test_record_types_nobody_knows_are_told_once_an_assistant_and_below_what_happened(tmp_path: Path) -> None:
    house = House(tmp_path)
    for log in (house.stage.tests, house.stage.design):
        log.append({"type": "from-the-future"})
    house.stage.tests.append({"type": "another"})
    house.poll()
    async with look(house) as dash:
        await dash.press("s")
        assert [one.code for one in dash.app.board.alerts()][-2:] == ["done", "unknown-types"]
        assert "from-the-future ×2, another ×1, in 2 sessions" in dash.alerts[-1]
        await _go_to(dash, "unknown-types")
        await dash.press("d")
        house.stage.design.append({"type": "from-the-future"})
        await dash.hear()
        assert "unknown-types" not in [one.code for one in dash.app.board.alerts()]
        house.stage.design.append({"type": "a third"})
        await dash.hear()
        assert "a third ×1" in dash.alerts[-1]


async def test_warnings_are_taken_off_one_by_one_or_all_after_a_question(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        for line in ("strat", "stpo", "keep nonsense"):
            await dash.command(line)
        assert len(dash.alerts) == 3
        await dash.press("4", "d")
        assert len(dash.alerts) == 2
        await dash.press("D")
        assert "Take all 2 messages off the list" in dash.text
        await dash.press("escape")
        assert len(dash.alerts) == 2
        await dash.press("D", "y")
        assert not dash.alerts and "All is well" in dash.text


async def test_enter_on_a_notice_leads_to_its_session_also_when_that_is_hidden(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.clock.advance(8 * 86400)
    house.poll()
    async with look(house) as dash:
        with house.link.lock:
            house.engine.failed(f"claude:{house.stage.design.session}", PermissionError(13, "denied"))
        await dash.settled()
        await _go_to(dash, "unreadable")
        await dash.press("enter")
        assert dash.app.sessions.cursor == f"claude:{house.stage.design.session}"
        assert dash.app.focused is dash.app.sessions


@pytest.mark.parametrize("code", ["ambiguous", "not-found", "too-short", "invalid-command", "denied-outside", "done"])
def test_every_warning_says_what_enter_does(code: str) -> None:
    alert = Alert("n1", "", code, "error", "words", "4ce4cff5")
    fix = warnings.fix_of(alert)
    assert fix.words and (fix.kind == "none" or fix.words.startswith("⏎"))
