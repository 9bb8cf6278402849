"""Checks of a parsed plan, one module for each subject: complaints with a place, a cause and a remedy."""
