"""Every command of the real program, in a process and a home of its own, with no engine running."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from kato_tui.arguments import COMMANDS
from kato_tui.core import identity
from kato_tui.core.clock import stamp
from kato_tui.core.model.events import TwinEvent
from kato_tui.core.model.status import Status
from kato_tui.core.record.writer import writer_for
from tests.e2e.test_command_line import CLAUDE_ID, CODEX_ID, Machine
from tests.unit import claude_log, codex_log, gemini_log

CLAUDE = identity.short_id(identity.session_id(f"claude:{CLAUDE_ID}"))
CODEX = identity.short_id(identity.session_id(f"codex:{CODEX_ID}"))


def _ago(**span: float) -> str:
    return stamp(datetime.now(UTC) - timedelta(**span))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A Claude session of now, a Codex session of long ago."""
    made = Machine(tmp_path)
    prompt, reply = claude_log.conversation("hello claude", "hello human")
    made.claude(claude_log.lines(prompt | {"timestamp": _ago(minutes=2)}, reply | {"timestamp": _ago(minutes=1)}))
    made.codex(codex_log.lines(*codex_log.conversation("hello codex", "hello again", CODEX_ID)))
    return made


def _json(machine: Machine, *arguments: str | Path) -> Any:
    done = machine.run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return orjson.loads(done.stdout)


