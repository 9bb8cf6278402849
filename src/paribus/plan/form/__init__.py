"""The text of a plan: its form, its lines and its mistakes."""
