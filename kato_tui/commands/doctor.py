"""`doctor`: looks at the machine and says what may go wrong, with the next step. Changes nothing of its own accord."""

from __future__ import annotations

import os
import shutil
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from kato_tui.commands.backend import backend, home
from kato_tui.commands.configure import check
from kato_tui.commands.talk import put, put_json
from kato_tui.core import retention
from kato_tui.core.errors import ConfigError, KatoError, in_words
from kato_tui.core.paths import Home
from kato_tui.exit_codes import DONE, FAILED
from kato_tui.view.safe import safe
from kato_tui.view.words import counted, moment

if TYPE_CHECKING:
    import argparse

Level = Literal["ok", "warning", "problem"]
Json = dict[str, Any]

_MARKS: Final[dict[Level, str]] = {"ok": "✓", "warning": "!", "problem": "✗"}
_LITTLE_SPACE: Final = 1 << 30
_NO_SPACE: Final = 100 << 20
_FEW_WATCHES: Final = 8192
_LISTED: Final = 5
_AHEAD: Final = timedelta(minutes=5)
#: This program did not exist before: a clock that says so is wrong.
_BEFORE_US: Final = datetime(2025, 6, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    check: str
    level: Level
    text: str

    def as_json(self) -> Json:
        return {"check": self.check, "level": self.level, "text": self.text}


@dataclass(frozen=True, slots=True)
class Looked:
    """What the checks look at; gathered once."""

    home: Home
    status: Json
    now: datetime
    inotify: Path = Path("/proc/sys/fs/inotify")

    @property
    def sessions(self) -> list[Json]:
        found: list[Json] = self.status["sessions"]
        return found

    @property
    def roots(self) -> list[Json]:
        found: list[Json] = self.status["engine"]["roots"]
        return found


def run_doctor(arguments: argparse.Namespace) -> int:
    place = home()
    # The index is looked at before anything starts an engine, which would mend it; so are the settings, which
    # would stop one.
    findings = [*look_at_config(place), *look_at_index(place)]
    try:
        with backend() as engine:
            looked = Looked(place, engine.status(), datetime.now(UTC))
    except ConfigError:
        findings.append(Finding("engine", "warning", "not looked at: it does not start with these settings"))
    except (KatoError, OSError) as error:
        findings.append(Finding("engine", "problem", in_words(error)))
    else:
        for one in CHECKS:
            findings += one(looked)
    if arguments.json:
        put_json([finding.as_json() for finding in findings])
    else:
        for finding in findings:
            put(f"{_MARKS[finding.level]} {finding.check}: {safe(finding.text)}")
    return FAILED if any(finding.level == "problem" for finding in findings) else DONE


def look_at_config(place: Home) -> Iterator[Finding]:
    try:
        check(place)
    except ConfigError as error:
        yield from (Finding("config", "problem", line) for line in str(error).splitlines())
    else:
        text = f"{place.config} is valid" if place.config.exists() else "no config file, the defaults hold"
        yield Finding("config", "ok", text)


def look_at_index(place: Home) -> Iterator[Finding]:
    import orjson

    try:
        stored = len(place.stored_metas())
    except OSError as error:
        yield Finding("index", "problem", in_words(error))
        return
    try:
        known = len(orjson.loads(place.index.read_bytes())["sessions"])
    except FileNotFoundError:
        if stored:
            yield Finding(
                "index",
                "warning",
                f"{place.index} is missing: rebuilt from {counted(stored, 'session')} at the next start",
            )
        else:
            yield Finding("index", "ok", "nothing stored yet")
        return
    except (OSError, ValueError, TypeError, KeyError):
        yield Finding(
            "index", "warning", f"{place.index} is damaged: rebuilt from {counted(stored, 'session')} at the next start"
        )
        return
    if known != stored:
        yield Finding("index", "warning", f"knows {known} of {stored} stored sessions: mended at the next start")
    else:
        yield Finding("index", "ok", f"{counted(stored, 'session')} stored")


def _roots(looked: Looked) -> Iterator[Finding]:
    for root in looked.roots:
        twins = ", twins kept" if root["keepTwins"] else ""
        closed = _closed(Path(root["path"])) if root["exists"] else []
        if closed:
            more = f" and {len(closed) - 1} more below it" if len(closed) > 1 else ""
            text = f"{root['provider']}: {closed[0]}{more} cannot be read, so its sessions are not seen"
            yield Finding("root", "problem", f"{text}. Give yourself permission: chmod -R u+rX {_shut(root['path'])}")
        elif root["exists"]:
            yield Finding("root", "ok", f"{root['provider']}: {root['path']}{twins}")
        else:
            yield Finding("root", "ok", f"{root['provider']}: {root['path']} is not there (that assistant is not used)")
    if not any(root["exists"] for root in looked.roots):
        yield Finding(
            "root",
            "warning",
            "no assistant's folder was found: set CLAUDE_CONFIG_DIR, CODEX_HOME or GEMINI_CLI_HOME, or name it in "
            "[[roots]]. kato-tui --demo shows made-up sessions",
        )


def _closed(root: Path) -> list[str]:
    """The folders from `root` down that cannot be looked into."""
    barred: list[str] = []
    for _ in os.walk(root, onerror=lambda error: barred.append(str(error.filename))):
        pass
    return barred


def _shut(root: str) -> str:
    """What has to be opened: the root itself, or the first folder on the way to it that lets nobody through."""
    way = reversed(Path(root).parents)
    return str(next((one for one in way if not os.access(one, os.X_OK)), root))


def _logs(looked: Looked) -> Iterator[Finding]:
    """Logs that lie in an open folder and are closed themselves."""
    sources = [one["source"] for one in looked.sessions if one.get("source") and not one.get("sourceGone")]
    closed = [path for path in sources if not os.access(path, os.R_OK) and os.access(path, os.F_OK)]
    if closed:
        more = f" and {counted(len(closed) - 1, 'more log')}" if len(closed) > 1 else ""
        text = f"{closed[0]}{more} cannot be read. Give yourself permission: chmod u+r"
        yield Finding("logs", "problem", f"{text} {closed[0]}")


def _formats(looked: Looked) -> Iterator[Finding]:
    """Which versions and formats are in use: what a bug report needs first."""
    for provider in sorted({one["provider"] for one in looked.sessions}):
        mine = [one for one in looked.sessions if one["provider"] == provider]
        versions = Counter(str(one.get("cliVersion") or "unknown version") for one in mine)
        formats = Counter(retention.generation(provider, Path(one["source"])) for one in mine if one.get("source"))
        yield Finding(
            "sessions",
            "ok",
            f"{provider}: {counted(len(mine), 'session')}; formats: {_most(formats)}; versions: {_most(versions)}",
        )


def _most(counter: Counter[str]) -> str:
    listed = [f"{name} ({count})" for name, count in counter.most_common(_LISTED)]
    more = len(counter) - _LISTED
    return ", ".join(listed) + (f" and {more} more" if more > 0 else "") or "none"


def _unknown(looked: Looked) -> Iterator[Finding]:
    for provider in sorted({one["provider"] for one in looked.sessions}):
        counts: Counter[str] = Counter()
        for one in looked.sessions:
            if one["provider"] == provider:
                counts.update(one.get("unknownTypes") or {})
        if counts:
            text = f"{provider}: {_most(counts)}. They are kept raw, nothing is lost; a newer kato-tui may know them"
            yield Finding("unknown record types", "warning", text)


def _unusable(looked: Looked) -> Iterator[Finding]:
    for one in looked.sessions:
        if one.get("problem"):
            yield Finding("state", "problem", f"{one['sessionShortId']}: {one['problem']}")


def _permissions(looked: Looked) -> Iterator[Finding]:
    """Conversations are private: nobody else may read what is kept of them."""
    place = looked.home
    open_to_others = [path for path in _state_files(place) if _mode(path) & 0o077]
    if open_to_others:
        named = ", ".join(str(path) for path in open_to_others[:_LISTED])
        more = f" and {len(open_to_others) - _LISTED} more" if len(open_to_others) > _LISTED else ""
        text = f"others can read {named}{more}. chmod -R go= {place.root} closes them"
        yield Finding("permissions", "problem", text)
    elif not os.access(place.root, os.W_OK):
        yield Finding("permissions", "problem", f"{place.root} cannot be written")
    else:
        yield Finding("permissions", "ok", f"{place.root} is private")


def _state_files(place: Home) -> Iterator[Path]:
    # Recordings and settings are the user's own files: how open they are is the user's choice.
    for folder in place.folders():
        if folder.exists():
            yield folder
            if folder != place.recordings:
                yield from (path for path in sorted(folder.iterdir()) if path.is_file() and path != place.config)


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.lstat().st_mode)
    except OSError:
        return 0


