"""Which recordings a stop or resume means, and which session a name means (spec §3, §8).

The one resolver for chat, dashboard and command line. It changes nothing: the outcome is a value whose `code` and
`reason` can be shown and logged as they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeVar

from kato_tui.core import identity
from kato_tui.core.errors import KatoError
from kato_tui.core.record.destination import shown

MIN_PREFIX: Final = identity.SHORT_ID_LENGTH

#: Turns a typed path into the form that recordings and sessions store; a `KatoError` says why it cannot.
Canonical = Callable[[str], str]
Action = Literal["stop", "resume"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A recording that may be meant."""

    session_id: str
    recording_id: str
    destination: str
    active: bool

    @property
    def full_id(self) -> str:
        return self.recording_id

    @property
    def place(self) -> str:
        return self.destination


@dataclass(frozen=True, slots=True)
class SessionCandidate:
    """A session that may be meant; `source` is the path of its log."""

    session_id: str
    session_key: str
    provider_session_id: str
    source: str | None = None

    @property
    def full_id(self) -> str:
        return self.session_id

    @property
    def place(self) -> str:
        return self.source or self.session_key


@dataclass(frozen=True, slots=True)
class Everything:
    """No argument: all there is to stop."""


@dataclass(frozen=True, slots=True)
class ById:
    value: str


@dataclass(frozen=True, slots=True)
class ByDestination:
    value: str


@dataclass(frozen=True, slots=True)
class Bare:
    """An argument that may name a destination, an id, or both."""

    value: str


Target = Everything | ById | ByDestination | Bare

T = TypeVar("T", Candidate, SessionCandidate)


@dataclass(frozen=True, slots=True)
class BothMatched:
    """A bare argument was a destination and an id at once: both are acted on, and the user is told."""

    by_destination: tuple[Candidate, ...]
    by_id: tuple[Candidate, ...]
    reason: str
    code: str = "ambiguous-target"


@dataclass(frozen=True, slots=True)
class Matched(Generic[T]):
    """Act on these."""

    found: tuple[T, ...]
    warning: BothMatched | None = None


@dataclass(frozen=True, slots=True)
class Already(Generic[T]):
    """Found, but there is nothing left to do."""

    found: tuple[T, ...]
    reason: str
    code: str


@dataclass(frozen=True, slots=True)
class NotFound:
    reason: str
    code: str = "not-found"


@dataclass(frozen=True, slots=True)
class TooShort:
    reason: str
    code: str = "too-short"


@dataclass(frozen=True, slots=True)
class Ambiguous(Generic[T]):
    """More than one could be meant; nothing may be changed."""

    candidates: tuple[T, ...]
    reason: str
    code: str = "ambiguous"


Outcome = Matched[Candidate] | Already[Candidate] | NotFound | TooShort | Ambiguous[Candidate]
SessionOutcome = Matched[SessionCandidate] | NotFound | TooShort | Ambiguous[SessionCandidate]


@dataclass(frozen=True, slots=True)
class _Rule:
    """How the two actions differ: which recordings they can act on, and whether on several at once."""

    wants_active: bool
    several: bool
    nothing: str
    already: str
    already_code: str


_RULES: Final[dict[Action, _Rule]] = {
    "stop": _Rule(True, True, "nothing is being recorded", "already stopped", "already-stopped"),
    "resume": _Rule(False, False, "there is no stopped recording", "already recording", "already-recording"),
}

_TYPED: Final[dict[str, Callable[[str], Target]]] = {"id": ById, "dest": ByDestination}
_LIKE_AN_ID = re.compile(r"[0-9a-f-]+")
_MOST_LISTED: Final = 5


def parse_target(raw: str | None) -> Target:
    """The target in the raw argument of a stop or resume."""
    text = (raw or "").strip()
    if not text:
        return Everything()
    prefix, colon, rest = text.partition(":")
    make = _TYPED.get(prefix.lower()) if colon else None
    return make(rest.strip()) if make else Bare(text)


def labels(candidates: Sequence[T]) -> list[str]:
    """Each candidate as `short id (place)`; ids that share their short form are shown as far as they differ."""
    ids = [candidate.full_id for candidate in candidates]
    length = MIN_PREFIX
    while len({one[:length] for one in ids}) < len(set(ids)):
        length += 1
    return [f"{candidate.full_id[:length]} ({shown(candidate.place)})" for candidate in candidates]


def resolve(
    target: Target | str | None,
    candidates: Iterable[Candidate],
    *,
    canonical: Canonical,
    session_id: str | None = None,
    action: Action = "stop",
) -> Outcome:
    """What `target` means among `candidates`: those of `session_id` in chat, those of all sessions when it is None."""
    wanted = parse_target(target) if target is None or isinstance(target, str) else target
    pool = [one for one in candidates if session_id is None or one.session_id == session_id]
    search = _Search(pool, canonical, _RULES[action], "" if session_id is None else " in this session")
    match wanted:
        case Everything():
            return search.everything()
        case ById(value):
            return search.by_id(value)
        case ByDestination(value):
            return search.by_destination(value)
        case Bare(value):
            return search.bare(value)


