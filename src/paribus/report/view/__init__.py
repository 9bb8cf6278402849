"""The view of an experiment or a comparison: worded and rounded, in no output format."""
