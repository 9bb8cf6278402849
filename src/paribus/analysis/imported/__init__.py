"""Judging runs that others made, and the claims about them."""
