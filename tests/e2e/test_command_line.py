"""The real program in a process of its own, with a home and logs of its own."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
import zstandard

from kato_tui import __version__, cli
from kato_tui.arguments import COMMANDS, understood
from kato_tui.core.model.events import TwinEvent
from tests.unit import claude_log, codex_log, gemini_log

CLAUDE_ID = "0f0f0f0f-0000-4000-8000-000000000001"
CODEX_ID = "01a20000-0000-7000-8000-000000000001"
GEMINI_ID = "5b0c1d2e-1111-4a2b-8c3d-000000000001"


class Machine:
    """A user's machine: home folder, environment, and the program on it."""

    def __init__(self, base: Path) -> None:
        self.home = base
        self.kato = base / ".kato"
        self.environ = {"HOME": str(base), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "kato_tui", *map(str, arguments)],
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=60,
        )

    def claude(self, data: bytes) -> Path:
        return self._log(f".claude/projects/-w/{CLAUDE_ID}.jsonl", data)

    def codex(self, data: bytes) -> Path:
        return self._log(f".codex/sessions/2026/09/20/rollout-2026-09-20T12-00-00-{CODEX_ID}.jsonl", data)

    def gemini(self, data: bytes) -> Path:
        return self._log(".gemini/tmp/app/chats/session-2026-07-02T09-00-5b0c1d2e.jsonl", data)

    def keep_twins(self) -> None:
        self._log(".kato/config.toml", b"globalAutoGenerateSnapshots = true\n")

    def _log(self, name: str, data: bytes) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def texts(self, key: str) -> list[str]:
        lines = (self.kato / "sessions" / f"{key}.twin.jsonl").read_bytes().splitlines()
        return [text for line in lines if (text := orjson.loads(line)["payload"].get("text"))]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def _full(machine: Machine) -> None:
    machine.claude(claude_log.lines(*claude_log.conversation("hello claude", "hello human")))
    machine.codex(codex_log.lines(*codex_log.conversation("hello codex", "hello again", CODEX_ID)))
    machine.gemini(gemini_log.lines(*gemini_log.conversation("hello gemini", "hello there", GEMINI_ID)))


@pytest.mark.parametrize("argv", cli.AT_ONCE)
def test_what_is_understood_at_once_means_what_the_parser_says(argv: tuple[str, ...]) -> None:
    does, arguments = cli.AT_ONCE[argv]
    parsed_does, parsed = understood(argv)
    assert does == parsed_does and arguments.items() <= vars(parsed).items()


def test_an_empty_machine_gets_a_friendly_answer(machine: Machine) -> None:
    done = machine.run("--no-ui", "--once")
    assert done.returncode == 0
    assert done.stdout.decode().startswith("nothing found, looked in ")
    assert ".claude/projects" in done.stdout.decode()


def test_once_brings_sessions_of_all_providers_up_to_date(machine: Machine) -> None:
    _full(machine)
    machine.keep_twins()
    done = machine.run("--no-ui", "--once")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"3 sessions, 3 brought up to date")
    assert machine.texts(f"claude:{CLAUDE_ID}") == ["hello claude", "hello human"]
    assert machine.texts(f"codex:{CODEX_ID}") == ["hello codex", "hello again"]
    assert machine.texts(f"gemini:{GEMINI_ID}") == ["hello gemini", "hello there"]
    again = machine.run("--no-ui", "--once")
    assert again.stdout == b"3 sessions, 0 brought up to date, 0 events added, 0 B read\n"


def test_without_the_setting_no_twin_is_written(machine: Machine) -> None:
    _full(machine)
    assert machine.run("--no-ui", "--once").returncode == 0
    names = {path.name for path in (machine.kato / "sessions").iterdir()}
    assert names == {
        f"claude:{CLAUDE_ID}.meta.json", f"codex:{CODEX_ID}.meta.json", f"gemini:{GEMINI_ID}.meta.json",
    }  # fmt: skip


def test_translate_prints_valid_events_and_touches_nothing(machine: Machine) -> None:
    path = machine.claude(claude_log.lines(*claude_log.conversation("hi", "ho")))
    done = machine.run("translate", path)
    assert done.returncode == 0, done.stderr
    events = [TwinEvent.model_validate_json(line) for line in done.stdout.splitlines()]
    assert [event.kind for event in events] == ["user.message", "assistant.message"]
    assert not machine.kato.exists()


def test_translate_reads_compressed_rollouts(machine: Machine, tmp_path: Path) -> None:
    path = tmp_path / f"rollout-2026-09-20T12-00-00-{CODEX_ID}.jsonl.zst"
    path.write_bytes(zstandard.compress(codex_log.lines(*codex_log.conversation("packed", "yes", CODEX_ID))))
    done = machine.run("translate", path)
    assert b'"text":"packed"' in done.stdout


def test_stats_account_for_every_record(machine: Machine) -> None:
    data = claude_log.lines(claude_log.user("hi"), {"type": "brand-new", "x": 1}) + b"garbage\n"
    path = machine.claude(data)
    done = machine.run("translate", path, "--stats", "--json")
    rows = orjson.loads(done.stdout)["claude"]
    assert sum(row["read"] for row in rows.values()) == 3
    for row in rows.values():
        assert row["read"] == sum(row[name] for name in ("translated", "dropped", "repeated", "raw", "invalid"))
    assert rows["brand-new"]["raw"] == 1
    table = machine.run("translate", path, "--stats").stdout.decode()
    assert "claude record type" in table and "brand-new" in table


