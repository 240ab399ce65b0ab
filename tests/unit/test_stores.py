"""Metadata, index, lock and atomic writes."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import orjson
import pytest

from kato_tui.core import identity
from kato_tui.core.errors import HomeBusy, NeedsRebuild
from kato_tui.core.model.session import IngestCursor, Period, Recording, SessionMetadata
from kato_tui.core.paths import Home
from kato_tui.core.store.atomic import write_atomic
from kato_tui.core.store.fs import Fs
from kato_tui.core.store.index import IndexStore
from kato_tui.core.store.lock import EngineLock
from kato_tui.core.store.sessions import SessionStore, encode_metadata
from tests.conftest import ManualClock
from tests.crashing import Crash, CrashingFs, half

KEY = "claude:abc"


def _titled(title: str) -> object:
    def change(current: SessionMetadata) -> SessionMetadata:
        facts = type(current.facts)(title=title, title_source="custom")
        return current.model_copy(update={"facts": facts})

    return change


def _rename(store: SessionStore, title: str, key: str = KEY) -> SessionMetadata:
    return store.update(key, _titled(title))  # type: ignore[arg-type]


def test_metadata_is_camel_case_private_and_complete(home: Home, clock: ManualClock) -> None:
    store = SessionStore(home, clock)
    recording = Recording(
        recording_id="r", destination="/d.md", desired_state="on", write_cursor=3, periods=[Period(started_cursor=1)]
    )
    cursor = IngestCursor(kind="byte-offset", value=7, byte_offset=7, line_hint=2)
    store.update(
        KEY,
        lambda current: current.model_copy(
            update={"recordings": [recording], "ingest_cursor": cursor, "parser_state": {"open": None}}
        ),
    )
    value = orjson.loads(home.meta(KEY).read_bytes())
    assert home.meta(KEY).stat().st_mode & 0o777 == 0o600
    assert value["schemaVersion"] == 1
    assert (value["sessionKey"], value["providerSessionId"]) == (KEY, "abc")
    assert (
        value["ingestCursor"] | {"kind": "byte-offset", "value": 7, "byteOffset": 7, "lineHint": 2}
        == value["ingestCursor"]
    )
    assert value["recordings"][0]["periods"] == [{"startedCursor": 1}]
    assert value["parserState"] == {"open": None}
    assert SessionStore(home, clock).load(KEY) == store.load(KEY)


def test_a_session_id_survives_the_loss_of_all_state(home: Home, clock: ManualClock) -> None:
    first = _rename(SessionStore(home, clock), "a")
    home.meta(KEY).unlink()
    assert _rename(SessionStore(home, clock), "b").session_id == first.session_id


def test_an_update_merges_into_the_freshest_entry(home: Home, clock: ManualClock) -> None:
    ours, theirs = SessionStore(home, clock), SessionStore(home, clock)
    _rename(ours, "first")
    theirs.update(KEY, lambda current: current.model_copy(update={"command_cursor": 9}))
    merged = _rename(ours, "second")
    assert (merged.command_cursor, merged.facts.title) == (9, "second")


def test_updates_of_one_session_are_serialised(home: Home, clock: ManualClock) -> None:
    store = SessionStore(home, clock)

    def count() -> None:
        for _ in range(20):
            store.update(KEY, lambda now: now.model_copy(update={"command_cursor": now.command_cursor + 1}))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = store.load(KEY)
    assert found is not None and found.command_cursor == 80


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda value: {**value, "schemaVersion": 2}, "schema version 2"),
        (lambda value: {key: item for key, item in value.items() if key != "schemaVersion"}, "schema version None"),
        (lambda value: {**value, "surprise": 1}, "surprise"),
        (lambda value: {**value, "nextTwinSeq": "1"}, "nextTwinSeq"),
        (lambda value: {**value, "sessionKey": "claude:other"}, "belongs to"),
        (lambda value: [value], "schema version None"),
    ],
)
def test_metadata_that_is_not_understood_is_refused_and_left_alone(
    home: Home, clock: ManualClock, damage: object, reason: str
) -> None:
    store = SessionStore(home, clock)
    written = encode_metadata(_rename(store, "mine"))
    damaged = orjson.dumps(damage(orjson.loads(written)))  # type: ignore[operator]
    home.meta(KEY).write_bytes(damaged)
    with pytest.raises(NeedsRebuild, match=reason) as caught:
        _rename(store, "overwrite?")
    assert f"`kato-tui rebuild {identity.short_id(identity.session_id(KEY))}`" in str(caught.value)
    assert home.meta(KEY).read_bytes() == damaged
    _rename(store, "others go on", "claude:xyz")


def test_torn_json_is_refused(home: Home, clock: ManualClock) -> None:
    home.meta(KEY).write_bytes(b'{"schemaVersion": 1, "sess')
    with pytest.raises(NeedsRebuild, match="not valid JSON"):
        SessionStore(home, clock).load(KEY)


def test_a_crash_during_a_write_leaves_the_old_or_the_new_file(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    counting = CrashingFs()
    write_atomic(counting, path, b"old")
    for at in range(1, counting.count + 1):
        write_atomic(Fs(), path, b"old")
        with pytest.raises(Crash):
            write_atomic(CrashingFs(at, half), path, b"new and longer")
        assert path.read_bytes() in (b"old", b"new and longer")


def test_the_index_is_rebuilt_when_it_is_missing_or_damaged(home: Home, clock: ManualClock) -> None:
    _rename(SessionStore(home, clock), "kept")
    for content in (None, b"", b"{", b"[]", b'{"schemaVersion": 99, "sessions": {}}', b"\xff\x00"):
        home.index.unlink(missing_ok=True)
        if content is not None:
            home.index.write_bytes(content)
        index = IndexStore(home, clock)
        assert index.load() is False
        assert index.entries[KEY].facts.title == "kept"


def test_one_refused_session_does_not_keep_the_others_out_of_the_index(home: Home, clock: ManualClock) -> None:
    _rename(SessionStore(home, clock), "fine")
    home.meta("claude:bad").write_bytes(b'{"schemaVersion": 7}')
    index = IndexStore(home, clock)
    index.load()
    assert list(index.entries) == [KEY]
    assert "schema version 7" in index.refused[home.meta("claude:bad").name]


def test_the_index_is_not_written_with_every_change(home: Home, clock: ManualClock) -> None:
    store, index = SessionStore(home, clock), IndexStore(home, clock)
    index.put(_rename(store, "one"))
    index.save()
    index.put(_rename(store, "two"))
    index.save()
    assert b'"one"' in home.index.read_bytes()
    clock.advance(30)
    index.save()
    assert b'"two"' in home.index.read_bytes()


def test_metadata_newer_than_the_index_is_read_again(home: Home, clock: ManualClock) -> None:
    """The index is written late: after a crash it may not know what the metadata says."""
    store, index = SessionStore(home, clock), IndexStore(home, clock)
    index.put(_rename(store, "one"))
    index.save(force=True)
    _rename(store, "two")
    reread = IndexStore(home, clock)
    assert reread.load() and reread.entries[KEY].facts.title == "two"
    home.meta(KEY).unlink()
    assert reread.load() and not reread.entries


def test_a_second_process_is_told_who_holds_the_home(home: Home) -> None:
    held = (
        "import sys; from kato_tui.core.store.lock import EngineLock; from pathlib import Path; "
        "EngineLock(Path(sys.argv[1])).acquire(); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", held, str(home.lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(HomeBusy, match=str(process.pid)):
            EngineLock(home.lock).acquire()
        process.kill()
    with EngineLock(home.lock):
        pass
