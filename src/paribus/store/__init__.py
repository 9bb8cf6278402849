"""Where experiments are kept: rows that are summed up in columns, points and histograms as blobs.

A store is one SQLite file by default, or any database SQLAlchemy reaches by URL. What is written is not
changed again, but for states. Tables and effects read columns only.
"""
