"""What became of a setting that is not in force as wanted; of earlier ones it is not known.

Revision ID: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make room for it."""
    op.add_column("change", sa.Column("not_taken", sa.String))
