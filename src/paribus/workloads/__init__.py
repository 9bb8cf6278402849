"""Workload kinds: jobs for the engine, or runs of a tool. Each module registers its kinds."""

from paribus.workloads import command, fileio, fio, iomatrix, oltp, sqlmix, sysbench

__all__ = ["command", "fileio", "fio", "iomatrix", "oltp", "sqlmix", "sysbench"]
