"""What of the machine should be the same in all trials, by the digest that a trial has as its fingerprint.

Revision ID: 0010
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Make room for it."""
    op.create_table(
        "conditions",
        sa.Column("digest", sa.String, primary_key=True),
        sa.Column("facts", sa.JSON, nullable=False),
    )
