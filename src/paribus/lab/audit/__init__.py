"""Audit of a machine and its server: reading the facts, and the document of `paribus audit`."""
