"""Checks of a comparison: whether the assumptions behind its verdict hold."""
