"""Storage layouts: stacks of partitions, arrays, logical volumes and file systems on disks that a plan may destroy.

Pure: layouts and disks in, commands and geometry out. `trial.layouts` carries the commands out.
"""
