"""Targets: what people type and what is shown of it. Commands, destinations and the policy, frontmatter, the border to
the terminal."""

from __future__ import annotations

import os
import re
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Final

from kato_tui.core import text as texts
from kato_tui.core.model.events import UserCommand
from kato_tui.core.record import commands, destination, frontmatter, policy
from kato_tui.core.record.destination import DestinationError, Naming, Place
from kato_tui.core.record.policy import Allowed, WritePolicy, WriteRefused
from kato_tui.core.store.fs import Fs
from kato_tui.view.safe import safe
from tests.fuzz.mutation import HOSTILE_TEXT, mutated
from tests.fuzz.target import Target

_COMMANDS: Final = (
    *(f"::{name}" for name in (*commands.COMMANDS, "strat", "Start", "STOP", "x", "start-", "-")),
    *(
        "::start ~/notes/a.md",
        "::stop id:7d14af8e",
        "::stop dest:~/a.md",
        '::record x.md from "plan"',
        "::start from -3",
    ),
    *(
        "  ::start",
        "\t::stop",
        "> ::start",
        "- ::start",
        "    ::start",
        ":: start",
        ":::start",
        "::start\r",
        "`::start`",
    ),
)
_AROUND: Final = ("```", "~~~~", "```py", "   ```", "````", "text", "", "\r", "\x0b", "\u2028", *HOSTILE_TEXT)
_PATHS: Final = (
    *("~", "~/", "~/notes", "~/notes/a.md", "a.md", "./a.md", "../a.md", "/etc/passwd", "/dev/null", "/proc/self/mem"),
    *("~/link/a.md", "~/link-out/a.md", "~/.hidden/a.md", "~/hard.md", "~/fifo.md", "~/folder.md", "~/loop/x.md"),
    *("~/.kato/recordings/a.md", "~/.kato/sessions/a.md", "~root/a.md", "$HOME/a.md", "${X}/a.md", "file:///etc/a.md"),
    *(
        '"~/with space.md"',
        "'a b.md'",
        "@a.md",
        "`a.md`",
        "[x](a.md)",
        "[x](<a b.md>)",
        "[x](/a.md 'title')",
        "@~/x.md",
    ),
    *("a.exe", "a", "a.md.", ".md", "...", "a%2e%2e/b.md", "a%00.md", "%ff.md", "x" * 300 + ".md", "a/" * 200 + "b.md"),
    *("http://e.v/x.md", "a.md#L10-20", "a\\ b.md", "a\u200b.md", "\u202egpj.md", "a.MD", "\u212a.md", "a.\u212ad"),
    *(" from -1", " from -0", ' from "x"', ' from ""', " from -99999999", "from -3"),
)
_HEADS: Final = (
    b"---\ntitle: Mine\n---\ntext\n",
    b"---\nrecordingIds: [a, b]\n---\n",
    b"---\nrecordingIds:\n  - a\n  - b\ntags: [x]\n---\nbody\n",
    b"\xef\xbb\xbf---\r\nkey: 'v'\r\nrecordingIds: a # mine\r\n---\r\nbody",
    b"---\n# comment\nrecordingIds:\n...\n",
    b'---\n"recordingIds": ["a"]\nnested:\n  deep: |\n    text\n---\n',
    b"no head\n---\n",
    b"",
)
_HEAD_TOKENS: Final = (
    *(b"---\n", b"...\n", b"recordingIds:", b"recordingIds: []\n", b"recordingIds: [\n", b"  - x\n", b"- x\n", b"\r\n"),
    *(
        b"# x",
        b"'",
        b'"',
        b"|",
        b">",
        b"{",
        b"}",
        b"[",
        b"]",
        b", ",
        b"&a",
        b"*a",
        b"!t ",
        b"\x0b",
        b"\x0c",
        b"\xff",
        b"\x85",
    ),
    *(b"\xe2\x80\xa8", b"\t", b": ", b"? ", b"key: v\n", b"\xef\xbb\xbf", b"\\", b"null", b"~", b"%"),
)
#: An empty value may be written out, as `~` or `null`: the list takes its place.
_NOTHING: Final = re.compile(rb"(recordingIds['\"]?:[ \t]+)(?:~|null|Null|NULL)(?=[ \t\r\n])")
#: Invisible or acted upon by terminals: nothing of it may come through the border.
_UNSHOWN: Final = frozenset(("Cc", "Zl", "Zp", "Cs"))
_BIDI: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class CommandTarget(Target):
    """Commands in a message: nothing of the text is lost, every command has the shape of its event."""

    name = "commands"
    weight = 60

    def make(self, rng: Random) -> bytes:
        lines = rng.choices((*_COMMANDS, *_COMMANDS, *_AROUND), k=rng.randint(1, 6))
        return mutated(rng, "\n".join(lines).encode("utf-8", "surrogatepass"), most=2)

    def check(self, data: bytes, rng: Random) -> None:
        text = data.decode("utf-8", "replace")
        segments = commands.split(text)
        assert "".join(segment.text for segment in segments) == text
        for segment in segments:
            if segment.command is None:
                continue
            found = UserCommand.model_validate(segment.command)
            assert segment.text.count("\n") <= 1 and segment.text.strip().startswith("::")
            if found.error is None:
                assert found.command in commands.COMMANDS
        fence = "`" * 40
        if "~~~" not in text and "```" not in text:
            assert not any(one.command for one in commands.split(f"{fence}\n{text}\n{fence}\n"))


