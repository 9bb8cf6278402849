"""A `sqlmix` workload like the statements that a server recorded."""
