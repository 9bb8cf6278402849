"""Application of a trial within its block, and the time when its settings were in force.

Earlier trials each applied their settings anew: their application is their position.

Revision ID: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("trial", sa.Column("application", sa.Integer, nullable=False, server_default="1"))
    op.add_column("trial", sa.Column("applied", sa.Float))
    op.execute("UPDATE trial SET application = position")
