"""A pragma of SQLite, which belongs to a connection or to the database file; the machine stays as it is.

Addresses: the pragma's name.
"""

import shlex

from paribus.knobs.kinds.kind import Holder, knob_kinds
from paribus.knobs.kinds.workload_parameter import ExternalKind
from paribus.model import Knob, Value

KIND = "pragma"
_IN_THE_FILE = ("page_size", "auto_vacuum", "journal_mode")


class PragmaKind(ExternalKind):
    """Set by the program that opens the database."""

    holder: Holder = "process"

    def set_by_hand(self, knob: Knob, value: Value) -> str:
        """The shell line that sets it in a database file; of what holds for one connection, the program's statement."""
        if knob.addresses[0] in _IN_THE_FILE:
            return shlex.join(["sqlite3", "FILE", f"PRAGMA {knob.addresses[0]} = {value}"])
        return f"PRAGMA {knob.addresses[0]} = {value};"

    def check_by_hand(self, knob: Knob) -> str:
        """The shell line that shows it, or the program's statement."""
        if knob.addresses[0] in _IN_THE_FILE:
            return shlex.join(["sqlite3", "FILE", f"PRAGMA {knob.addresses[0]}"])
        return f"PRAGMA {knob.addresses[0]};"

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """The statement for the program, or for the database file that keeps it."""
        pragma = f"PRAGMA {knob.addresses[0]} = {value};"
        if knob.addresses[0] in _IN_THE_FILE:
            return f"{pragma}  -- once: the database file keeps it; for page_size and auto_vacuum VACUUM after it"
        return f"{pragma}  -- in the program, each time it has opened the database"


knob_kinds.register(KIND, PragmaKind())
