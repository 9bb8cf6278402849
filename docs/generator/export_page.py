"""Page of the tables that `paribus export` writes."""

from generator.markdown import page, sentence, table
from generator.texts import export_columns, introduction
from paribus.export.tables import TABLES, ExportTable

_TYPES = {
    "integer": "whole number",
    "real": "number",
    "boolean": "true or false",
    "text": "text",
    "json": "JSON",
    "orders": "list of trials",
}
_CONTENTS = {
    "trials": "a row for each trial",
    "measurements": "a row for each metric of each trial",
    "series": "a row for each value of a metric over the time of a trial",
    "effects": "a row for each effect, over all load levels and at each",
    "cells": "a row for each mean of a metric of an arm at a load level",
    "points": "a row for each metric at a point of an I/O matrix",
    "looks": "a row for each interim analysis of a comparison",
    "changes": "a row for each setting that was applied for a trial",
}


def render() -> str:
    """Returns the page."""
    return page("Exported tables", introduction("export"), *map(_section, TABLES.values()))


def _section(exported: ExportTable) -> str:
    texts = export_columns()["common"] | export_columns()[exported.name]
    rows = [(f"`{column.name}`", _TYPES[column.type], texts[column.name]) for column in exported.columns]
    contents = sentence(_CONTENTS[exported.name])
    return "\n\n".join([f"## {exported.name}", contents, table(("column", "type", "meaning"), rows)])
