"""Trials: what one goes through, carrying it out on a target, and whether it may be used."""
