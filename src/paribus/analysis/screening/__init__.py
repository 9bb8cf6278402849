"""Screens: many factors from the same pairs."""
