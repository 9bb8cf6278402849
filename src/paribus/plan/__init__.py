"""Plans: reading one, checking it against catalogue and host, and laying out its trials."""
