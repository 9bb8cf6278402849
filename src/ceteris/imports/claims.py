"""What an author claims, read from TOML."""

from pathlib import Path
from typing import Any

from pydantic import Field

from ceteris.imports.form import Table, read_form
from ceteris.model import Claim


class ClaimTable(Table):
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
    aliases: dict[str, str] = Field(default={}, description="a level of the claim = that level as the tables have it")


class Claims(Table):
    """A file of claims."""

    claim: list[ClaimTable]


def read_claims(path: Path) -> list[Claim]:
    """The claims of a file. Raises UsageError and PlanError."""
    found = []
    for number, one in enumerate(read_form(path, Claims, "claims").claim, 1):
        fields: dict[str, Any] = one.model_dump() | {"id": one.id or str(number)}
        found.append(Claim(**fields | {"levels": tuple(one.levels), "tables": tuple(one.tables)}))
    return found
