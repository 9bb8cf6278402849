"""Readers of the outputs of tools that make load."""
