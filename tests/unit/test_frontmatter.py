"""The head of a recording: safe for any title, and joined without touching what the user wrote there."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kato_tui.core.record.frontmatter import RecordingCard, header, merge
from tests.conftest import LONG

ID = "7d14af8e-0000-4000-8000-000000000001"


def _loaded(data: bytes) -> Any:
    """The head as a YAML parser reads it."""
    lines = data.decode("utf-8").removeprefix("\ufeff").splitlines()
    end = next(number for number, line in enumerate(lines[1:], 1) if line in ("---", "..."))
    return yaml.safe_load("\n".join([*lines[1:end], ""]))


def test_a_new_file_says_what_is_known_and_nothing_else() -> None:
    card = RecordingCard(
        "s-1", ID, "codex", title='Fix "it": now', created="2026-02-25T11:15:49.000Z", models=("gpt-5.3-codex",)
    )
    assert header(card).decode() == (
        "---\n"
        f'id: "{ID}"\n'
        'title: "Fix \\"it\\": now"\n'
        'created: "2026-02-25T11:15:49.000Z"\n'
        'sessionId: "s-1"\n'
        f'recordingIds: ["{ID}"]\n'
        'participants: ["User", "gpt-5.3-codex"]\n'
        'tags: ["provider.codex"]\n'
        "---\n"
    )
    bare = _loaded(header(RecordingCard("s-1", ID, "gemini")))
    assert "title" not in bare and "created" not in bare and bare["participants"] == ["User", "gemini"]


@given(st.text(), st.text(max_size=20))
def test_no_title_or_model_breaks_out_of_the_head(title: str, model: str) -> None:
    data = header(RecordingCard("s", ID, "claude", title=title, models=(model,)))
    loaded = _loaded(data)
    assert set(loaded) <= {"id", "title", "sessionId", "recordingIds", "participants", "tags"}
    assert data.count(b"\n---\n") == 1 and loaded["recordingIds"] == [ID]


KINDS: dict[str, tuple[str, list[str]]] = {
    "flow list": ("a: 1\nrecordingIds: [one, two]\nb: 2\n", ["one", "two"]),
    "flow list with a comment": ("recordingIds: [ 'one' ]  # mine\n", ["one"]),
    "empty flow list": ("recordingIds: []\n", []),
    "block list, indented": ("recordingIds:\n  - one\n  - two # second\nb: 2\n", ["one", "two"]),
    "block list at the margin": ("recordingIds:\n- one\n- two\nb: 2\n", ["one", "two"]),
    "block list with comments between": ("recordingIds:\n  # first\n  - one\n\n  # end\nb: 2\n", ["one"]),
    "quoted key": ("'recordingIds': ['one']\n", ["one"]),
    "double-quoted key": ('"recordingIds":\n  - "one"\n', ["one"]),
    "no value": ("recordingIds:\nb: 2\n", []),
    "null": ("recordingIds: ~ # none yet\n", []),
    "single scalar": ("recordingIds: one # just this\n", ["one"]),
    "absent": ("title: x\ntags:\n  - a\n", []),
    "nested key of the same name": ("other:\n  recordingIds: [no]\nb: 2\n", []),
    "a text that looks like the key": ("note: |\n  recordingIds: [no]\n  --- not the end\nb: 2\n", []),
    "folded text at the end": ("b: 2\nnote: >-\n  some\n  words\n", []),
    "anchors and tags elsewhere": ("base: &x {a: 1}\ncopy: *x\nwhen: !!str 2026\n", []),
    "comments and blank lines": ("# my notes\n\ntitle: x  # y\n\n", []),
    "empty": ("", []),
    "flow list with a trailing comma": ("recordingIds: [one, ]\n", ["one"]),
    "tabs where they are allowed": ("title: 'a\tb' # c\td\nrecordingIds: [one] #\te\n", ["one"]),
    "apostrophes and brackets in plain words": ("text: don't [x\nother: it's {\nrecordingIds: [one]\n", ["one"]),
    "plain text over lines": ("text: one\n  'two [three\n  \"four\nrecordingIds: [one]\n", ["one"]),
    "a list of maps": ("authors:\n  - name: 'A'\n    mail: a@b.c\n  - name: B\nrecordingIds: [one]\n", ["one"]),
    "merge keys": ("base: &b {x: 1}\nother:\n  <<: *b\n", []),
    "keys with blanks": ("mein titel: x\nrecordingIds:\n      -   one\n", ["one"]),
    "unicode": ("título: «año»\nrecordingIds: [uno]\n", ["uno"]),
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["---", "..."])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_head_of_the_users_is_joined_and_otherwise_untouched(kind: str, end: str, bom: str, newline: str) -> None:
    body, before = KINDS[kind]
    data = f"{bom}---\n{body}{end}\n# My words\n".replace("\n", newline).encode()
    merged = merge(data, ID)
    assert merged is not None
    new = merged.block + data[merged.replaces :]
    assert new.endswith(f"# My words{newline}".encode())
    was, now = _loaded(data) or {}, _loaded(merged.block)
    assert now.pop("recordingIds") == [*before, ID]
    was.pop("recordingIds", None)
    assert now == was
    kept = [line for line in data.splitlines() if b"recordingIds" not in line or kind.startswith(("nested", "a text"))]
    assert [line for line in new.splitlines() if line in kept] == kept
    assert merge(new, ID) is None, "joined once is enough"


@pytest.mark.parametrize(
    "body",
    [
        "recordingIds: &ids [one]\n",
        "recordingIds: !!seq [one]\n",
        "recordingIds: [one,\n  two]\n",
        "recordingIds: {a: b}\n",
        "recordingIds: |\n  one\n",
        "recordingIds: [one]\nrecordingIds: [two]\n",
        "recordingIds:\n  - one\n  - [two]\n    more\n",
        "\trecordingIds: [one]\n",
        "- a\n- list\n",
        "{flow: map}\n",
        'title: "goes\nrecordingIds: [on]"\n',
        "? complex\n: key\n",
        "%YAML 1.2\n",
    ],
)
def test_a_head_too_odd_to_edit_is_left_alone(body: str) -> None:
    assert merge(f"---\n{body}---\n".encode(), ID) is None


@pytest.mark.parametrize("data", [b"", b"just text\n", b"--- \nno: end\n", b"----\na: 1\n---\n", b"\n---\na: 1\n---\n"])
def test_a_file_without_a_head_gets_none(data: bytes) -> None:
    assert merge(data, ID) is None


ROWS = [
    *(body for body, _ in KINDS.values()),
    *("k: v\n", "  x: y\n", "- a\n", "'q\n", '"\n', "|\n", "]\n", "recordingIds:\n", "  recordingIds: z\n", "a: [b,\n"),
    *('a: "b\n', "text: >\n", "\ta: b\n", "? a\n", "a: {b: c,\n", "}\n", "!x a: b\n", "a:b\n", "...\n", "a: 'b''c'\n"),
]


@settings(max_examples=5000 if LONG else 300)
@given(st.lists(st.sampled_from(ROWS), max_size=5))
def test_what_a_parser_can_read_is_joined_rightly_or_left_alone(rows: list[str]) -> None:
    data = f"---\n{''.join(rows)}---\n".encode()
    merged = merge(data, ID)
    try:
        was = _loaded(data)
    except yaml.YAMLError:
        return
    if merged is None:
        return
    now = _loaded(merged.block)
    was = was or {}
    before = was.pop("recordingIds", None)
    listed = before if isinstance(before, list) else [] if before is None else [before]
    assert now.pop("recordingIds") == [*listed, ID]
    assert now == was


def test_a_head_at_the_very_end_of_a_file_is_joined() -> None:
    merged = merge(b"---\na: 1\n---", ID)
    assert merged is not None and merged.block == f'---\na: 1\nrecordingIds: ["{ID}"]\n---'.encode()


@given(st.binary(max_size=200))
def test_any_bytes_are_left_alone_or_changed_in_their_head_only(data: bytes) -> None:
    merged = merge(b"---\n" + data + b"\n---\n", ID)
    if merged is not None:
        assert ID.encode() in merged.block and merged.replaces <= len(data) + 9