def _watches(looked: Looked) -> Iterator[Finding]:
    limit = _number(looked.inotify / "max_user_watches")
    instances = _number(looked.inotify / "max_user_instances")
    if limit is None:
        return
    needed = sum(_folders(Path(root["path"])) for root in looked.roots if root["exists"])
    facts = f"{limit} watches and {instances} instances allowed, about {counted(needed, 'folder')} to watch"
    if limit < max(2 * needed, _FEW_WATCHES):
        text = f"{facts}. Raise it: sudo sysctl fs.inotify.max_user_watches=524288, or set watch.mode to polling"
        yield Finding("inotify", "warning", text)
    else:
        yield Finding("inotify", "ok", facts)


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _folders(root: Path) -> int:
    return sum(1 for _ in os.walk(root))


def _clock(looked: Looked) -> Iterator[Finding]:
    ahead = [
        one["sessionShortId"]
        for one in looked.sessions
        if (last := moment(one.get("lastActivity"))) is not None and last > looked.now + _AHEAD
    ]
    if looked.now < _BEFORE_US:
        yield Finding("clock", "problem", f"it says {looked.now:%Y-%m-%d %H:%M}: set it, or recordings get wrong times")
    elif ahead:
        named = ", ".join(ahead[:_LISTED])
        text = f"activity in the future in {counted(len(ahead), 'session')} ({named}): one of the clocks is off"
        yield Finding("clock", "warning", text)
    else:
        yield Finding("clock", "ok", f"{looked.now:%Y-%m-%d %H:%M} UTC")


