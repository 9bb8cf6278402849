"""Carrying out a plan: `walk` from the first trial to the judgement, `looks` on the way."""
