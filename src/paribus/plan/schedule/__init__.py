"""Schedule of trials: their selection, their order and their duration."""
