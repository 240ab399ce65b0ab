"""The pictures of the README, taken of the demonstration: `python -m screenshots`."""
