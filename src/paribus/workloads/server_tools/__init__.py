"""Benchmark programs for database servers. A module of a kind registers it; all are imported here."""

from paribus.registry import import_modules

import_modules(__name__, __path__)
