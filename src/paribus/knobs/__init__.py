"""Knobs: what can be set on a machine, how it is read back, and how it is restored."""
