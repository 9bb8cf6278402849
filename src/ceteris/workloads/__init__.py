"""Workloads: what load a plan can ask for, as jobs for the engine. Each file registers its kinds."""

from ceteris.workloads import fileio, iomatrix, oltp, sqlmix

__all__ = ["fileio", "iomatrix", "oltp", "sqlmix"]
