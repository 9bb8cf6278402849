"""What the trials looked at were made for: a factor is looked at in a screen, and again when that is confirmed.

Revision ID: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_PLACE = ["experiment", "factor", "arm", "workload", "response"]


def upgrade() -> None:
    """Make room for it."""
    op.add_column("look", sa.Column("purpose", sa.String, nullable=False, server_default="compare"))
    op.drop_index("look_once", "look")
    op.create_index("look_once", "look", [*_PLACE, "purpose", "number"], unique=True)
