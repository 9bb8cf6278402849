"""Rollout of what an experiment recommends: applied to its machine, or a runbook, playbooks and later verification."""
