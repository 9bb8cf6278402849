"""Which trials, in which order, and how long they take."""
