"""Section on crashes: how long a server takes to start again, and which commits it has lost."""

from collections.abc import Iterator

from paribus.findings import ArmRecovery
from paribus.i18n import N_, gettext
from paribus.report.inputs import ReportInput
from paribus.report.section import findings_field, section
from paribus.report.view import numbers
from paribus.report.view.blocks import Place, WordTable
from paribus.units import show_duration

_NOTE = N_(
    "At the end of each trial the server was killed (SIGKILL) right after a second of commits, and started again. The "
    "system went on, so that only what the server had not yet written could be lost. A power cut may cost more."
)


@section(
    Place.OVERVIEW, 6, findings_field("recoveries", ArmRecovery, "of each arm: restarts after a crash, lost commits")
)
def recovery(report_input: ReportInput) -> Iterator[WordTable]:
    """A row for each arm under each workload."""
    if arms := report_input.of(ArmRecovery):
        yield WordTable(
            title=gettext("Crashes of the server"),
            note=gettext(_NOTE),
            head=(
                gettext("arm"), gettext("workload"), gettext("restart"), gettext("lost commits"), gettext("trials"),
            ),
            figures=(False, False, True, True, True),
            rows=tuple(
                (
                    f"{arm.factor} = {arm.arm}",
                    arm.workload,
                    numbers.estimate(arm.restart_s, show_duration),
                    gettext("{n} of {total}", n=f"{arm.lost:,}", total=f"{arm.acknowledged:,}"),
                    str(len(arm.trials)),
                )
                for arm in arms
            ),
        )  # fmt: skip
