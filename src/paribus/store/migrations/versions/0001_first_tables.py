"""The first tables.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create every table of the first release."""
    op.create_table(
        "experiment",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("plan_digest", sa.String, nullable=False),
        sa.Column("plan_text", sa.Text, nullable=False),
        sa.Column("plan", sa.JSON, nullable=False),
        sa.Column("overrides", sa.JSON, nullable=False),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("schedule_hash", sa.String, nullable=False),
        sa.Column("rounds", sa.Integer, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("started", sa.Float, nullable=False),
        sa.Column("ended", sa.Float),
        sa.Column("versions", sa.JSON, nullable=False),
        sa.Column("fingerprint", sa.JSON, nullable=False),
        sa.Column("notes", sa.JSON, nullable=False),
    )
    op.create_table(
        "trial",
        sa.Column("experiment", sa.String, sa.ForeignKey("experiment.id"), primary_key=True),
        sa.Column("order", sa.Integer, primary_key=True),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("block", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("factor", sa.String, nullable=False),
        sa.Column("arm", sa.String, nullable=False),
        sa.Column("baseline", sa.Integer, nullable=False),
        sa.Column("purpose", sa.String, nullable=False),
        sa.Column("settings", sa.JSON, nullable=False),
        sa.Column("workload", sa.String, nullable=False),
        sa.Column("load", sa.Integer, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("started", sa.Float),
        sa.Column("ended", sa.Float),
        sa.Column("fingerprint", sa.String, nullable=False),
        sa.Column("invalid_because", sa.JSON, nullable=False),
        sa.Column("failure", sa.String),
        sa.Column("failure_message", sa.Text, nullable=False),
        sa.Column("supersedes", sa.Integer),
    )
    op.create_table(
        "change",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("experiment", sa.String, nullable=False),
        sa.Column("trial", sa.Integer, nullable=False),
        sa.Column("knob", sa.String, nullable=False),
        sa.Column("address", sa.String, nullable=False),
        sa.Column("before", sa.JSON, nullable=False),
        sa.Column("wanted", sa.JSON, nullable=False),
        sa.Column("observed", sa.JSON),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("refused", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["experiment", "trial"], ["trial.experiment", "trial.order"]),
    )
    op.create_index("change_of_trial", "change", ["experiment", "trial"])
    op.create_table(
        "measurement",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("experiment", sa.String, nullable=False),
        sa.Column("trial", sa.Integer, nullable=False),
        sa.Column("phase", sa.String, nullable=False),
        sa.Column("metric", sa.String, nullable=False),
        sa.Column("unit", sa.String, nullable=False),
        sa.Column("source", sa.String, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("mean", sa.Float, nullable=False),
        sa.Column("low", sa.Float, nullable=False),
        sa.Column("high", sa.Float, nullable=False),
        sa.Column("total", sa.Float, nullable=False),
        sa.Column("start_s", sa.Float),
        sa.Column("step_s", sa.Float),
        sa.Column("points", sa.LargeBinary),
        sa.Column("histogram", sa.LargeBinary),
        sa.ForeignKeyConstraint(["experiment", "trial"], ["trial.experiment", "trial.order"]),
    )
    op.create_index(
        "measurement_of_trial", "measurement", ["experiment", "trial", "phase", "metric", "source"], unique=True
    )
    op.create_table(
        "look",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("experiment", sa.String, sa.ForeignKey("experiment.id"), nullable=False),
        sa.Column("factor", sa.String, nullable=False),
        sa.Column("arm", sa.String, nullable=False),
        sa.Column("workload", sa.String, nullable=False),
        sa.Column("response", sa.String, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("pairs", sa.Integer, nullable=False),
        sa.Column("alpha_spent", sa.Float, nullable=False),
        sa.Column("low", sa.Float, nullable=False),
        sa.Column("high", sa.Float, nullable=False),
        sa.Column("estimate", sa.Float, nullable=False),
    )
    op.create_index("look_once", "look", ["experiment", "factor", "arm", "workload", "response", "number"], unique=True)
    op.create_table(
        "calibration",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("host", sa.String, nullable=False),
        sa.Column("workload", sa.String, nullable=False),
        sa.Column("load", sa.Integer, nullable=False),
        sa.Column("settle_s", sa.Float, nullable=False),
        sa.Column("pair_sd", sa.Float, nullable=False),
        sa.Column("made", sa.Float, nullable=False),
        sa.Column("expires", sa.Float, nullable=False),
    )
    op.create_index("calibration_of_host", "calibration", ["host", "workload", "load"])
