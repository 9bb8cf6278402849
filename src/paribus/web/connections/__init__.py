"""Connections to the pages: who may open them, how many, how long, and how hostile ones are reported."""
