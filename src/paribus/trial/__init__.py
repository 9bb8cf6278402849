"""Trials: the state machine of a trial, its execution on a target, and its validity."""
