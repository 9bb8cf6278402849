"""Records of the statements of a server: its slow query log and its statistics."""
