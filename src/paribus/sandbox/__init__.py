"""Virtual machines to try storage layouts in: disks of any kind, made of files, and nothing of the host at risk."""
