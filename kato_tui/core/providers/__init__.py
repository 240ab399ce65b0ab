"""The assistants kato-tui reads. All that is known about one of them is in its own module and nowhere else."""
