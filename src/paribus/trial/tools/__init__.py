"""Loads of tools and commands of the user."""
