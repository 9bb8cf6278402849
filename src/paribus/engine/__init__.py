"""The load engine: finding the binary, the words exchanged with it, and running one of it."""
