"""The kinds of knobs: how each is located, read and written. A module of a kind registers it; all are imported here."""

from paribus.knobs.kinds.kind import NOT_APPLIED, KnobKind, knob_kinds
from paribus.registry import import_modules

__all__ = ["NOT_APPLIED", "KnobKind", "knob_kinds"]

import_modules(__name__, __path__)
