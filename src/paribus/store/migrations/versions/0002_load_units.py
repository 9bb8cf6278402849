"""Unit of load levels; before open loops, all counted operations outstanding.

Revision ID: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the unit columns."""
    for table in ("trial", "calibration"):
        unit = sa.Column("load_unit", sa.String, nullable=False, server_default="outstanding")
        op.add_column(table, unit)
