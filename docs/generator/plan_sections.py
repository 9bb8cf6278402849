"""Tables of a plan with their keys, read from the form of the plan and plan_sections.toml."""

import functools
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from generator.json_page import schema_of
from generator.schema_types import Schema
from generator.texts import plan_sections
from paribus.lab.schemas import plan_form
from paribus.plan.form.file import WorkloadTable
from paribus.registry import workload_kinds


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a plan: its name on the page, such as `fileio.mode`, its field and its schema."""

    name: str
    field: FieldInfo
    schema: Schema


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the plan; `prefix` begins the names of its keys, `header` is what it begins with in TOML."""

    prefix: str
    title: str
    introduction: str
    header: str
    model: type[BaseModel]
    fields: frozenset[str]

    def listed_keys(self) -> Iterator[Key]:
        """Yields the keys in the order of the form."""
        schema = schema_of("plan")
        properties = schema["$defs"].get(self.model.__name__, schema)["properties"]
        for name, field in self.model.model_fields.items():
            if name in self.fields:
                written = field.alias or name
                yield Key(f"{self.prefix}.{written}" if self.prefix else written, field, properties[written])


@functools.cache
def sections() -> tuple[Section, ...]:
    """Returns every table of a plan in the order of the page."""
    models = _models()
    oltp_kinds = ", ".join(f"`{kind}`" for kind in workload_kinds if kind.startswith("oltp_"))
    return tuple(
        Section(
            prefix=section["prefix"],
            title=section["title"],
            introduction=section["introduction"].replace("{oltp_kinds}", oltp_kinds),
            header=section["header"],
            model=models[section["model"]],
            fields=_fields(models[section["model"]], common=section.get("common", False)),
        )
        for section in plan_sections()
    )


def _fields(model: type[BaseModel], *, common: bool) -> frozenset[str]:
    """Returns the fields that a section lists: of a workload, those of every kind or those of its own kind."""
    if common:
        return frozenset(["kind", *WorkloadTable.model_fields])
    if issubclass(model, WorkloadTable):
        return frozenset(cast("type[BaseModel]", model.__bases__[0]).model_fields)  # the table of the kind
    return frozenset(model.model_fields)


@functools.cache
def _models() -> dict[str, type[BaseModel]]:
    """Returns every model that the form of a plan consists of, by name."""
    models: dict[str, type[BaseModel]] = {}
    pending: list[Any] = [plan_form()]
    while pending:
        annotation = pending.pop()
        if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
            if issubclass(annotation, BaseModel) and annotation.__name__ not in models:
                models[annotation.__name__] = annotation
                pending += [field.annotation for field in annotation.model_fields.values()]
        else:
            pending += typing.get_args(annotation)
    return models