def test_problems_have_their_exit_codes(machine: Machine, tmp_path: Path) -> None:
    unknown = tmp_path / "notes.txt"
    unknown.write_text("just text\n")
    assert machine.run("translate", tmp_path / "none.jsonl").returncode == 3
    assert machine.run("translate", unknown).returncode == 1
    assert machine.run("translate").returncode == 2
    assert machine.run("--once").returncode == 2
    assert machine.run().returncode == 2
    assert machine.run("rebuild", "12345678").returncode == 3


def test_a_session_that_needs_a_rebuild_is_named_and_rebuilt(machine: Machine) -> None:
    _full(machine)
    machine.keep_twins()
    meta = machine._log(f".kato/sessions/claude:{CLAUDE_ID}.meta.json", b'{"schemaVersion": 9}')
    failed = machine.run("--no-ui", "--once")
    assert failed.returncode == 1
    told = re.search(rb"schema version 9.*`kato-tui rebuild ([0-9a-f]{8})`", failed.stderr)
    assert told is not None, failed.stderr
    assert meta.read_bytes() == b'{"schemaVersion": 9}'
    assert machine.texts(f"codex:{CODEX_ID}") == ["hello codex", "hello again"]
    assert machine.run("rebuild", told[1].decode()).returncode == 0
    assert machine.run("--no-ui", "--once").returncode == 0
    assert machine.texts(f"claude:{CLAUDE_ID}") == ["hello claude", "hello human"]


def test_a_wrong_setting_stops_with_its_place(machine: Machine) -> None:
    machine._log(".kato/config.toml", b"globalAutoGenerateSnapshot = true\n")
    done = machine.run("--no-ui", "--once")
    assert done.returncode == 1
    assert b"did you mean `globalAutoGenerateSnapshots`?" in done.stderr


def test_hostile_names_reach_the_terminal_only_cleaned(machine: Machine) -> None:
    done = machine.run("translate", machine.home / "x\x1b[31m\u202e.jsonl")
    assert done.returncode == 3
    assert b"\x1b" not in done.stderr and "\u202e".encode() not in done.stderr


def test_the_version_is_printed(machine: Machine) -> None:
    first, *facts = machine.run("--version").stdout.decode().splitlines()
    assert first == f"kato-tui {__version__}"
    assert [fact.partition(":")[0] for fact in facts] == ["python", "system", "packages", "terminal", "home"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_are_told_every_command_and_option(machine: Machine, shell: str) -> None:
    script = machine.run("completion", shell).stdout.decode()
    assert all(command in script for command in COMMANDS)
    assert ("older-than" in script) and ("no-ui" in script)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("config v", "validate"),
        ("export 4c", "4ce4cff5"),
        ("export --format markdown 4ce4cff5 --se", "--set"),
        ("export 4ce4cff5 --format j", "jsonl"),
        ("stop 7a", "7ade0001"),
        ("--no", "--no-ui"),
        ("rec", "recordings"),
        ("export 4ce4cff5 ", ""),
    ],
)
@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_shell_completes_words_options_values_and_ids(machine: Machine, shell: str, typed: str, offered: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    script = machine.run("completion", shell).stdout.decode()
    lists = "printf '4ce4cff5\\tclaude: tides\\n7ade0001\\ton: x.md\\n'"
    if shell == "bash":
        words = f"kato-tui {typed}".split(" ")
        set_up = f"kato-tui() {{ {lists}; }}; COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}"
        ask = f'{set_up}; _kato_tui; echo "${{COMPREPLY[@]}}"'
    else:
        ask = f"function kato-tui; {lists}; end; complete -C 'kato-tui {typed}' | string split -f 1 \\t"
    done = subprocess.run([shell, "-c", f"{script}\n{ask}"], capture_output=True, check=False, cwd=machine.home)
    assert (done.stdout.decode().strip(), done.stderr) == (offered, b"")


def test_zsh_takes_the_script(machine: Machine) -> None:
    if shutil.which("zsh") is None:
        pytest.skip("no zsh here")
    script = machine.run("completion", "zsh").stdout
    assert script.startswith(b"#compdef kato-tui\n")
    assert subprocess.run(["zsh", "-n"], input=script, capture_output=True, check=True).stderr == b""


def test_the_scripts_can_ask_which_sessions_there_are(machine: Machine) -> None:
    machine.claude(claude_log.lines(claude_log.user("hello\tthere")))
    (line,) = machine.run("completion", "sessions").stdout.decode().splitlines()
    short, _, what = line.partition("\t")
    assert len(short) == 8 and what == "claude: hello there"
    assert machine.run("completion", "recordings").stdout == b""


@pytest.mark.parametrize("words", ["clean --older-than soon", "events 7d14af8e --from 0", "events 7d14af8e --from x"])
def test_a_word_that_is_no_number_is_told_what_it_has_to_be(capsys: pytest.CaptureFixture[str], words: str) -> None:
    with pytest.raises(SystemExit):
        understood(words.split())
    said = capsys.readouterr().err
    assert "number of" in said and "invalid" not in said and "_" not in said
