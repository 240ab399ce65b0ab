"""Text as it stands in logs, by a seed: prose, code, output of tools, base64. No text of anybody is in it."""

from __future__ import annotations

import random
from functools import cache
from typing import Final

_VOCABULARY: Final = (
    "the a of to and in that is it for on with as this be by not are from at or an will can should when then which "
    "file test function module session event record cursor offset twin reader writer engine buffer queue handler "
    "error warning value index path folder line batch commit branch change check build result output input request "
    "response timeout retry cache bound limit schema version parse write append update remove rename restart crash "
    "first second next last new old same other small large empty missing unknown broken slow fast safe simple plain"
)
_WORDS: Final = _VOCABULARY.split()
_UNICODE: Final = ("naïve", "→", "Überprüfung", "…", "日本語", "✓", "—", "café", "🙂", "Größe")
_POOL: Final = 1 << 20
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def _prose(rng: random.Random, words: list[str]) -> str:
    parts: list[str] = []
    size = 0
    while size < _POOL:
        sentence = " ".join(rng.choices(words, k=rng.randint(5, 18))).capitalize()
        ending = rng.choice((". ", ". ", ".\n\n", ":\n- ", ". `"))
        parts += (sentence, ending)
        size += len(sentence) + len(ending)
    return "".join(parts)


def _code(rng: random.Random) -> str:
    parts: list[str] = []
    size = number = 0
    while size < _POOL:
        number += 1
        indent = "    " * rng.randint(0, 4)
        left, right = rng.choice(_WORDS), rng.choice(_WORDS)
        line = rng.choice(
            (
                f'{indent}{left}_{right} = {left}.get("{right}", None)\n',
                f"{indent}if {left} is not None and {right} > {rng.randint(0, 999)}:\n",
                f"{indent}return {left}({right}, [{rng.randint(0, 9)}, {rng.randint(0, 9)}])\n",
                f"{indent}# {' '.join(rng.choices(_WORDS, k=9))}\n",
                f"def {left}_{right}(self, {left}: str, *, {right}: int = {number}) -> None:\n",
                "\n",
            )
        )
        parts.append(line)
        size += len(line)
    return "".join(parts)


def _output(rng: random.Random) -> str:
    parts: list[str] = []
    size = 0
    while size < _POOL:
        first, second = rng.choice(_WORDS), rng.choice(_WORDS)
        line = rng.choice(
            (
                f"src/{first}/{second}.py:{rng.randint(1, 900)}:\t{' '.join(rng.choices(_WORDS, k=6))}\n",
                f"-rw-r--r--  1 dev  staff  {rng.randint(10, 99999):>6} Jun 18 02:{rng.randint(10, 59)} {first}.md\n",
                f"{first}::{second} ... ok ({rng.random():.2f}s)\n",
                f"{rng.randint(1, 2000):>6}→{'    ' * rng.randint(0, 3)}{first}_{second} = {rng.randint(0, 9)}\n",
            )
        )
        parts.append(line)
        size += len(line)
    return "".join(parts)


def _coloured(rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(f"\x1b[3{rng.randint(1, 6)}m{line[:-1]}\x1b[0m\n" if rng.random() < 0.3 else line for line in lines)


class Words:
    """Texts of wanted lengths: slices of pools that are made once."""

    def __init__(self) -> None:
        rng = random.Random(20260501)
        self._plain = _prose(rng, _WORDS)
        self._wide = _prose(rng, [*_WORDS, *_UNICODE])
        self._code = _code(rng)
        self._output = _output(rng)
        self._coloured = _coloured(rng, self._output[: _POOL // 4])
        self._base64 = "".join(rng.choices(_LETTERS, k=_POOL))

    def prose(self, rng: random.Random, length: int) -> str:
        """Every fifth text holds more than ASCII."""
        return _slice(rng, self._wide if rng.random() < 0.2 else self._plain, length)

    def code(self, rng: random.Random, length: int) -> str:
        return _slice(rng, self._code, length)

    def output(self, rng: random.Random, length: int) -> str:
        """What a tool printed; one in sixty is in colour."""
        return _slice(rng, self._coloured if rng.random() < 1 / 60 else self._output, length)

    def base64(self, rng: random.Random, length: int) -> str:
        return _slice(rng, self._base64, length // 4 * 4)


@cache
def words() -> Words:
    """The pools of this process: making them takes a second."""
    return Words()


def _slice(rng: random.Random, pool: str, length: int) -> str:
    start = rng.randrange(max(1, len(pool) - length))
    found = pool[start : start + length]
    while len(found) < length:
        found += pool[: length - len(found)]
    return found


def length(rng: random.Random, median: int, most: int, spread: float = 1.2) -> int:
    """A length as they come in logs: mostly near the median, a few of them very much longer."""
    return max(8, min(most, int(median * rng.lognormvariate(0, spread))))


def ident(rng: random.Random) -> str:
    """An id in the form of a UUID."""
    digits = f"{rng.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
