"""Carrying out a plan: `walk` from the first trial to the verdicts, with interim analyses between blocks."""
