"""Error counters of the drives at each reading.

Revision ID: 0008
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "drive_counter",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("experiment", sa.String, sa.ForeignKey("experiment.id"), nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("value", sa.Integer, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )
    op.create_index("drive_counter_of_experiment", "drive_counter", ["experiment"])
