"""Generators of the reference pages, one module for each page."""
