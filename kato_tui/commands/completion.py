"""`completion`: a script with which a shell completes commands and options. Printed, never installed."""

from __future__ import annotations

import argparse
import sys

from kato_tui.commands.talk import put_json
from kato_tui.exit_codes import DONE


def run_completion(arguments: argparse.Namespace) -> int:
    from kato_tui.arguments import parser

    words = _words(parser())
    text = _fish(words) if arguments.shell == "fish" else _bash(words)
    if arguments.shell == "zsh":
        text = f"autoload -U +X bashcompinit && bashcompinit\n{text}"
    if arguments.json:
        put_json({"shell": arguments.shell, "script": text})
    else:
        sys.stdout.write(text)
    return DONE


#: Command ("" for none) -> the words that can follow it, with what they mean.
Words = dict[str, dict[str, str]]


def _words(made: argparse.ArgumentParser) -> Words:
    """Taken from the parser itself, so that no option is ever missing."""
    found: Words = {"": {}}
    for action in made._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            found[""] |= helps
            for name, command in action.choices.items():
                found[name] = _options(command)
    found[""] |= _options(made)
    return found


def _options(made: argparse.ArgumentParser) -> dict[str, str]:
    found: dict[str, str] = {}
    for action in made._actions:
        if isinstance(action, argparse._SubParsersAction):
            continue
        options = [option for option in action.option_strings if option.startswith("--")]
        found |= dict.fromkeys(options, action.help or "")
        if not action.option_strings and action.choices:
            found |= dict.fromkeys(map(str, action.choices), action.help or "")
    return found


def _bash(words: Words) -> str:
    cases = "".join(f"    {name}) words='{' '.join(follow)}' ;;\n" for name, follow in words.items() if name)
    return f"""\
_kato_tui() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} command='' words
  if [ "$COMP_CWORD" -gt 1 ]; then command=${{COMP_WORDS[1]}}; fi
  case $command in
{cases}    *) words='{" ".join(words[""])}' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _kato_tui kato-tui
"""


def _fish(words: Words) -> str:
    lines: list[str] = []
    for name, follow in words.items():
        seen = "__fish_use_subcommand" if not name else f"__fish_seen_subcommand_from {name}"
        for word, meaning in follow.items():
            what = f"-l {word[2:]}" if word.startswith("--") else f"-a {word}"
            lines.append(f"complete -c kato-tui -n '{seen}' {what} -d {_quoted(meaning)}\n")
    return "".join(lines)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
