"""The command line: argv to one function. Imports nothing that is not asked for: `status` has to be quick."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, Final

from kato_tui.exit_codes import DONE, FAILED, INTERRUPTED, NOT_FOUND, USAGE

#: What is said all day is understood at once: to lay out all the words that there are takes longer than to answer.
AT_ONCE: Final[dict[tuple[str, ...], tuple[str, dict[str, Any]]]] = {
    (): ("kato_tui.dashboard:run_dashboard", {}),
    ("status",): ("kato_tui.commands.status:run_status", {"all": False, "json": False, "live": False}),
}


def run(argv: Sequence[str]) -> int:
    """Do what `argv` asks for and give the exit code."""
    does, arguments = _understood(tuple(argv))
    from kato_tui.commands.talk import UsageError, say
    from kato_tui.core.errors import KatoError, SessionNotFound, in_words

    try:
        code = _function(does)(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader went away (`| head`): nothing is wrong, and Python must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except UsageError as error:
        say(str(error))
        return USAGE
    except SessionNotFound as error:
        say(str(error))
        return NOT_FOUND
    except (KatoError, OSError) as error:
        say(in_words(error))
        return FAILED


def _understood(argv: tuple[str, ...]) -> tuple[str, Any]:
    """What to do, and how."""
    known = AT_ONCE.get(argv)
    if known is not None:
        does, arguments = known
        return does, SimpleNamespace(**arguments)
    from kato_tui.arguments import understood

    return understood(argv)


def _function(does: str) -> Callable[[Any], int]:
    module, _, name = does.partition(":")
    found: Callable[[Any], int] = getattr(importlib.import_module(module), name)
    return found
