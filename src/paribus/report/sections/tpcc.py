"""Section on TPC-C: New-Orders per minute, the mix that was driven, and response times against their limits."""

from collections.abc import Iterator

from paribus.findings import ArmTpcc, KindFigures
from paribus.i18n import N_, gettext
from paribus.report.inputs import ReportInput
from paribus.report.section import findings_field, section
from paribus.report.view import numbers
from paribus.report.view.blocks import Place, WordTable
from paribus.units import show_duration

_NOTE = N_(
    "New-Orders that are rolled back as the specification has it count. These are no tpmC, which needs an audit and "
    "terminals that think. Skipped: deliveries of districts without a new order, over all trials."
)
_LOST_NOTE = N_("Lost: New-Orders that the server had acknowledged before it was killed, and did not have after it.")
_KINDS_NOTE = N_(
    "The share of all transactions, and the 90th percentile of response times; ! is beyond the limit of clause 5.2.5.3."
)
_NAMES = {
    "new_order": N_("New-Order"),
    "payment": N_("Payment"),
    "order_status": N_("Order-Status"),
    "delivery": N_("Delivery"),
    "stock_level": N_("Stock-Level"),
}


@section(Place.OVERVIEW, 7, findings_field("tpcc", ArmTpcc, "of each arm under TPC-C: New-Orders per minute, the mix"))
def tpcc(report_input: ReportInput) -> Iterator[WordTable]:
    """A row for each arm under each TPC-C workload at each load level, and one for each kind of transaction."""
    arms = report_input.of(ArmTpcc)
    if not arms:
        return
    kills = any(arm.lost is not None for arm in arms)
    lost_head = (gettext("lost"),) if kills else ()
    yield WordTable(
        title=gettext("TPC-C"),
        note=f"{gettext(_NOTE)} {gettext(_LOST_NOTE)}" if kills else gettext(_NOTE),
        head=(
            gettext("arm"), gettext("workload"), gettext("New-Orders / min"), gettext("skipped"), *lost_head,
            gettext("trials"),
        ),
        figures=(False, False, True, True, *(True for _ in lost_head), True),
        rows=tuple(
            (
                f"{arm.factor} = {arm.arm}",
                f"{arm.workload}, {arm.load}",
                numbers.estimate(arm.new_orders_per_minute, lambda value: f"{value:,.0f}"),
                f"{arm.skipped:,}",
                *(("–" if arm.lost is None else f"{arm.lost:,}",) if kills else ()),
                str(len(arm.trials)),
            )
            for arm in arms
        ),
    )  # fmt: skip
    yield WordTable(
        title=gettext("Transactions of TPC-C"),
        note=gettext(_KINDS_NOTE),
        head=(
            gettext("arm"), gettext("workload"), gettext("transaction"), gettext("share"), gettext("p90"),
            gettext("limit"),
        ),
        figures=(False, False, False, True, True, True),
        rows=tuple(_row(arm, figures) for arm in arms for figures in arm.kinds),
    )  # fmt: skip


def _row(arm: ArmTpcc, figures: KindFigures) -> tuple[str, ...]:
    mark = "!" if figures.p90_s.value > figures.limit_s else ""
    return (
        f"{arm.factor} = {arm.arm}",
        f"{arm.workload}, {arm.load}",
        gettext(_NAMES[figures.kind]),
        f"{figures.share:.1%}",
        f"{show_duration(figures.p90_s.value)}{mark}",
        show_duration(figures.limit_s),
    )