@dataclass(frozen=True, slots=True)
class _Search:
    pool: list[Candidate]
    canonical: Canonical
    rule: _Rule
    where: str

    def everything(self) -> Outcome:
        usable = self._usable(self.pool)
        if not usable:
            return NotFound(f"{self.rule.nothing}{self.where}")
        return self._several_or_one("the recording meant", usable)

    def by_id(self, value: str) -> Outcome:
        matches = _id_matches(value, self.pool)
        if not matches and len(value) < MIN_PREFIX:
            return _too_short("recording", value)
        if not matches:
            return self._not_found(f"no recording {shown(value)}{self.where}")
        if len(matches) > 1 and self._usable(matches):
            return _ambiguous(value, matches)
        return self._act(value, matches)

    def by_destination(self, value: str) -> Outcome:
        try:
            matches = self._at(value)
        except KatoError as error:
            return NotFound(str(error))
        if not matches:
            return self._not_found(f"no recording at {shown(value)}{self.where}")
        return self._act(value, matches)

    def bare(self, value: str) -> Outcome:
        """By destination and by id. A prefix of several ids spoils both: the user has to say which one is meant."""
        problem = ""
        try:
            at = self._at(value)
        except KatoError as error:
            # An id need not be a usable path, so this only matters when nothing else matches.
            at, problem = [], f". As a destination: {error}"
        named = _id_matches(value, self.pool)
        both = at + [one for one in named if one not in at]
        if not both:
            if len(value) < MIN_PREFIX and _LIKE_AN_ID.fullmatch(value.lower()):
                return _too_short("recording", value)
            return self._not_found(f"no recording has the id or destination {shown(value)}{self.where}{problem}")
        if len(named) > 1 and self._usable(both):
            return _ambiguous(value, both)
        outcome = self._act(value, both)
        if isinstance(outcome, Matched) and at and named and at != named:
            return Matched(outcome.found, _both_matched(value, at, named))
        return outcome

    def _at(self, value: str) -> list[Candidate]:
        # A destination copied from the screen matches as it stands, even where a link now leads elsewhere.
        literal = [one for one in self.pool if one.destination == value]
        if literal:
            return literal
        path = self.canonical(value)
        return [one for one in self.pool if one.destination == path]

    def _usable(self, matches: list[Candidate]) -> list[Candidate]:
        return [one for one in matches if one.active == self.rule.wants_active]

    def _act(self, value: str, matches: list[Candidate]) -> Outcome:
        usable = self._usable(matches)
        if usable:
            return self._several_or_one(value, usable)
        listed = ", ".join(labels(matches))
        return Already(tuple(matches), f"{listed}: {self.rule.already}", self.rule.already_code)

    def _several_or_one(self, value: str, usable: list[Candidate]) -> Outcome:
        if len(usable) > 1 and not self.rule.several:
            return _ambiguous(value, usable)
        return Matched(tuple(usable))

    def _not_found(self, reason: str) -> NotFound:
        usable = labels(self._usable(self.pool))
        if not usable:
            return NotFound(f"{reason}; {self.rule.nothing}{self.where}")
        more = f" and {len(usable) - _MOST_LISTED} more" if len(usable) > _MOST_LISTED else ""
        return NotFound(f"{reason}. There is {', '.join(usable[:_MOST_LISTED])}{more}")


def resolve_session(name: str, candidates: Iterable[SessionCandidate], *, canonical: Canonical) -> SessionOutcome:
    """The one session that `name` means: its id or a prefix of it, its key, the provider's own id, its log's path."""
    pool = list(candidates)
    value = name.strip()
    named = _id_matches(value, pool)
    exact = [one for one in pool if value in (one.session_key, one.provider_session_id)]
    found = named + [one for one in exact if one not in named]
    found = found or _from_log(value, pool, canonical)
    if len(found) == 1:
        return Matched(tuple(found))
    if found:
        return _ambiguous(value, found)
    if len(value) < MIN_PREFIX:
        return _too_short("session", value)
    if os.path.sep in value:
        return NotFound(
            f"no session has the log {shown(value)}: sessions are the logs in the assistants' own folders. "
            "kato-tui translate shows what any log holds"
        )
    return NotFound(
        f"no session {shown(value)}: kato-tui sessions --all lists them. Give at least {MIN_PREFIX} characters of its "
        "id, the assistant's own id or the path of its log"
    )


def _from_log(value: str, pool: list[SessionCandidate], canonical: Canonical) -> list[SessionCandidate]:
    try:
        path = canonical(value)
    except KatoError:
        return []  # not a path, so it names no log
    return [one for one in pool if one.source is not None and one.source in (value, path)]


def _id_matches(value: str, pool: Sequence[T]) -> list[T]:
    """The one with exactly this id, else those it is a long enough prefix of."""
    wanted = value.lower()
    exact = [one for one in pool if one.full_id.lower() == wanted]
    if exact or len(wanted) < MIN_PREFIX:
        return exact
    return [one for one in pool if one.full_id.lower().startswith(wanted)]


def _ambiguous(value: str, candidates: Sequence[T]) -> Ambiguous[T]:
    listed = ", ".join(labels(candidates))
    return Ambiguous(tuple(candidates), f"{shown(value)} is ambiguous, nothing was changed. It may be {listed}")


def _too_short(what: str, value: str) -> TooShort:
    return TooShort(f"{shown(value) or 'the id'} is too short: give at least {MIN_PREFIX} characters of the {what} id")


def _both_matched(value: str, at: list[Candidate], named: list[Candidate]) -> BothMatched:
    reason = (
        f"{shown(value)} is a destination, {', '.join(labels(at))}, and an id, {', '.join(labels(named))}: "
        "both were meant. Write dest: or id: to mean one"
    )
    return BothMatched(tuple(at), tuple(named), reason)
