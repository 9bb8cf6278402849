"""Rollout of what an experiment recommends: a runbook, playbooks, and later verification."""
