"""From log files to twins and facts: finding sources, reading them in bounded pieces, and committing batches."""
