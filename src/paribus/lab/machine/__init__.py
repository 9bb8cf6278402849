"""Questions to a machine and its servers."""
