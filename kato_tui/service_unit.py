"""The text of a unit file that runs kato-tui in the background: for systemd or launchd, printed and never installed."""

from __future__ import annotations

from typing import Literal
from xml.sax.saxutils import escape

Kind = Literal["systemd", "launchd"]


def unit(kind: Kind, program: str) -> str:
    """The unit that runs `program --no-ui` as the user, again after a crash."""
    if kind == "systemd":
        quoted = program.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
        return _SYSTEMD.format(program=quoted)
    return _LAUNCHD.format(program=escape(program))


_SYSTEMD = """\
[Unit]
Description=kato-tui: twins and recordings of AI conversations

[Service]
ExecStart="{program}" --no-ui
Restart=on-failure
UMask=0077

[Install]
WantedBy=default.target
"""
_LAUNCHD = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>kato-tui</string>
  <key>ProgramArguments</key><array><string>{program}</string><string>--no-ui</string></array>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
</dict>
</plist>
"""