class DestinationTarget(Target):
    """A destination from any text: refused with a reason, or a plain file below an allowed folder, really opened."""

    name = "destination"
    weight = 6

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self._user = base / "home"
        self._kato = self._user / ".kato"
        outside = base / "outside"
        for folder in (self._kato / "recordings", self._kato / "sessions", self._user / "notes", outside):
            folder.mkdir(parents=True, exist_ok=True)
        for name in (".hidden", "folder.md", "folder"):
            (self._user / name).mkdir()
        (outside / "theirs.md").write_text("theirs")
        (self._user / "hard.md").hardlink_to(outside / "theirs.md")
        (self._user / "link").symlink_to(self._user / "notes")
        (self._user / "link-out").symlink_to(outside)
        (self._user / "loop").symlink_to(self._user / "loop")
        os.mkfifo(self._user / "fifo.md")
        self._before = _tree(outside)
        self._outside = outside
        self._policy = WritePolicy(
            (self._user,), self._kato / "recordings", protected=(self._kato,), user_home=self._user
        )

    def make(self, rng: Random) -> bytes:
        text = rng.choice(_PATHS) + (rng.choice(_PATHS) if rng.random() < 0.4 else "")
        return mutated(rng, text.encode("utf-8", "surrogatepass"), most=2) if rng.random() < 0.7 else text.encode()

    def check(self, data: bytes, rng: Random) -> None:
        text = data.decode("utf-8", "surrogateescape" if rng.random() < 0.1 else "replace")
        place = Place(self._user, self._kato / "recordings", rng.choice((None, self._user / "folder")))
        naming = Naming(rng.choice(("claude", "../x")), "0f0f0f0f-1", "1e1e1e1e-1", datetime(2026, 1, 1, tzinfo=UTC))
        try:
            argument = destination.parse_argument(rng.choice(commands.COMMANDS), text)
            found = destination.resolve(argument.path, place, naming)
        except DestinationError as error:
            str(error).encode()
            return
        decision = self._policy.check(found.path)
        decision.audit()["reason"].encode()
        if isinstance(decision, Allowed):
            self._open(decision)
        assert _tree(self._outside) == self._before

    def _open(self, allowed: Allowed) -> None:
        below = allowed.path.relative_to(self._user).parts
        assert allowed.path.suffix.lower() in policy.EXTENSIONS
        assert not any(part.startswith(".") for part in below) or below[:2] == (".kato", "recordings")
        try:
            descriptor = policy.open_destination(allowed, create=Fs())
        except WriteRefused:
            return
        try:
            assert Path(f"/proc/self/fd/{descriptor}").readlink() == allowed.path
            assert os.fstat(descriptor).st_mode & 0o777 == 0o600
        finally:
            os.close(descriptor)
            allowed.path.unlink()


def _tree(folder: Path) -> list[tuple[str, int]]:
    return sorted((entry.name, entry.stat().st_size) for entry in os.scandir(folder))


class FrontmatterTarget(Target):
    """Joining an id into the user's frontmatter: an insertion, or nothing."""

    name = "frontmatter"
    weight = 40

    def make(self, rng: Random) -> bytes:
        return mutated(rng, rng.choice(_HEADS), _HEAD_TOKENS, most=6)

    def check(self, data: bytes, rng: Random) -> None:
        wanted = "0f0f0f0f-0000-4000-8000-000000000001"
        merged = frontmatter.merge(data, wanted)
        if merged is None:
            return
        whole = merged.block + data[merged.replaces :]
        assert wanted.encode() in merged.block
        assert _is_inserted(_NOTHING.sub(rb"\1", data), whole)
        # A block list has to have its line ended before another can follow, so at most that much more.
        assert len(whole) <= len(data) + len(wanted) + len("recordingIds: []\r\n\r\n") + 8
        assert frontmatter.merge(whole, wanted) is None


def _is_inserted(old: bytes, new: bytes) -> bool:
    """Whether all bytes of `old` are in `new`, in their order: nothing of the user's is lost or changed."""
    rest = iter(new)
    return all(byte in rest for byte in old)


class BorderTarget(Target):
    """What is shown and what is cleaned: no control character, no hidden direction, no tag, of bounded length."""

    name = "border"
    weight = 40

    def make(self, rng: Random) -> bytes:
        parts = [
            *rng.choices(HOSTILE_TEXT, k=rng.randint(1, 5)),
            chr(rng.choice((rng.randrange(0x3000), rng.randrange(0x110000)))),
        ]
        return mutated(rng, "".join(parts).encode("utf-8", "surrogatepass"), most=3)

    def check(self, data: bytes, rng: Random) -> None:
        text = data.decode("utf-8", "surrogatepass" if rng.random() < 0.5 and _decodes(data) else "replace")
        limit = rng.choice((8, 80, 2000))
        shown = safe(text, limit)
        assert len(shown) <= limit + 1 and safe(shown, limit + 1) == shown
        for char in shown:
            assert unicodedata.category(char) not in _UNSHOWN and char not in _BIDI
            assert not 0xE0000 <= ord(char) <= 0xE007F
        cleaned = texts.clean(text)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", cleaned)
        assert texts.clean(cleaned) == cleaned
        assert len(texts.one_line(text)) <= 120 and "\n" not in texts.one_line(text)
        texts.whole(text).encode()
        destination.shown(text).encode()


def _decodes(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


TARGETS: Final = (CommandTarget, DestinationTarget, FrontmatterTarget, BorderTarget)
