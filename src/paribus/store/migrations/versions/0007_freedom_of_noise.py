"""Degrees of freedom of the noise of a host; none for earlier calibrations.

Revision ID: 0007
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the column."""
    op.add_column("calibration", sa.Column("freedom", sa.Integer, nullable=False, server_default="0"))
