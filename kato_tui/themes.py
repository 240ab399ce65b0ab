"""The dashboard's own colours: dark, light, for eyes that do not tell red from green, and for 16-colour terminals."""

from __future__ import annotations

from typing import Final, NamedTuple

from textual.theme import BUILTIN_THEMES, Theme

from kato_tui.view.cells import Row, Tone

DARK: Final = "kato-dark"
LIGHT: Final = "kato-light"
SAFE: Final = "kato-safe"
ANSI: Final = "kato-16"

#: Colours that the style sheet uses beyond the common ones: the three assistants and the speakers of a conversation.
_NAMES: Final = ("claude", "codex", "gemini", "you", "tool", "muted", "line", "cursor", "brand")


def _variables(*colours: str) -> dict[str, str]:
    return {f"kato-{name}": colour for name, colour in zip(_NAMES, colours, strict=True)}


THEMES: Final = (
    Theme(
        name=DARK,
        primary="#7aa2f7",
        secondary="#9d8cf5",
        accent="#ff8f6b",
        success="#8fd694",
        warning="#f2c35c",
        error="#ff6b7d",
        foreground="#d5d9e6",
        background="#12141c",
        surface="#12141c",
        panel="#1b1f2b",
        dark=True,
        variables=_variables(
            "#e89a6f", "#7fc8d8", "#8ea9ff", "#8fd694", "#a8b2d1", "#7b829b", "#2e3446", "#262c3e", "#12141c"
        ),
    ),
    Theme(
        name=LIGHT,
        primary="#2f5fd0",
        secondary="#6a4fc4",
        accent="#c2410c",
        success="#1f7a3d",
        warning="#8a5a00",
        error="#b4232f",
        foreground="#1f2430",
        background="#fbfaf7",
        surface="#fbfaf7",
        panel="#efede7",
        dark=False,
        variables=_variables(
            "#a4541f", "#11697e", "#3a56c5", "#1f7a3d", "#454d63", "#6d7387", "#d5d2c9", "#e6e9f5", "#fbfaf7"
        ),
    ),
    # Blue, orange and yellow of Okabe and Ito: nothing is told by red against green.
    Theme(
        name=SAFE,
        primary="#56b4e9",
        secondary="#cc79a7",
        accent="#e69f00",
        success="#56b4e9",
        warning="#f0e442",
        error="#ff9a52",
        foreground="#e4e6eb",
        background="#101216",
        surface="#101216",
        panel="#1c2027",
        dark=True,
        variables=_variables(
            "#e69f00", "#56b4e9", "#cc79a7", "#f0e442", "#b9c4d0", "#8a929e", "#343a44", "#28303c", "#101216"
        ),
    ),
    # The terminal's own sixteen colours and its own background.
    Theme(
        name=ANSI,
        primary="ansi_blue",
        secondary="ansi_magenta",
        accent="ansi_bright_yellow",
        success="ansi_green",
        warning="ansi_yellow",
        error="ansi_bright_red",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        dark=True,
        ansi=True,
        variables=_variables(
            "ansi_yellow",
            "ansi_cyan",
            "ansi_bright_blue",
            "ansi_green",
            "ansi_cyan",
            "ansi_bright_black",
            "ansi_bright_black",
            "ansi_blue",
            "ansi_black",
        )
        | {
            # Textual's own style sheets ask for these of every theme of this sort.
            "ansi-background": "ansi_black",
            "ansi-foreground": "ansi_white",
            "border-blurred": "ansi_bright_black",
            "block-cursor-foreground": "ansi_black",
            "block-cursor-background": "ansi_white",
            "input-cursor-background": "ansi_white",
            "input-cursor-foreground": "ansi_black",
            "input-selection-background": "ansi_blue",
            "input-selection-foreground": "ansi_white",
            "screen-selection-background": "ansi_blue",
            "screen-selection-foreground": "ansi_white",
        },
    ),
)
OWN: Final = tuple(theme.name for theme in THEMES)


def known() -> list[str]:
    """Every theme that can be named in the settings: our own and Textual's."""
    return sorted({*OWN, *BUILTIN_THEMES})


#: What the key goes through.
CYCLE: Final = (DARK, LIGHT, SAFE)


def defaults(theme: Theme) -> dict[str, str]:
    """The colours beyond the common ones, for themes that are not ours."""
    warning, success = theme.warning or "yellow", theme.success or "green"
    accent, second = theme.accent or theme.primary, theme.secondary or theme.primary
    muted = theme.variables.get("foreground-muted") or ("#8a8f98" if theme.dark else "#6b7078")
    line = theme.panel or theme.surface or muted
    cursor = theme.variables.get("block-cursor-blurred-background") or theme.panel or "#303440"
    brand = theme.background or ("#000000" if theme.dark else "#ffffff")
    return _variables(warning, second, theme.primary, success, accent, muted, line, cursor, brand)


class Ink(NamedTuple):
    """What a tone or a row looks like: names of the theme's colours, or colours of the terminal, and a weight."""

    text: str | None = None
    ground: str | None = None
    weight: str = ""


_TONES: Final[dict[Tone, Ink]] = {
    "text": Ink("foreground"),
    "muted": Ink("kato-muted"),
    "strong": Ink("foreground", weight="bold"),
    "accent": Ink("accent"),
    "good": Ink("success"),
    "warn": Ink("warning", weight="bold"),
    "bad": Ink("error", weight="bold"),
    "claude": Ink("kato-claude"),
    "codex": Ink("kato-codex"),
    "gemini": Ink("kato-gemini"),
    "user": Ink("kato-you", weight="bold"),
    "assistant": Ink("primary"),
    "tool": Ink("kato-tool"),
    "thinking": Ink("kato-muted", weight="italic"),
    "key": Ink("primary", weight="bold"),
    "brand": Ink("kato-brand", "primary", "bold"),
    "match": Ink("accent", weight="underline"),
    "emphasis": Ink("foreground", weight="italic"),
    "code": Ink("secondary"),
}
_ROWS: Final[dict[Row, Ink]] = {"": Ink(), "cursor": Ink(ground="kato-cursor"), "blurred": Ink(ground="panel")}
#: Sixteen colours have no shade that all others can be read on: the row is told by one pair alone.
_ANSI_ROWS: Final[dict[Row, Ink]] = {
    "": Ink(),
    "cursor": Ink("ansi_bright_white", "ansi_blue"),
    "blurred": Ink(weight="bold"),
}


def tone_ink(tone: Tone) -> Ink:
    return _TONES[tone]


def row_ink(row: Row, *, ansi: bool) -> Ink:
    return (_ANSI_ROWS if ansi else _ROWS)[row]
