"""iostat, mpstat and sar of sysstat, and vmstat of procps."""
