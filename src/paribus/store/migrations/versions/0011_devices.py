"""Identity of each block device of an experiment: its name can pass to another device.

Revision ID: 0011
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "device",
        sa.Column("experiment", sa.String, sa.ForeignKey("experiment.id"), primary_key=True),
        sa.Column("path", sa.String, primary_key=True),
        sa.Column("identity", sa.JSON, nullable=False),
    )
