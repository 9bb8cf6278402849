"""Purpose of the trials of a look: a factor is looked at in the screen and again in its confirmation.

Revision ID: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_COMPARISON = ["experiment", "factor", "arm", "workload", "response"]


def upgrade() -> None:
    """Add the column, and widen the unique index by it."""
    op.add_column("look", sa.Column("purpose", sa.String, nullable=False, server_default="compare"))
    op.drop_index("look_once", "look")
    op.create_index("look_once", "look", [*_COMPARISON, "purpose", "number"], unique=True)
