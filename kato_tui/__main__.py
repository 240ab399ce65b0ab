"""`kato-tui` and `python -m kato_tui`."""

from __future__ import annotations

import os
import sys


def main() -> None:
    # State and recordings hold conversations: nothing this process makes is readable by others.
    os.umask(0o077)
    from kato_tui.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
