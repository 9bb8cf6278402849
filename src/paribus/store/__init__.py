"""Storage of experiments: summaries in columns, points and histograms as blobs.

A store is one SQLite file by default, or any database that SQLAlchemy reaches by URL. Rows are append-only except for
states. Tables and effects read columns only.
"""
