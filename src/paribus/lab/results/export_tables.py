"""Names and file formats of exported tables."""

from paribus.export.tables import TABLES, FileFormat, select_tables

__all__ = ["TABLES", "FileFormat", "select_tables"]
