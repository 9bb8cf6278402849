"""Readers of fio 1.x to 3.x: JSON, normal and terse reports."""
