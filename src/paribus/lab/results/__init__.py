"""Results: reports, exports and comparisons."""