def _out(machine: Machine, *arguments: str | Path) -> str:
    done = machine.run(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(machine: Machine, command: str) -> None:
    text = _out(machine, command, "--help")
    assert f"kato-tui {command}" in text.partition("examples:")[2] and "--json" in text


def test_status_shows_what_is_new_and_says_what_it_hides(machine: Machine) -> None:
    text = _out(machine, "status")
    assert re.search(rf"○ idle +{CLAUDE} +claude +hello claude +w@main +1m", text)
    assert CODEX not in text and "1 older than 7 days hidden: --all shows all" in text
    assert CODEX in _out(machine, "status", "--all")


def test_status_as_json_is_the_contract_and_hides_nothing(machine: Machine) -> None:
    done = machine.run("status", "--json")
    status = Status.model_validate_json(done.stdout)
    assert {session.session_short_id for session in status.sessions} == {CLAUDE, CODEX}
    assert status.engine.watching == "none"


def test_sub_agents_are_hidden_also_before_they_were_ever_read(machine: Machine) -> None:
    log = claude_log.lines(*claude_log.conversation("find it", "found"))
    machine._log(f".claude/projects/-w/{CLAUDE_ID}/subagents/agent-abc.jsonl", log)
    assert "1 sub-agents" in _out(machine, "status")
    assert len(_out(machine, "sessions", "--all").splitlines()) == 4


def test_sessions_are_listed(machine: Machine) -> None:
    lines = _out(machine, "sessions", "--all").splitlines()
    assert len(lines) == 3 and CLAUDE in lines[1] and CODEX in lines[2]
    assert [one["sessionShortId"] for one in _json(machine, "sessions")] == [CLAUDE]


def test_a_recording_is_started_listed_stopped_and_resumed(machine: Machine) -> None:
    dest = machine.home / "talk notes.md"
    started = machine.run("start", CLAUDE, dest, "--from", "-1")
    assert started.returncode == 0, started.stderr
    assert str(dest).encode() in started.stdout and b"no engine runs" in started.stderr
    assert b"hello human" in dest.read_bytes()
    (listed,) = _json(machine, "recordings")
    assert (listed["destination"], listed["status"]) == (str(dest), "recording")
    assert "● recording" in _out(machine, "recordings") and "1 on" in _out(machine, "status")
    short = listed["recordingShortId"]
    assert _out(machine, "stop", short).startswith(f"stopped {short}")
    assert "already stopped" in _out(machine, "stop", short)
    assert "recording again" in _out(machine, "resume", short)
    assert _json(machine, "stop", f"dest:{dest}")["code"] == "done"


def test_relative_destinations_are_the_shells(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine.home / "notes").mkdir()
    monkeypatch.chdir(machine.home / "notes")
    assert _json(machine, "start", CLAUDE, "x.md")["recordings"][0]["destination"] == f"{machine.home}/notes/x.md"
    assert machine.run("stop", "x.md").returncode == 0
    assert machine.run("resume", "./x.md").returncode == 0
    folder = _json(machine, "capture", CLAUDE, "./")["recordings"][0]["destination"]
    assert folder.startswith(f"{machine.home}/notes/claude-{CLAUDE}-")


def test_hard_names_reach_the_file_as_they_are_typed(machine: Machine) -> None:
    for name in ('it\'s "so".md', "`a` 'b' \"c\".md", "from -3.md", "a\\b.md", "[x](y).md"):
        assert _json(machine, "export", CLAUDE, machine.home / name)["code"] == "done"
        assert (machine.home / name).exists(), name


def test_start_from_words_that_were_said(machine: Machine) -> None:
    dest = machine.home / "x.md"
    assert machine.run("start", CLAUDE, dest, "--from", "hello claude").returncode == 0
    assert b"hello human" in dest.read_bytes()
    assert machine.run("start", CLAUDE, "--from", "never said").returncode == 1
    assert machine.run("start", CLAUDE, "--from", 'a "quoted" word').returncode == 2


def test_capture_takes_everything_so_far(machine: Machine) -> None:
    outcome = _json(machine, "capture", CODEX)
    path = Path(outcome["recordings"][0]["destination"])
    assert path.parent == machine.kato / "recordings" and b"hello codex" in path.read_bytes()


@pytest.mark.parametrize("form", ["markdown", "jsonl"])
def test_an_export_to_stdout_is_what_the_same_writer_makes_of_the_twin(machine: Machine, form: Any) -> None:
    exported = machine.run("export", CLAUDE, "-", "--format", form).stdout
    writer = writer_for(form, _settings())
    state, whole = writer.begin(), b""
    for line in machine.run("events", CLAUDE).stdout.splitlines():
        state, part = writer.render(state, orjson.loads(line))
        whole += part
    assert exported == whole.lstrip(b"\n") != b""
    dest = machine.home / ("x.jsonl" if form == "jsonl" else "x.md")
    assert _out(machine, "export", CLAUDE, dest).startswith("exported 2 events to ")
    assert dest.read_bytes().endswith(exported)


def _settings() -> Any:
    from kato_tui.core.model.settings import RecordSettings

    return RecordSettings()


def test_contradictions_are_usage_errors(machine: Machine) -> None:
    assert machine.run("export", CLAUDE, "x.md", "--format", "jsonl").returncode == 2
    assert machine.run("export", CLAUDE, "-", "--json").returncode == 2
    assert machine.run("clean").returncode == 2
    assert machine.run("clean", "--older-than", "3", "--session", CLAUDE).returncode == 2
    assert machine.run("events", CLAUDE, "--from", "0").returncode == 2
    assert machine.run("config", "nothing").returncode == 2


def test_a_write_that_is_not_allowed_fails_with_the_way_out(machine: Machine) -> None:
    done = machine.run("start", CLAUDE, "/etc/talk.md")
    assert done.returncode == 1 and done.stdout == b"" and b"allowedWriteRoots" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [("start",), ("capture",), ("export", "x.md"), ("export", "-"), ("events",), ("rebuild",), ("clean",), ("stop",)],
)
def test_an_unknown_session_is_not_found(machine: Machine, arguments: tuple[str, ...]) -> None:
    command, *rest = arguments
    option = ["--session"] if command in ("clean", "stop") else []
    done = machine.run(command, *option, "ffffffff", *rest)
    assert done.returncode == 3 and done.stdout == b"" and b"no session ffffffff" in done.stderr


