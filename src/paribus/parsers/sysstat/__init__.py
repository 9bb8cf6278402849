"""Readers of iostat, mpstat and sar of sysstat, and vmstat of procps."""
