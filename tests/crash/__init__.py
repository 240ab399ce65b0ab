"""Crashes, power cuts and faults: the harness, and the proofs made with it (docs/guarantees.md)."""
