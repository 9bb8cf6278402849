"""Contents of a report: the sections of all modules in `sections`, in the order of reading."""

import importlib
import pkgutil

from paribus.report import sections
from paribus.report.inputs import ReportInput
from paribus.report.section import registered
from paribus.report.view.blocks import Block, ItemList, Place

for _module in pkgutil.iter_modules(sections.__path__, f"{sections.__name__}."):
    importlib.import_module(_module.name)

SECTIONS = sorted(registered, key=lambda section: (section.place, section.position))


def blocks_at(place: Place, report_input: ReportInput) -> tuple[Block, ...]:
    """Return the blocks of all sections of a place; adjacent lists without a title become one."""
    blocks: list[Block] = []
    for block in (block for section in SECTIONS if section.place is place for block in section.blocks(report_input)):
        last = blocks[-1] if blocks else None
        if isinstance(block, ItemList) and isinstance(last, ItemList) and not block.title and not last.title:
            blocks[-1] = ItemList(items=last.items + block.items)
        else:
            blocks.append(block)
    return tuple(blocks)
