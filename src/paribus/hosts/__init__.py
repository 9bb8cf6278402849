"""The target: reading and writing its files, running its programs. Nothing else starts a process."""