def _about_to_go(looked: Looked) -> Iterator[Finding]:
    """Logs that their assistant deletes within days and that no complete twin keeps."""
    rules = retention.rules(looked.roots)
    for provider in sorted(rules):
        rule = rules[provider]
        going = [one for one in looked.sessions if one["provider"] == provider and _goes(one, rule, looked.now)]
        if not going:
            yield Finding("retention", "ok", f"{provider} deletes logs after {rule.days} days ({rule.why})")
            continue
        ids = ", ".join(one["sessionShortId"] for one in going[:_LISTED]) + (", …" if len(going) > _LISTED else "")
        text = (
            f"{provider} deletes logs after {rule.days} days ({rule.why}): {len(going)} without a complete twin go "
            f"within {retention.SOON.days} days ({ids}). kato-tui export SESSION FILE "
            "keeps one, globalAutoGenerateSnapshots = true keeps all"
        )
        yield Finding("retention", "warning", text)


def _goes(session: Json, rule: retention.Rule, now: datetime) -> bool:
    kept = session["twinEvents"] > 0 and not session["twinLags"]
    if kept or session.get("sourceGone") or not session.get("source"):
        return False
    changed = retention.changed(Path(session["source"]))
    return changed is not None and now - changed > timedelta(days=rule.days) - retention.SOON


def _space(looked: Looked) -> Iterator[Finding]:
    from kato_tui.view.words import size

    free = shutil.disk_usage(looked.home.root).free
    level: Level = "problem" if free < _NO_SPACE else "warning" if free < _LITTLE_SPACE else "ok"
    yield Finding("disk", level, f"{size(free)} free for {looked.home.root}")


CHECKS: Final[tuple[Callable[[Looked], Iterator[Finding]], ...]] = (
    _roots,
    _logs,
    _formats,
    _unknown,
    _unusable,
    _about_to_go,
    _permissions,
    _watches,
    _clock,
    _space,
)
