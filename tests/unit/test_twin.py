"""The twin file: torn tails, holes, incremental reads, and lines that a terminal may show."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kato_tui.core.errors import NeedsRebuild
from kato_tui.core.providers.base import Draft
from kato_tui.core.store.fs import Fs
from kato_tui.core.store.twin import LineEncoder, Twin, decode_line

SESSION = {"provider": "toy", "providerSessionId": "s", "sessionId": "00000000-0000-5000-8000-000000000000"}


def _twin(path: Path, next_seq: int = 1, length: int = 0) -> Twin:
    return Twin(Fs(), path, LineEncoder(SESSION, "byte-offset"), next_seq, length)


def _draft(text: str) -> Draft:
    return Draft("user.message", {"text": text}, "say")


def _filled(path: Path, count: int = 5, size: int = 10) -> Twin:
    twin = _twin(path)
    twin.append([_draft(f"{number}" + "x" * size) for number in range(1, count + 1)])
    return twin


def test_a_twin_is_private_to_its_user(tmp_path: Path) -> None:
    assert _filled(tmp_path / "t").path.stat().st_mode & 0o777 == 0o600


def test_every_cut_of_the_tail_is_repaired_and_kept_aside(tmp_path: Path) -> None:
    whole = _filled(tmp_path / "whole", 3).path.read_bytes()
    ends = [index + 1 for index, byte in enumerate(whole) if byte == 10]
    for length in range(len(whole) + 1):
        path = tmp_path / f"cut-{length}"
        path.write_bytes(whole[:length])
        twin = _twin(path)
        recovered = twin.recover()
        good = max([0, *(end for end in ends if end <= length)])
        assert recovered == sum(end <= length for end in ends)
        assert (twin.length, path.stat().st_size, twin.next_seq) == (good, good, recovered + 1)
        torn = list(tmp_path.glob(f"cut-{length}.torn-*"))
        assert [file.read_bytes() for file in torn] == ([whole[good:length]] if good < length else [])


def test_a_hole_of_zeros_inside_a_terminated_line_is_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "t"
    data = bytearray(_filled(path, 3).path.read_bytes())
    second = data.index(b'"text":"2')
    data[second : second + 6] = bytes(6)
    path.write_bytes(data)
    twin = _twin(path)
    assert twin.recover() == 1


def test_a_changed_byte_is_found_by_its_crc() -> None:
    line = LineEncoder(SESSION, "byte-offset").encode([_draft("hello")], 1, None)
    assert decode_line(line) is not None
    for index in range(len(line) - 1):
        damaged = bytearray(line)
        damaged[index] ^= 1
        assert decode_line(bytes(damaged)) is None, index


def test_damage_before_the_confirmed_length_stops_the_session(tmp_path: Path) -> None:
    twin = _filled(tmp_path / "t")
    data = bytearray(twin.path.read_bytes())
    data[data.index(b'"text":"3') + 8] ^= 1
    twin.path.write_bytes(data)
    with pytest.raises(NeedsRebuild, match="damaged at event 3"):
        list(twin.read())


def test_a_twin_shorter_than_its_metadata_says_is_refused_and_left_alone(tmp_path: Path) -> None:
    twin = _filled(tmp_path / "t")
    twin.path.write_bytes(b"")
    with pytest.raises(NeedsRebuild, match="kato-tui rebuild"):
        _twin(twin.path, twin.next_seq, twin.length).recover()


def test_a_twin_of_another_schema_version_is_refused(tmp_path: Path) -> None:
    import zlib

    path = tmp_path / "t"
    body = b'{"schemaVersion":2,"session":%b,"seq":1}' % orjson.dumps(SESSION)
    path.write_bytes(b'%b,"crc":%d}\n' % (body[:-1], zlib.crc32(body)))
    with pytest.raises(NeedsRebuild, match="schema version 2"):
        _twin(path).recover()


@given(sizes=st.lists(st.integers(0, 3000), min_size=1, max_size=40), data=st.data())
def test_reading_starts_at_any_seq_without_an_index(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], data: st.DataObject
) -> None:
    twin = _twin(tmp_path_factory.mktemp("read") / "t")
    twin.append([_draft('","seq":7,' + "x" * size) for size in sizes])
    start = data.draw(st.integers(1, len(sizes) + 1))
    assert [event["seq"] for event in twin.read(start)] == list(range(start, len(sizes) + 1))


def test_opening_costs_only_what_the_metadata_does_not_know(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    twin = _filled(tmp_path / "t", 200, 1000)
    reopened = _twin(twin.path, twin.next_seq, twin.length)

    def refuse(*_: object) -> None:
        raise AssertionError("an up-to-date twin was read")

    monkeypatch.setattr(Twin, "_raw_lines", refuse)
    assert reopened.recover() == 0


def test_no_line_can_act_on_a_terminal() -> None:
    hostile = "\x1b]0;x\x07 \x9b31m \x7f \u2028 \u202e \u2066 \x00 \x85 ok ü"
    line = LineEncoder(SESSION, "byte-offset").encode([_draft(hostile)], 1, None)
    text = line.decode()
    assert not any(ord(char) < 32 or 0x7F <= ord(char) <= 0x9F for char in text[:-1])
    assert not any(char in text for char in "\u2028\u202e\u2066")
    event = decode_line(line)
    assert event is not None and event["payload"]["text"] == hostile


def test_a_failed_append_leaves_the_twin_as_it_was(tmp_path: Path) -> None:
    twin = _filled(tmp_path / "t")
    before = twin.path.read_bytes()

    class Full(Fs):
        def sync(self, descriptor: int) -> None:
            raise OSError(28, "No space left on device")

    broken = Twin(Full(), twin.path, LineEncoder(SESSION, "byte-offset"), twin.next_seq, twin.length)
    with pytest.raises(OSError, match="No space"):
        broken.append([_draft("lost?")])
    assert twin.path.read_bytes() == before
    assert broken.next_seq == twin.next_seq
