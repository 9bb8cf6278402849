"""Verdict of a look; earlier looks, one per comparison, decided at the end.

Revision ID: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the column."""
    op.add_column("look", sa.Column("verdict", sa.String))