def test_a_short_prefix_and_an_ambiguous_one_are_refused(machine: Machine) -> None:
    assert machine.run("start", CLAUDE[:4]).returncode == 3
    machine.gemini(gemini_log.lines(*gemini_log.conversation("hi", "ho", CLAUDE_ID)))
    done = machine.run("events", CLAUDE_ID)
    assert done.returncode == 3 and b"ambiguous" in done.stderr and CLAUDE.encode() in done.stderr
    assert machine.run("stop", "ffffffff").returncode == 3


def test_a_session_is_meant_by_any_of_its_names(machine: Machine) -> None:
    log = machine.home / f".claude/projects/-w/{CLAUDE_ID}.jsonl"
    full = identity.session_id(f"claude:{CLAUDE_ID}")
    outputs = {machine.run("events", name).stdout for name in (CLAUDE, full, CLAUDE_ID, f"claude:{CLAUDE_ID}", log)}
    assert len(outputs) == 1 and outputs != {b""}


def test_events_are_the_twin_byte_for_byte_from_any_place(machine: Machine) -> None:
    log = machine.home / f".claude/projects/-w/{CLAUDE_ID}.jsonl"
    with log.open("ab") as file:
        file.write(claude_log.lines(claude_log.typed("caf\u00e9 \x7f \u202e end", "u9", 9)))
    whole = machine.run("events", CLAUDE).stdout
    assert whole == (machine.kato / "sessions" / f"claude:{CLAUDE_ID}.twin.jsonl").read_bytes()
    assert [TwinEvent.model_validate_json(line).seq for line in whole.splitlines()] == [1, 2, 3]
    assert machine.run("events", CLAUDE, "--from", "2").stdout == b"".join(whole.splitlines(keepends=True)[1:])
    assert machine.run("events", CLAUDE, "--from", "9").stdout == b""


def test_bringing_everything_up_to_date_can_be_read_by_machines(machine: Machine) -> None:
    machine.keep_twins()
    first, second = _json(machine, "--no-ui", "--once"), _json(machine, "--no-ui", "--once")
    assert (first["sessions"], first["changed"], first["events"], first["problems"]) == (2, 2, 4, {})
    assert (second["sessions"], second["changed"], second["bytesRead"]) == (2, 0, 0)
    assert machine.run("--demo", "--once", "--json").returncode == 2


def test_clean_says_what_it_would_do_then_does_it(machine: Machine) -> None:
    machine.keep_twins()
    assert machine.run("--no-ui", "--once").returncode == 0
    assert "would remove 1 session and 0 other files" in _out(machine, "clean", "--older-than", "30")
    twin = machine.kato / "sessions" / f"codex:{CODEX_ID}.twin.jsonl"
    assert twin.exists()
    assert "removed 1 session and" in _out(machine, "clean", "--older-than", "30", "--yes")
    assert not twin.exists() and (machine.kato / "sessions" / f"claude:{CLAUDE_ID}.twin.jsonl").exists()
    assert _out(machine, "clean", "--older-than", "30") == "nothing to clean\n"
    plan = _json(machine, "clean", "--session", CLAUDE)
    assert plan["done"] is False and plan["bytes"] > 0 and len(plan["sessions"][0]["files"]) == 2


def test_clean_refuses_a_session_that_is_being_recorded(machine: Machine) -> None:
    assert machine.run("start", CLAUDE).returncode == 0
    done = machine.run("clean", "--session", CLAUDE, "--yes")
    assert done.returncode == 1 and b"it is being recorded: kato-tui stop" in done.stderr
    assert (machine.kato / "sessions" / f"claude:{CLAUDE_ID}.meta.json").exists()


