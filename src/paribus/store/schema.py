"""Current database schema; migrations/ upgrades older stores to it."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

from paribus.store.message_column import StoredMessages

metadata = MetaData()
_LARGE = Integer().with_variant(BigInteger(), "postgresql")  # SQLite's integers have 64 bits anyway

experiment = Table(
    "experiment",
    metadata,
    Column("id", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("plan_digest", String, nullable=False),
    Column("plan_text", Text, nullable=False),
    Column("plan", JSON, nullable=False),
    Column("overrides", JSON, nullable=False),
    Column("seed", _LARGE, nullable=False),
    Column("schedule_hash", String, nullable=False),
    Column("rounds", Integer, nullable=False),
    Column("state", String, nullable=False),
    Column("started", Float, nullable=False),
    Column("ended", Float),
    Column("versions", JSON, nullable=False),
    Column("fingerprint", JSON, nullable=False),
    Column("notes", StoredMessages, nullable=False),
)

trial = Table(
    "trial",
    metadata,
    Column("experiment", String, ForeignKey("experiment.id"), primary_key=True),
    Column("order", Integer, primary_key=True),
    Column("round", Integer, nullable=False),
    Column("block", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("factor", String, nullable=False),
    Column("arm", String, nullable=False),
    Column("baseline", Integer, nullable=False),
    Column("purpose", String, nullable=False),
    Column("settings", JSON, nullable=False),
    Column("workload", String, nullable=False),
    Column("load", Integer, nullable=False),
    Column("load_unit", String, nullable=False, server_default="outstanding"),
    Column("state", String, nullable=False),
    Column("started", Float),
    Column("ended", Float),
    Column("fingerprint", String, nullable=False),
    Column("invalid_because", StoredMessages, nullable=False),
    Column("failure", String),
    Column("failure_message", Text, nullable=False),
    Column("supersedes", Integer),
    Column("application", Integer, nullable=False, server_default="1"),
    Column("applied", Float),
)

conditions = Table(
    "conditions",
    metadata,
    Column("digest", String, primary_key=True),
    Column("facts", JSON, nullable=False),
)

change = Table(
    "change",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("experiment", String, nullable=False),
    Column("trial", Integer, nullable=False),
    Column("knob", String, nullable=False),
    Column("address", String, nullable=False),
    Column("before", JSON, nullable=False),
    Column("wanted", JSON, nullable=False),
    Column("observed", JSON),
    Column("state", String, nullable=False),
    Column("refused", Text, nullable=False),
    Column("not_taken", String),
    ForeignKeyConstraint(["experiment", "trial"], ["trial.experiment", "trial.order"]),
    Index("change_of_trial", "experiment", "trial"),
)

measurement = Table(
    "measurement",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("experiment", String, nullable=False),
    Column("trial", Integer, nullable=False),
    Column("phase", String, nullable=False),
    Column("metric", String, nullable=False),
    Column("unit", String, nullable=False),
    Column("source", String, nullable=False),
    Column("n", _LARGE, nullable=False),
    Column("mean", Float, nullable=False),
    Column("low", Float, nullable=False),
    Column("high", Float, nullable=False),
    Column("total", Float, nullable=False),
    Column("start_s", Float),
    Column("step_s", Float),
    Column("points", LargeBinary),
    Column("histogram", LargeBinary),
    ForeignKeyConstraint(["experiment", "trial"], ["trial.experiment", "trial.order"]),
    Index("measurement_of_trial", "experiment", "trial", "phase", "metric", "source", unique=True),
)

look = Table(
    "look",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("experiment", String, ForeignKey("experiment.id"), nullable=False),
    Column("factor", String, nullable=False),
    Column("arm", String, nullable=False),
    Column("workload", String, nullable=False),
    Column("response", String, nullable=False),
    Column("number", Integer, nullable=False),
    Column("pairs", Integer, nullable=False),
    Column("alpha_spent", Float, nullable=False),
    Column("low", Float, nullable=False),
    Column("high", Float, nullable=False),
    Column("estimate", Float, nullable=False),
    Column("verdict", String),
    Column("purpose", String, nullable=False, server_default="compare"),
    Index("look_once", "experiment", "factor", "arm", "workload", "response", "purpose", "number", unique=True),
)

calibration = Table(
    "calibration",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("host", String, nullable=False),
    Column("workload", String, nullable=False),
    Column("load", Integer, nullable=False),
    Column("load_unit", String, nullable=False, server_default="outstanding"),
    Column("settle_s", Float, nullable=False),
    Column("pair_sd", Float, nullable=False),
    Column("made", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Column("freedom", Integer, nullable=False, server_default="0"),
    Index("calibration_of_host", "host", "workload", "load"),
)

drive_counter = Table(
    "drive_counter",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("experiment", String, ForeignKey("experiment.id"), nullable=False),
    Column("name", String, nullable=False),
    Column("value", _LARGE, nullable=False),
    Column("at", Float, nullable=False),
    Index("drive_counter_of_experiment", "experiment"),
)

device = Table(
    "device",
    metadata,
    Column("experiment", String, ForeignKey("experiment.id"), primary_key=True),
    Column("path", String, primary_key=True),
    Column("identity", JSON, nullable=False),
)

source = Table(
    "source",
    metadata,
    Column("experiment", String, ForeignKey("experiment.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("path", Text, nullable=False),
    Column("sha256", String, nullable=False),
    Column("size_bytes", _LARGE, nullable=False),
    Column("format", String, nullable=False),
    Column("runs", Integer, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("not_understood", LargeBinary),
    Column("remarks", JSON, nullable=False),
    Index("source_once", "experiment", "sha256", unique=True),
)

origin = Table(
    "origin",
    metadata,
    Column("experiment", String, primary_key=True),
    Column("trial", Integer, primary_key=True),
    Column("source", Integer, nullable=False),
    Column("first_line", Integer, nullable=False),
    Column("last_line", Integer, nullable=False),
    Column("missing", Text, nullable=False),
    Column("said", LargeBinary, nullable=False),
    ForeignKeyConstraint(["experiment", "trial"], ["trial.experiment", "trial.order"]),
    ForeignKeyConstraint(["experiment", "source"], ["source.experiment", "source.number"]),
)
