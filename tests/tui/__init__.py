"""The dashboard through Textual's pilot, on a real engine that tests step."""
