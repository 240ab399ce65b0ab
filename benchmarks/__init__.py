"""What kato-tui costs, measured beside what the same bytes cost others: `python -m benchmarks`."""
