"""Durable state: atomic files, the twin, session metadata, the index and the lock. Knows nothing of log formats."""
