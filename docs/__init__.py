"""The guides, and what writes their generated parts: `python -m docs`."""