def test_config_is_made_shown_and_checked(machine: Machine) -> None:
    path = machine.kato / "config.toml"
    assert _out(machine, "config", "path") == f"{path}\n"
    assert "defaults hold" in _out(machine, "config", "validate")
    assert str(path) in _out(machine, "config", "init")
    assert "is valid" in _out(machine, "config", "validate")
    assert machine.run("config", "init").returncode == 1
    assert 'mode = "auto"' in _out(machine, "config", "show")
    assert _json(machine, "config", "show")["watch"] == {"mode": "auto"}
    path.write_text("[watch]\nmod = 1\n")
    done = machine.run("config", "validate")
    assert done.returncode == 1 and b"config.toml:2: unknown key `watch.mod`, did you mean `mode`?" in done.stderr
    assert machine.run("config", "validate", "--json").returncode == 1
    assert machine.run("status").returncode == 1
    path.write_text('[[roots]]\nprovider = "clod"\npath = "/x"\n')
    assert b"clod" in machine.run("config", "validate").stderr


def test_doctor_looks_at_everything(machine: Machine) -> None:
    done = machine.run("doctor")
    assert done.returncode == 0, done.stdout
    text = done.stdout.decode()
    for check in ("config", "index", "root", "sessions", "retention", "permissions", "clock", "disk"):
        assert re.search(rf"^[✓!] {check}: ", text, re.MULTILINE), check
    assert "legacy (1)" in text and "2.1.252 (1)" in text
    assert {one["level"] for one in _json(machine, "doctor")} <= {"ok", "warning"}


def test_doctor_goes_on_with_broken_settings_and_fails(machine: Machine) -> None:
    machine._log(".kato/config.toml", b"bel = true\n")
    done = machine.run("doctor")
    assert done.returncode == 1 and "✗ config: ".encode() in done.stdout and b"index: " in done.stdout


def test_hostile_text_never_reaches_stdout_raw(machine: Machine) -> None:
    hostile = "\x1b]0;owned\x07\x1b[31mred\u202e\x9b2J\x7f\r"
    prompt, reply = claude_log.conversation(f"x {hostile}", "hello")
    more = {"timestamp": _ago(minutes=1), "cwd": f"/w/{hostile}", "gitBranch": hostile, "version": hostile}
    title = claude_log.title("custom-title", f"title {hostile}")
    machine.claude(claude_log.lines(prompt | more, reply | more, title, {"type": hostile}))
    commands = (
        ("status", "--all"), ("status", "--json"), ("sessions",), ("doctor",), ("events", CLAUDE),
        ("start", CLAUDE), ("recordings",),
        ("clean", "--older-than", "0"), ("--no-ui", "--once"), ("start", f"{hostile}12345678"),
    )  # fmt: skip
    for command in commands:
        done = machine.run(*command)
        for output in (done.stdout, done.stderr):
            text = output.decode()
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text), (command, text)


def test_an_empty_machine_gets_friendly_answers(tmp_path: Path) -> None:
    empty = Machine(tmp_path)
    for command in (("status",), ("sessions",), ("--no-ui", "--once")):
        text = _out(empty, *command)
        assert f"nothing found, looked in {empty.home}/.claude/projects, " in text and "kato-tui --demo" in text
    assert "nothing is recorded yet" in _out(empty, "recordings")
    assert _json(empty, "sessions", "--all") == []
    assert empty.run("doctor").returncode == 0
    assert empty.run("stop").returncode == 3


def test_a_home_that_cannot_be_used_is_named_with_the_way_out(machine: Machine) -> None:
    machine.environ["KATO_HOME"] = f"{machine.home}/.claude/projects/-w/{CLAUDE_ID}.jsonl/kato"
    for command in (("status",), ("--no-ui",), ("--no-ui", "--once")):
        done = machine.run(*command)
        assert done.returncode == 1 and b"a part of the path is not a folder. Set KATO_HOME to" in done.stderr
    assert "✗ engine: cannot keep state in".encode() in machine.run("doctor").stdout


@pytest.mark.parametrize(("typed", "hint"), [("stauts", "did you mean status?"), ("frobnicate", "kato-tui --help")])
def test_an_unknown_command_is_a_mistake_of_usage_with_a_hint(machine: Machine, typed: str, hint: str) -> None:
    done = machine.run(typed)
    assert done.returncode == 2 and f"unknown command '{typed}', ".encode() in done.stderr
    assert hint.encode() in done.stderr


