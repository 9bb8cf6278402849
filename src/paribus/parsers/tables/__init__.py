"""Readers of published tables: CSV, TSV, Markdown and aligned text."""
