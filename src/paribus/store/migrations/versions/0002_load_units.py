"""What a load level counts: before there were open loops, operations outstanding.

Revision ID: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Say so of every load level there is."""
    for table in ("trial", "calibration"):
        unit = sa.Column("load_unit", sa.String, nullable=False, server_default="outstanding")
        op.add_column(table, unit)
