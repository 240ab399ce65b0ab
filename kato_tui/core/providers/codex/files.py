"""Where Codex keeps rollouts, and what their names and first lines tell."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from kato_tui.core.providers.base import Record, SourceFile, text_of
from kato_tui.core.providers.parsing import parse

_UUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
#: `_<uuid>` is the rollout id of a file that `thread/revert` started (>= 0.148).
ROLLOUT: Final = re.compile(rf"rollout-.{{19}}-({_UUID})(?:_({_UUID}))?\.jsonl(\.zst)?")
#: The TypeScript CLI (2025-04 to 08) wrote one JSON document per save.
DOCUMENT: Final = re.compile(rf"rollout-\d{{4}}-\d\d-\d\d-({_UUID})\.json")
_LINE_TYPE: Final = re.compile(rb'"type"\s*:\s*"(?:session_meta|response_item|event_msg|turn_context)"')
_BARE_META: Final = re.compile(rb'\s*\{\s*"id"\s*:\s*"[^"]{1,64}"\s*,\s*"timestamp"\s*:.*"instructions"\s*:', re.DOTALL)
_TS_DOCUMENT: Final = re.compile(rb'\s*\{\s*"session"\s*:\s*\{')
_PARENT: Final = re.compile(rb'"parent_thread_id"\s*:\s*"([^"\\]{1,64})"')
_FORKED: Final = re.compile(rb'"forked_from_id"\s*:\s*"([^"\\]{1,64})"')
_SUBAGENT: Final = re.compile(rb'"source"\s*:\s*\{\s*"subagent"')
#: Keys behind which a meta line holds kilobytes of prompt text: nothing is searched from here on.
_LONG_KEYS: Final = re.compile(rb'"(?:base_)?instructions"\s*:')


def walk(root: Path) -> Iterator[Path]:
    """Rollouts below `root`, dated folders and flat ones alike; unreadable folders are passed over."""
    folders = [str(root)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif ROLLOUT.fullmatch(entry.name) or DOCUMENT.fullmatch(entry.name):
                        yield Path(entry.path)
        except OSError:
            continue


def from_name(provider: str, path: Path) -> SourceFile | None:
    """The source file that a rollout's name describes."""
    rollout = ROLLOUT.fullmatch(path.name)
    if rollout:
        return SourceFile(provider, rollout[1], path, compressed=rollout[3] is not None, generation=rollout[2] or "")
    document = DOCUMENT.fullmatch(path.name)
    return SourceFile(provider, document[1], path, layout="document") if document else None


def sniff(head: bytes) -> bool:
    start = head[:4096]
    if _TS_DOCUMENT.match(start):
        return True
    first = start.partition(b"\n")[0]
    return bool(_LINE_TYPE.search(first) or _BARE_META.match(first))


def first_meta(head: bytes) -> Record:
    """The identifying fields of the first line, also when base_instructions make it longer than the head."""
    line, newline, _ = head.partition(b"\n")
    record = parse(line) if newline or line.endswith(b"}") else None
    if isinstance(record, dict):
        payload = record.get("payload", record)
        return payload if isinstance(payload, dict) else {}
    long_key = _LONG_KEYS.search(line)
    line = line[: long_key.start()] if long_key else line[:8192]
    found: Record = {}
    for key, pattern in (("parent_thread_id", _PARENT), ("forked_from_id", _FORKED)):
        match = pattern.search(line)
        if match:
            found[key] = match[1].decode("utf-8", "replace")
    if _SUBAGENT.search(line):
        found["source"] = {"subagent": {}}
    return found


def is_subagent(meta: Record) -> bool:
    """Sub-agents (spawned, review, compaction, guardian) have `source: {"subagent": …}`."""
    source = meta.get("source")
    return isinstance(source, dict) and "subagent" in source


def parent_of(meta: Record) -> str | None:
    """The thread that spawned this one, or that it was forked from."""
    spawn = _dig(meta, "source", "subagent", "thread_spawn", "parent_thread_id")
    for value in (meta.get("parent_thread_id"), spawn, meta.get("forked_from_id")):
        if text_of(value):
            return text_of(value)
    return None


def _dig(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
