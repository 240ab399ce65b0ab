"""The texts that `completion` prints: what bash, zsh and fish each need to be told. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

#: Kinds of which the script asks `kato-tui completion` when they are needed: no script can know them.
ASKED: Final = ("sessions", "recordings")


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a command. `option` is empty for one that is told by its place."""

    option: str
    name: str
    help: str
    takes_value: bool
    #: Words to choose from, else the kind of thing that it is: `sessions`, `recordings`, `files` or nothing known.
    choices: tuple[str, ...] = ()
    kind: str = ""
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A command with its arguments; the nameless one has those of `kato-tui` itself."""

    name: str
    help: str
    options: tuple[Argument, ...]
    places: tuple[Argument, ...]


def _with_value(commands: Sequence[Command]) -> str:
    return "|".join(sorted({one.option for command in commands for one in command.options if one.takes_value}))


_BASH: Final = """\
# kato-tui: completion for bash
_kato_tui() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command='' place=1 words='' i
  if ((COMP_CWORD > 1)); then command=${{COMP_WORDS[1]}}; fi
  for ((i = 2; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
      {with_value}) ((i += 1)) ;;
      -*) ;;
      *) ((place += 1)) ;;
    esac
  done
  case $command:$before in
{values}
    *)
      case $word in
        -*)
          case $command in
{options}
          esac ;;
        *)
          case $command:$place in
{places}
          esac ;;
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _kato_tui kato-tui
"""


def _bash(commands: Sequence[Command]) -> str:
    values, options, places = [], [], []
    for command in commands:
        options.append(
            f"            {command.name or '*'}) words='{' '.join(one.option for one in command.options)}' ;;"
        )
        values += [
            f"    {command.name}:{one.option}) {_bash_words(one)} ;;"
            for one in command.options
            if one.takes_value and command.name
        ]
        for number, one in enumerate(command.places, start=1):
            place = "*" if one.repeats else number
            places.append(f"            {command.name}:{place}) {_bash_words(one)} ;;")
    places.append(f"            :*) words='{' '.join(one.name for one in commands if one.name)}' ;;")
    options.append(options.pop(0))  # what holds for every other word comes last
    return _BASH.format(
        with_value=_with_value(commands),
        values="\n".join(values),
        options="\n".join(options),
        places="\n".join(places),
    )


def _bash_words(argument: Argument) -> str:
    if argument.kind in ASKED:
        return f"words=$(kato-tui completion {argument.kind} 2>/dev/null | cut -f1)"
    return f"words='{' '.join(argument.choices)}'"


_ZSH: Final = """\
#compdef kato-tui
# kato-tui: completion for zsh. Source it behind `compinit`, or put it into a folder of $fpath as `_kato-tui`.
_kato_tui_ids() {{
  local -a found
  found=(${{(f)"$(kato-tui completion $1 2>/dev/null)"}})
  found=(${{found/$'\\t'/:}})
  _describe -V -t "$1" "$1" found
}}
_kato_tui() {{
  local -a commands=(
{commands}
  )
  if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then
    _describe command commands
    return
  fi
  if [[ $words[2] != -* ]]; then
    local command=$words[2]
    shift words
    ((CURRENT--))
    case $command in
{cases}
    esac
    return
  fi
  _arguments {options}
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _kato_tui "$@"
else
  (($+functions[compdef])) || {{ autoload -Uz compinit && compinit }}
  compdef _kato_tui kato-tui
fi
"""


def _zsh(commands: Sequence[Command]) -> str:
    cases = []
    for command in commands[1:]:
        specs = [_zsh_option(one) for one in command.options]
        specs += [
            _quoted_zsh(f"{'*' if one.repeats else number}:{one.name}:{_zsh_action(one)}")
            for number, one in enumerate(command.places, start=1)
        ]
        cases.append(f"      {command.name}) _arguments {' '.join(specs)} ;;")
    return _ZSH.format(
        commands="\n".join(f"    {_quoted_zsh(f'{one.name}:{one.help}')}" for one in commands[1:]),
        cases="\n".join(cases),
        options=" ".join(map(_zsh_option, commands[0].options)),
    )


def _zsh_option(argument: Argument) -> str:
    help_ = argument.help.replace("[", "(").replace("]", ")").replace(":", "\\:")
    value = f":{argument.name}:{_zsh_action(argument)}" if argument.takes_value else ""
    return _quoted_zsh(f"{argument.option}[{help_}]{value}")


def _zsh_action(argument: Argument) -> str:
    if argument.kind in ASKED:
        # With a blank in front, zsh hands over this argument alone, without those of its own.
        return f" _kato_tui_ids {argument.kind}"
    if argument.kind == "files":
        return "_files"
    return f"({' '.join(argument.choices)})" if argument.choices else " "


def _quoted_zsh(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


_FISH: Final = """\
# kato-tui: completion for fish
function __kato_tui_at --description 'whether argument number $argv[2] of the command $argv[1] is being typed'
    set -l typed (commandline -opc)
    test "$typed[2]" = $argv[1]; or return 1
    set -l place 1
    set -l skip 0
    for word in $typed[3..]
        if test $skip = 1
            set skip 0
        else if contains -- $word {with_value}
            set skip 1
        else if not string match -q -- '-*' $word
            set place (math $place + 1)
        end
    end
    test $argv[2] = any; or test $argv[2] = $place
end
complete -c kato-tui -f
"""


def _fish(commands: Sequence[Command]) -> str:
    lines = [_FISH.format(with_value=_with_value(commands).replace("|", " "))]
    for command in commands:
        seen = f"__kato_tui_at {command.name} any" if command.name else "__fish_use_subcommand"
        if command.name:
            about = _quoted_fish(command.help)
            lines.append(f"complete -c kato-tui -n __fish_use_subcommand -a {command.name} -d {about}\n")
        for one in command.options:
            value = _fish_value(one) if one.takes_value else ""
            about = _quoted_fish(one.help)
            lines.append(f"complete -c kato-tui -n '{seen}' -l {one.option[2:]}{value} -d {about}\n")
        for number, one in enumerate(command.places, start=1):
            place = "any" if one.repeats else number
            lines.append(f"complete -c kato-tui -n '__kato_tui_at {command.name} {place}'{_fish_value(one)}\n")
    return "".join(lines)


def _fish_value(argument: Argument) -> str:
    if argument.kind == "files":
        return " -r -F"
    if argument.kind in ASKED:
        return f" -x -k -a '(kato-tui completion {argument.kind} 2>/dev/null)'"
    return f" -x -a '{' '.join(argument.choices)}'" if argument.choices else " -x"


def _quoted_fish(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


SCRIPTS: Final[dict[str, Callable[[Sequence[Command]], str]]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
