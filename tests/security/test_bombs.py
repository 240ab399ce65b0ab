"""Logs and files that unpack or nest without end: little memory, no crash, and the session beside goes on."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
import zstandard

from kato_tui.core.ingest import reader
from kato_tui.core.model.events import TwinEvent
from tests.machine import CODEX, GEMINI, Machine
from tests.unit import codex_log, gemini_log

MEMORY = 96 << 20
DEPTH = 200_000


def _grown(before: int) -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before


def _bomb(head: bytes, piece: bytes, size: int, end: bytes) -> bytes:
    packer = zstandard.ZstdCompressor().compressobj()
    many = piece * ((1 << 20) // len(piece))
    parts = [head, *[many] * (size // len(many)), end]
    return b"".join(packer.compress(part) for part in parts) + packer.flush()


@pytest.mark.parametrize(
    ("piece", "end"),
    [(b"a", b'"}}\n'), (b'\\u0041"},"x":{"y":"', b'"}}\n'), (b"a" * 9000 + b"\n", b"\n")],
    ids=["one line without end", "a line of keys", "lines without end"],
)
def test_a_compressed_log_that_unpacks_a_thousandfold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: bytes, end: bytes
) -> None:
    monkeypatch.setattr(reader, "MAX_LINE", 2 << 20)
    monkeypatch.setattr(reader, "CHUNK", 1 << 20)
    machine = Machine(tmp_path, CODEX)
    head = codex_log.lines(codex_log.meta(), *codex_log.prompt("before"))
    end += codex_log.lines(*codex_log.prompt("after"))
    data = _bomb(
        head + b'{"type":"x","payload":{"text":"', piece, 32 << 20, end + codex_log.lines(*codex_log.prompt("after"))
    )
    machine.path.with_name(machine.path.name + ".zst").write_bytes(data)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    summary = machine.run(twins=False)
    assert summary.problems == {} and summary.bytes_read > 30 << 20
    assert _grown(before) < MEMORY


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'], ids=repr)
def test_json_nested_without_end_in_a_log(tmp_path: Path, opening: bytes) -> None:
    machine = Machine(tmp_path, CODEX)
    closing = opening.replace(b'"a":', b"1")[::-1].translate(bytes.maketrans(b"[{", b"]}"))
    deep = opening * DEPTH + closing * DEPTH
    machine.write(
        codex_log.lines(codex_log.meta(), *codex_log.prompt("before"))
        + deep
        + b'\n{"type":"response_item","payload":{"type":"function_call","arguments":'
        + deep
        + b"}}\n"
        + codex_log.lines(codex_log.call("c", arguments={"x": "[" * DEPTH}), *codex_log.prompt("after"))
    )
    assert machine.run().problems == {}
    events = [TwinEvent.model_validate(event) for event in machine.events()]
    assert [one.payload["text"] for one in events if one.kind == "user.message"] == ["before", "after"]


def test_a_document_nested_without_end_is_no_document_yet(tmp_path: Path) -> None:
    machine = Machine(tmp_path, GEMINI)
    document = machine.path.with_suffix(".json")
    document.write_bytes(b'{"sessionId":"%b","messages":' % gemini_log.SESSION.encode() + b"[" * DEPTH)
    summary = machine.run()
    assert all("not a complete JSON document" in problem for problem in summary.problems.values())
    assert machine.twin() == b""


@pytest.mark.parametrize("name", ["meta", "twin", "index"])
def test_state_files_nested_without_end_stop_nothing(tmp_path: Path, name: str) -> None:
    machine = Machine(tmp_path, CODEX)
    machine.write(codex_log.lines(*codex_log.conversation("hi", "hello")))
    other = Machine(tmp_path, GEMINI)
    other.write(gemini_log.lines(*gemini_log.conversation("hi", "hello")))
    machine.run()
    path = {"meta": machine.home.meta(CODEX.key), "twin": machine.home.twin(CODEX.key), "index": machine.home.index}
    with path[name].open("ab") as file:
        file.write(b"[" * DEPTH + b"\n")
    with other.path.open("ab") as log:
        log.write(gemini_log.lines(gemini_log.user("more", "u7")))
    summary = machine.run()
    assert set(summary.problems) <= {CODEX.key, machine.home.meta(CODEX.key).name}
    assert other.events()[-1]["payload"]["text"] == "more"
