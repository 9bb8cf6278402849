"""Numbers of 64 bits where 32 are too few; SQLite's integers have 64 anyway.

Revision ID: 0012
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_COLUMNS = (("experiment", "seed"), ("measurement", "n"), ("drive_counter", "value"), ("source", "size_bytes"))


def upgrade() -> None:
    """Widen the columns."""
    if op.get_bind().dialect.name != "sqlite":
        for table, column in _COLUMNS:
            op.alter_column(table, column, type_=sa.BigInteger)