def test_a_rebuild_keeps_the_twin_and_refuses_while_recordings_are_on(machine: Machine) -> None:
    assert machine.run("capture", CLAUDE, machine.home / "talk.md").returncode == 0
    before = machine.run("events", CLAUDE).stdout
    refused = machine.run("rebuild", CLAUDE)
    assert refused.returncode == 1 and f"kato-tui stop --session {CLAUDE}".encode() in refused.stderr
    assert machine.run("stop").returncode == 0
    assert "rebuilt 2 events" in _out(machine, "rebuild", CLAUDE)
    twin = machine.kato / "sessions" / f"claude:{CLAUDE_ID}.twin.jsonl"
    assert twin.read_bytes() == before
    assert twin.with_name(f"{twin.name}.before-rebuild-1").read_bytes() == before


def test_a_rebuild_of_what_cannot_be_read_ends_its_recordings_and_names_them(machine: Machine) -> None:
    path = machine.home / "talk.md"
    assert machine.run("capture", CLAUDE, path).returncode == 0
    state = machine.kato / "sessions" / f"claude:{CLAUDE_ID}.meta.json"
    state.write_bytes(state.read_bytes().replace(b'"schemaVersion": 1,', b'"schemaVersion": 99,'))
    assert machine.run("stop").returncode != 0
    told = _out(machine, "rebuild", CLAUDE)
    assert "rebuilt 2 events" in told and str(path) in told
    recorded = path.read_bytes()
    assert machine.run("start", CLAUDE, path).returncode == 0
    assert path.read_bytes().startswith(recorded)


def test_a_home_in_use_without_an_answer_is_named(machine: Machine) -> None:
    from kato_tui.core.store.lock import EngineLock

    (machine.kato / "run").mkdir(parents=True)
    with EngineLock(machine.kato / "run" / "engine.lock"):
        done = machine.run("status")
    assert done.returncode == 1 and b"in use by process" in done.stderr


def test_the_demonstration_plays_and_leaves_nothing_behind(machine: Machine, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    machine.environ["TMPDIR"] = str(scratch)
    text = _out(machine, "--demo", "--no-ui", "--once")
    assert "Flaky tide test at midnight" in text and "is ambiguous" in text and "● recording" in text
    assert list(scratch.iterdir()) == [] and not machine.kato.exists()


def test_a_reader_that_goes_away_and_a_poor_terminal_are_no_errors(machine: Machine) -> None:
    piped = subprocess.run(
        f"{sys.executable} -m kato_tui events {CLAUDE} | true; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        env=machine.environ,
        capture_output=True,
        check=False,
    )
    assert (piped.returncode, piped.stderr) == (0, b"")
    machine.environ |= {"PYTHONIOENCODING": "latin-1"}
    assert b"? idle" in machine.run("status").stdout


def test_options_that_stand_alone_are_not_mixed_with_commands(machine: Machine) -> None:
    assert machine.run("--demo", "status").returncode == 2
    assert not machine.kato.exists()


def test_settings_of_one_recording(machine: Machine) -> None:
    plain, slanted = (
        _out(machine, "export", CLAUDE, "-"),
        _out(machine, "export", CLAUDE, "-", "--set", "italicUserText=true"),
    )
    assert "*hello claude*" in slanted and "*hello claude*" not in plain
    refused = machine.run("start", CLAUDE, "--set", "thinkin=false")
    assert refused.returncode == 2 and b"--set unknown key `thinkin`, did you mean `thinking`?" in refused.stderr
    refused = machine.run("start", CLAUDE, "--set", "thinking=perhaps")
    assert refused.returncode == 2 and b"--set thinking: has to be true or false" in refused.stderr
    done = _json(machine, "start", CLAUDE, machine.home / "talk.md", "--set", "toolResultLimit=all")
    assert done["severity"] == "info"
    assert _json(machine, "recordings")[0]["settings"]["toolResultLimit"] == "all"
