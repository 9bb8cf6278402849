"""Block devices, drives and mounts of a machine: what is there, what lies on what, who uses it. Nothing here writes."""
