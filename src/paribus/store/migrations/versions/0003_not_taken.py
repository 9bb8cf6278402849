"""Reason why a setting is not in force as wanted; unknown for earlier changes.

Revision ID: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column."""
    op.add_column("change", sa.Column("not_taken", sa.String))
