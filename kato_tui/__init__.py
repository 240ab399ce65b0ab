"""kato-tui: own your AI conversations.

Only the version lives here: importing the package must stay free, since `kato-tui --version` does it.
"""

__version__ = "0.1.0"
