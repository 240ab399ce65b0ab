"""Which recordings and which session a name means: properties of the one resolver."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kato_tui.core.record import resolve
from kato_tui.core.record.resolve import (
    Already,
    Ambiguous,
    Candidate,
    Matched,
    NotFound,
    SessionCandidate,
    TooShort,
)

ids = st.text("01ab", min_size=8, max_size=8).map(lambda head: f"{head}-0000-4000-8000-000000000000")
candidates = st.lists(
    st.builds(
        Candidate,
        session_id=st.sampled_from(["s1", "s2"]),
        recording_id=ids,
        destination=st.sampled_from(["/n/a.md", "/n/b.md", "/n/c.md"]),
        active=st.booleans(),
    ),
    unique_by=lambda one: one.recording_id,
    max_size=8,
)


def _same(text: str) -> str:
    return text


@given(candidates, st.sampled_from(["s1", "s2", None]), st.data())
def test_an_exact_id_means_that_recording_alone(
    pool: list[Candidate], session: str | None, data: st.DataObject
) -> None:
    if not pool:
        return
    wanted = data.draw(st.sampled_from(pool))
    answer = resolve.resolve(f"id:{wanted.recording_id}", pool, canonical=_same, session_id=session)
    if session not in (None, wanted.session_id):
        assert isinstance(answer, NotFound)
    elif wanted.active:
        assert answer == Matched((wanted,))
    else:
        assert isinstance(answer, Already) and answer.found == (wanted,)


@given(candidates, st.text("01ab", min_size=1, max_size=8))
def test_a_prefix_acts_only_when_it_means_one(pool: list[Candidate], prefix: str) -> None:
    answer = resolve.resolve(f"id:{prefix}", pool, canonical=_same)
    matches = [one for one in pool if one.recording_id.startswith(prefix)]
    if len(prefix) < resolve.MIN_PREFIX:
        assert isinstance(answer, TooShort)
    elif not matches:
        assert isinstance(answer, NotFound)
    elif len(matches) > 1 and any(one.active for one in matches):
        assert isinstance(answer, Ambiguous) and set(answer.candidates) == set(matches)
    elif isinstance(answer, Matched):
        assert answer.found == tuple(one for one in matches if one.active)


@given(candidates, st.sampled_from(["s1", "s2", None]), st.text(max_size=12))
def test_nothing_is_ever_matched_outside_the_session_or_twice(
    pool: list[Candidate], session: str | None, text: str
) -> None:
    answer = resolve.resolve(text, pool, canonical=_same, session_id=session)
    if isinstance(answer, Matched):
        assert len(set(answer.found)) == len(answer.found) > 0
        assert all(one.active and session in (None, one.session_id) for one in answer.found)


def test_a_session_is_found_by_every_name_it_has() -> None:
    one = SessionCandidate("aaaaaaaa-1", "claude:xyz", "xyz", "/logs/xyz.jsonl")
    two = SessionCandidate("aaaaaaab-2", "codex:abc", "abc", None)
    for name in ("aaaaaaaa", "AAAAAAAA-1", "claude:xyz", "xyz", "/logs/xyz.jsonl"):
        assert resolve.resolve_session(name, [one, two], canonical=_same) == Matched((one,))
    assert isinstance(resolve.resolve_session("aaaaaaa", [one, two], canonical=_same), TooShort)
    assert isinstance(resolve.resolve_session("cccccccc", [one, two], canonical=_same), NotFound)
    twins = [one, SessionCandidate("aaaaaaaa-9", "gemini:q", "q")]
    assert isinstance(resolve.resolve_session("aaaaaaaa", twins, canonical=_same), Ambiguous)
