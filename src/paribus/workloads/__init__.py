"""Workloads: what load a plan can ask for, as jobs for the engine or runs of a tool. Each file registers its kinds."""

from paribus.workloads import command, fileio, fio, iomatrix, oltp, sqlmix, sysbench

__all__ = ["command", "fileio", "fio", "iomatrix", "oltp", "sqlmix", "sysbench"]
