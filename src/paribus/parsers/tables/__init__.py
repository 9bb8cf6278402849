"""Published tables: CSV, TSV, Markdown and aligned text."""
