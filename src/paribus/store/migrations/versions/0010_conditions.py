"""Conditions that should be equal in all trials, by the digest that is the fingerprint of a trial.

Revision ID: 0010
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "conditions",
        sa.Column("digest", sa.String, primary_key=True),
        sa.Column("facts", sa.JSON, nullable=False),
    )
