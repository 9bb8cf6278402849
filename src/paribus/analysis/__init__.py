"""From measurements to conclusions: pairs, effects, verdicts with their reasons."""
