"""A pragma of SQLite, which belongs to a connection or to the database file; the machine stays as it is.

Addresses: the pragma's name.
"""

from ceteris.knobs.kinds.elsewhere import Elsewhere
from ceteris.registry import knob_kinds

KIND = "pragma"


knob_kinds.register(KIND, Elsewhere())
