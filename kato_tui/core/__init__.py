"""The engine. Never imports Textual or Rich: the dashboard, the command line and the chat only call it."""
