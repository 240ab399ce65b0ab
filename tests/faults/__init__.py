"""Errors of the system at every operation, disks that are full, and what people do to files meanwhile."""
