"""Section on the storage layouts: their layers, what they hold, and how much they write."""

from collections.abc import Iterator

from paribus.findings import LayoutUse
from paribus.i18n import N_, gettext
from paribus.report.inputs import ReportInput
from paribus.report.section import findings_field, section
from paribus.report.view.blocks import LayerStack, Place, WordTable
from paribus.units import show_size

_NOTE = N_(
    "The lowest layer comes first. Written: bytes that reached the disks for each byte that the load wrote, from the "
    "counters of the disks. Where the load does not count its bytes: for each byte written to the layout. I/Os: "
    "operations of the disks for each operation of the load. Of the best: throughput as a share of the fastest "
    "one's, the mean over the load levels; verdicts with intervals are above."
)
_CACHE_NOTE = N_(
    "Hits: the share of the cache's lookups, settling included. Dirty: what was not yet on the slower disks at the end "
    "of a trial; later trials on the same layout write it."
)
_UNKNOWN = "–"


@section(
    Place.OVERVIEW, 4, findings_field("layouts", LayoutUse, "of each layout: its layers, its capacity, its writes")
)
def layouts(report_input: ReportInput) -> Iterator[WordTable]:
    """A row for each layout or combination under each workload; the caches have a table of their own."""
    uses = report_input.of(LayoutUse)
    if uses:
        yield WordTable(
            title=gettext("Layouts"),
            note=gettext(_NOTE),
            head=(
                gettext("layout"), gettext("workload"), gettext("layers"), gettext("usable"),
                gettext("written"), gettext("I/Os"), gettext("of the best"),
            ),
            figures=(False, False, False, True, True, True, True),
            rows=tuple(
                (
                    use.level,
                    use.workload,
                    LayerStack((gettext("disks"), *(layer for layer in use.layers if layer != "raw"))),
                    _size(use.usable_bytes),
                    _ratio(use.written_per_byte),
                    _ratio(use.operations_per_operation),
                    _share(use.share_of_best),
                )
                for use in uses
            ),
        )  # fmt: skip
    if cached := [use for use in uses if use.cache_dirty_bytes is not None]:
        yield WordTable(
            title=gettext("Caches of layouts"),
            note=gettext(_CACHE_NOTE),
            head=(gettext("layout"), gettext("workload"), gettext("hits"), gettext("dirty")),
            figures=(False, False, True, True),
            rows=tuple(
                (use.level, use.workload, _share(use.cache_hit_share), _size(use.cache_dirty_bytes)) for use in cached
            ),
        )


def _size(value: float | None) -> str:
    return _UNKNOWN if value is None else show_size(value)


def _share(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value * 100:.0f} %"


def _ratio(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:.2f}"
