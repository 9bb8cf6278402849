"""Events in trials: what happens to a layout while the load runs, and what of it is measured."""
