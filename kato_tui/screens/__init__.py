"""Screens over the dashboard: one event in full, all keys, a question."""
