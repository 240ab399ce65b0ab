"""The dashboard in a real terminal: keys, other programs, sizes, clipboards, signals, and how it leaves the shell."""

from __future__ import annotations

import base64
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.running import Running, append, engine, said
from tests.e2e.terminal import Terminal, terminal

SESSION = "5f0c1a2b-3d4e-4f60-8a71-92b3c4d5e6f7"


def _home(base: Path, *texts: str) -> Running:
    running = Running(base)
    append(running.log(SESSION), said(SESSION, *texts))
    return running


def _script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_while_at_the_keyboard(tmp_path: Path) -> None:
    running = _home(tmp_path, "how high is the water")
    tools = tmp_path / "tools"
    tools.mkdir()
    _script(tools / "tmux", f'cat > "{tmp_path}/copied"')
    # ctrl+c is for the pager alone: it says so and goes on.
    pager = _script(
        tools / "pager", 'trap "echo STILL HERE" INT\necho PAGER OF "$1"\nread line\nread line || read line'
    )
    environ = {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "TMUX": "/tmp/none,1,0",
        "SSH_CONNECTION": "1",
        "PAGER": str(pager),
    }
    with terminal(tmp_path, **environ) as shell:
        shell.see("how high is the water", "watching")
        shell.type("s")
        shell.see("recording")
        append(running.log(SESSION), said(SESSION, "::capture ~/tide.md"))
        shell.until(lambda: (tmp_path / "tide.md").exists() and "how high" in (tmp_path / "tide.md").read_text())
        _copies(shell, tmp_path / "copied")
        _reads_in_the_pager(shell)
        _keeps_up_with_sizes(shell)
        shell.type(":quit\r")
        shell.see("will wait until kato-tui runs again")
        shell.type("y")
        assert shell.end() == 0
        shell.assert_restored()


def _copies(shell: Terminal, copied: Path) -> None:
    shell.type("1y")
    shell.see("copied", "(terminal, tmux)")
    short = copied.read_text()
    assert len(short) == 8
    assert f"\x1b]52;c;{base64.b64encode(short.encode()).decode()}".encode() in shell.written


def _reads_in_the_pager(shell: Terminal) -> None:
    shell.type("2")
    shell.see("recording")
    shell.type("\r")
    shell.see("PAGER OF")
    shell.type("\x03")
    shell.see("STILL HERE")
    shell.type("\n\n\n")
    shell.see("Sessions", "how high is the water")


def _keeps_up_with_sizes(shell: Terminal) -> None:
    for number in range(40):
        shell.resize(20 + number * 37 % 200, 5 + number * 13 % 60)
    shell.resize(80, 24)
    shell.type("3")
    shell.see("following")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_leave_the_terminal_as_it_was(tmp_path: Path, number: signal.Signals) -> None:
    _home(tmp_path, "how high is the water")
    with terminal(tmp_path) as shell:
        shell.see("how high is the water")
        os.kill(shell.process.pid, number)
        assert shell.end() == 128 + number
        shell.assert_restored()


@pytest.mark.parametrize(("key", "variable"), [("\r", "PAGER"), ("E", "EDITOR")])
def test_a_signal_ends_the_pager_or_editor_too(tmp_path: Path, key: str, variable: str) -> None:
    running = _home(tmp_path, "how high is the water")
    tool = _script(tmp_path / "tool", 'trap "echo TOOL ENDS; exit" TERM\necho TOOL OF "$1"\nread line')
    with terminal(tmp_path, **{variable: str(tool)}) as shell:
        shell.see("how high is the water", "watching")
        append(running.log(SESSION), said(SESSION, "::capture ~/tide.md"))
        shell.until((tmp_path / "tide.md").exists)
        shell.type("2")
        shell.see("● recording")
        shell.type(key)
        shell.see("TOOL OF")
        os.kill(shell.process.pid, signal.SIGTERM)
        assert shell.end() == 128 + signal.SIGTERM
        assert "TOOL ENDS" in shell.words
        shell.assert_restored()


