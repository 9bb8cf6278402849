"""With how many degrees of freedom the noise of a host is known; of what was kept before, with none.

Revision ID: 0007
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make room for it."""
    op.add_column("calibration", sa.Column("freedom", sa.Integer, nullable=False, server_default="0"))
