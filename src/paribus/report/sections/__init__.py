"""The sections of a report: records in, view models out."""
