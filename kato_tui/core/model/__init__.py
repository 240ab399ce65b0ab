"""Contracts of everything kato-tui writes: twin events, session metadata, recordings, the index.

Pydantic lives at the boundaries (files, config, socket). The hot loop builds plain dicts; a test validates
every line it emits against these models.
"""
