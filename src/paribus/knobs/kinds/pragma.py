"""A pragma of SQLite, which belongs to a connection or to the database file; the machine stays as it is.

Addresses: the pragma's name.
"""

from paribus.knobs.kinds.workload_parameter import Elsewhere
from paribus.model import Knob, Value
from paribus.registry import knob_kinds

KIND = "pragma"
_IN_THE_FILE = ("page_size", "auto_vacuum", "journal_mode")


class Pragma(Elsewhere):
    """Set by the program that opens the database."""

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """Where the program, or the database file, keeps it."""
        pragma = f"PRAGMA {knob.addresses[0]} = {value};"
        if knob.addresses[0] in _IN_THE_FILE:
            return f"{pragma}  -- once: the database file keeps it; for page_size and auto_vacuum VACUUM after it"
        return f"{pragma}  -- in the program, each time it has opened the database"


knob_kinds.register(KIND, Pragma())
