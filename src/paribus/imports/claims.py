"""Claims of an author, read from TOML."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from paribus.imports.toml_form import TomlTable, read_form
from paribus.model import Claim, Percentage


class PercentageTable(TomlTable):
    """A percentage."""

    start: str = Field(alias="from", description="a level as the tables have it")
    end: str = Field(alias="to")
    percent: str = Field(pattern=r"^[-+]?[0-9]+(\.[0-9]+)?$", description="as it is written: +37.1")
    factor: str = Field(default="", description="as the tables have it, or threads; else that of the claim")
    over: Literal["mean", "most", "least", "some", "each"] = "mean"
    load: float | None = Field(default=None, description="the load level that it is about")
    about: bool = Field(default=False, description="it says about")


class ClaimTable(TomlTable):
    """One claim."""

    id: str = ""
    factor: str = Field(min_length=1)
    claim: str = Field(min_length=1, description="better, worse, no_difference, ratio or recommend")
    statement: str = ""
    levels: list[str] = Field(default=[])
    workload: str = ""
    tables: list[str] = Field(default=[], description="what the names of its files begin with; none: all of the set")
    better_level: str = ""
    magnitude: str = ""
    recommended_value: str = ""
    keep: bool = Field(default=False, description="it recommends to leave things as they are")
    changes: list[PercentageTable] = Field(default=[], description="its percentages, which are held against the tables")
    aliases: dict[str, str] = Field(default={}, description="a level of the claim = that level as the tables have it")


class Claims(TomlTable):
    """A file of claims."""

    claim: list[ClaimTable]


def read_claims(path: Path) -> list[Claim]:
    """Return the claims of a file. Raises UsageError and PlanError."""
    claims = []
    for number, table in enumerate(read_form(path, Claims, "claims").claim, 1):
        fields: dict[str, Any] = table.model_dump() | {"id": table.id or str(number)}
        changes = tuple(Percentage(**change.model_dump()) for change in table.changes)
        claims.append(
            Claim(**fields | {"levels": tuple(table.levels), "tables": tuple(table.tables), "changes": changes})
        )
    return claims
