"""`kato-tui` and `python -m kato_tui`."""

from __future__ import annotations

import io
import os
import sys


def main() -> None:
    if sys.platform == "win32":
        sys.exit("kato-tui runs on Linux and macOS. On Windows it runs inside WSL, on the assistants used there")
    # State and recordings hold conversations: nothing this process makes is readable by others.
    os.umask(0o077)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a glyph or a name gets a question mark, not a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    from kato_tui.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
