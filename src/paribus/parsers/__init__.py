"""Readers of other tools' output: each module knows one format and turns text into a `Log`, without I/O."""
