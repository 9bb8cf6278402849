"""Imported files as read, and the origin of each imported trial.

Revision ID: 0009
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "source",
        sa.Column("experiment", sa.String, sa.ForeignKey("experiment.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("sha256", sa.String, nullable=False),
        sa.Column("size_bytes", sa.Integer, nullable=False),
        sa.Column("format", sa.String, nullable=False),
        sa.Column("runs", sa.Integer, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("not_understood", sa.LargeBinary),
        sa.Column("remarks", sa.JSON, nullable=False),
    )
    op.create_index("source_once", "source", ["experiment", "sha256"], unique=True)
    op.create_table(
        "origin",
        sa.Column("experiment", sa.String, primary_key=True),
        sa.Column("trial", sa.Integer, primary_key=True),
        sa.Column("source", sa.Integer, nullable=False),
        sa.Column("first_line", sa.Integer, nullable=False),
        sa.Column("last_line", sa.Integer, nullable=False),
        sa.Column("missing", sa.Text, nullable=False),
        sa.Column("said", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(["experiment", "trial"], ["trial.experiment", "trial.order"]),
        sa.ForeignKeyConstraint(["experiment", "source"], ["source.experiment", "source.number"]),
    )
