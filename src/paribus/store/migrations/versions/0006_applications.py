"""Which application of its block a trial is part of, and when its settings were in force.

Earlier trials each applied their settings anew, so that their applications are their places.

Revision ID: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Make room for them."""
    op.add_column("trial", sa.Column("application", sa.Integer, nullable=False, server_default="1"))
    op.add_column("trial", sa.Column("applied", sa.Float))
    op.execute("UPDATE trial SET application = position")
