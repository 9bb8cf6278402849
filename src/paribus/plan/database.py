"""Form of the table [database] of a plan: a file, a private server, or a running server that others use."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, field_validator, model_validator

from paribus.model import READY_S
from paribus.plan import dsn as dsns
from paribus.plan.form.table import Duration, Level, PathText, StrictTable


def _address(dsn: str) -> str:
    """Returns the dsn unchanged. Raises ValueError if it names no server or holds a password."""
    dsns.parse(dsn)
    return dsn


class DatabaseTable(StrictTable):
    """The database that workloads such as oltp_read_write work on."""

    kind: Literal["sqlite", "mariadb", "mysql", "percona", "postgres"] = Field(
        description="sqlite: a file below target.path, opened by the load engine itself; the others: a private server "
        "below target.path, with the programs of the target, started and removed with the experiment, or that of dsn"
    )
    program: PathText | None = Field(
        None, description="the server's program, mariadbd, mysqld or postgres; default: the one that is installed"
    )
    config: PathText | None = Field(
        None,
        description="a server's own file on this machine, my.cnf or postgresql.conf, whose settings are held in every "
        "trial, as far as a private server can have them",
    )
    ready: Duration = Field(
        READY_S,
        ge=1,
        description="how long a server may take from its start until it answers; one that recovers is slow",
    )
    restart_every: int = Field(
        4,
        ge=0,
        le=1000,
        description="blocks of a comparison between two starts of a private server, since an effect may differ from "
        "start to start; 0: one start, and verdicts are about it",
    )
    settings: dict[str, Level] = Field({}, description="its settings in every trial, as in [hold], without the prefix")
    dsn: Annotated[str, AfterValidator(_address)] | None = Field(
        None,
        description="a running server instead of a private one, as seen from the target, without a password: "
        "mysql://user@host:port/?tls=required, postgres://user@host/?socket=/run/postgresql",
    )
    password_env: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = Field(
        None,
        description="with dsn: the variable of the environment that has the password; default: MYSQL_PWD or PGPASSWORD",
    )
    password_file: PathText | None = Field(
        None, description="with dsn: the file on the target that has it; default: ~/.my.cnf, or PGPASSFILE or ~/.pgpass"
    )
    schema_: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,19}$")] = Field(
        "paribus", alias="schema", description="with dsn: what the names of the databases that are made begin with"
    )

    may_write: list[Annotated[str, StringConstraints(min_length=1, max_length=64)]] = Field(
        [],
        description="with dsn: existing databases whose rows a load may change for good, such as that of a TPC-C",
    )

    @field_validator("config")
    @classmethod
    def _full_path(cls, config: str | None) -> str | None:
        if config is not None and not config.startswith("/"):
            raise ValueError("config must be a full path, such as /etc/mysql/my.cnf")
        return config

    @model_validator(mode="after")
    def _reached(self) -> Self:
        if self.dsn is not None:
            dsns.refuse_other_kind(self.dsn, self.kind)
            if self.password_env and self.password_file:
                raise ValueError("password_env and password_file both name a password: keep one of them")
            if self.password_file and not self.password_file.startswith("/"):
                raise ValueError("password_file must be a full path on the target, such as /etc/paribus/password")
            if "restart_every" in self.model_fields_set:
                raise ValueError("restart_every is for a private server, and dsn for a running one: remove one of them")
            if self.config:
                raise ValueError("config is for a private server, and dsn for a running one: remove one of them")
            if self.program:
                raise ValueError("program is for a private server, and dsn for a running one: remove one of them")
        elif self.kind == "sqlite" and self.config:
            raise ValueError("config is for a server, and SQLite has none: remove it")
        elif self.kind == "sqlite" and "restart_every" in self.model_fields_set:
            raise ValueError("restart_every is for a server, and SQLite has none: remove it")
        elif misplaced := sorted(self.model_fields_set & {"password_env", "password_file", "schema_", "may_write"}):
            raise ValueError(f'{misplaced[0].rstrip("_")} is for a running server: add dsn = "…", or remove it')
        return self
