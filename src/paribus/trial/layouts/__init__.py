"""Storage layouts during an experiment: built, counted, taken apart."""
