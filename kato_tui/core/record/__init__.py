"""Recordings: in-chat commands and, from them, files that the user owns."""
