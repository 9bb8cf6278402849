"""Verdicts from paired trials: effects, interim looks, assumptions, reasons."""