def test_settings_that_cannot_be_used_are_told_in_the_shell(tmp_path: Path) -> None:
    running = _home(tmp_path)
    running.home.config.write_text('theme = "kato-light"\n[watch]\nmode = "sometimes"\n')
    with terminal(tmp_path) as shell:
        assert shell.end() == 1
        shell.assert_restored()
        assert "config.toml:3: watch.mode: has to be 'auto', 'events' or 'polling'" in shell.words


@pytest.mark.parametrize("text", ["bell = 3", "theme = ''", "keymap = { stop = 1 }", "= 3"])
def test_settings_of_the_screen_are_looked_at_before_it_opens(tmp_path: Path, text: str) -> None:
    running = _home(tmp_path)
    running.home.config.write_text(text)
    with terminal(tmp_path) as shell:
        assert shell.end() == 1
        assert "config.toml" in shell.words and b"\x1b[?1049h" not in shell.written


def test_ctrl_c_twice_leaves_and_nothing_of_a_log_acts_on_the_terminal(tmp_path: Path) -> None:
    _home(tmp_path, "water \x1b]0;owned\x07 \x9b31m [@click=app.quit]x[/] [/x]")
    with terminal(tmp_path) as shell:
        shell.see("water", "[@click=app.quit]x[/] [/x]")
        shell.type("\r")
        shell.see("Events")
        shell.type("\x03")
        shell.see("ctrl+c again leaves")
        shell.type("\x03")
        assert shell.end() == 0
        shell.assert_restored()
        assert b"\x1b]0;owned" not in shell.written and b"\xc2\x9b" not in shell.written


def test_a_crash_leaves_the_terminal_as_it_was_and_tells_nothing_of_conversations(tmp_path: Path) -> None:
    running = _home(tmp_path, "how high is the water")
    code = (
        "import sys; from kato_tui import app, __main__\n"
        "def fail(self, name):\n    told = 'a word of the conversation'; raise ZeroDivisionError(told)\n"
        "app.Dashboard.do = fail; sys.argv = ['kato-tui']; sys.exit(__main__.main())"
    )
    with terminal(tmp_path, program=("-c", code)) as shell:
        shell.see("how high is the water")
        shell.type("s")
        assert shell.end() == 1
        shell.assert_restored()
        assert "ZeroDivisionError" in shell.words and "a word of the conversation" not in shell.words
        assert "dashboard.failed" in running.home.operational_log.read_text()


def test_quitting_leaves_an_engine_running_that_was_there_before(tmp_path: Path) -> None:
    with engine(tmp_path) as (running, link):
        append(running.log(SESSION), said(SESSION, "how high is the water"))
        with terminal(tmp_path) as shell:
            shell.see("attached to", "how high is the water")
            shell.type("q")
            assert shell.end() == 0
        assert running.process is not None and running.process.poll() is None
        assert link.status()["engine"]["pid"] == running.process.pid


@pytest.mark.parametrize("arguments", [(), ("--demo",)])
def test_without_a_terminal_the_way_to_go_is_told(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    environ = _home(tmp_path).environ
    command = [sys.executable, "-m", "kato_tui", *arguments]
    done = subprocess.run(command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.returncode == 2 and b"--no-ui" in done.stderr and not done.stdout


def test_a_terminal_that_cannot_show_it_is_told_so(tmp_path: Path) -> None:
    with terminal(tmp_path, TERM="dumb") as shell:
        assert shell.end() == 2
        assert "--no-ui" in shell.words and b"\x1b" not in shell.written


def test_an_engine_that_could_not_start_is_seen_from_outside_as_well(tmp_path: Path) -> None:
    running = _home(tmp_path)
    (running.home.root / "sessions").write_text("in the way")
    with terminal(tmp_path) as shell:
        shell.see("no engine", "could not start")
        shell.type("q")
        assert shell.end() == 1
        shell.assert_restored()
