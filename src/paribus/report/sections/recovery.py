"""Sections on crashes: restarts of a server and its lost commits, and what a guest flushed and would lose."""

from collections.abc import Iterator

from paribus.findings import ArmFlushes, ArmRecovery
from paribus.i18n import N_, gettext
from paribus.report.inputs import ReportInput
from paribus.report.section import findings_field, section
from paribus.report.view import numbers
from paribus.report.view.blocks import Place, WordTable
from paribus.units import show_duration, show_size

_NOTE = N_(
    "At the end of each trial the server was killed (SIGKILL) right after a second of commits, and started again. The "
    "system went on, so that only what the server had not yet written could be lost. A power cut may cost more."
)
_CUT_NOTE = N_(
    "Each trial ended with a second of commits. Then the file system was made to lose all that it had not written in "
    "that second, as at a power cut. The server was killed (SIGKILL), the file system mounted again, and "
    "the server started; both are in the restart. Spoilt is a server that did not start then, or found its tables "
    "damaged. A real power cut may take more: earlier writes that were not flushed, and what a volatile cache of a "
    "drive holds."
)
_FLUSH_NOTE = N_(
    "At the end of each trial the guest flushed 1 MiB, and was told that it is on the disk. A power cut of the "
    "hypervisor loses what was only in its memory then, and other flushes alike. A volatile cache of the drive below "
    "is not seen."
)


@section(
    Place.OVERVIEW, 6, findings_field("recoveries", ArmRecovery, "of each arm: restarts after a crash, lost commits")
)
def recovery(report_input: ReportInput) -> Iterator[WordTable]:
    """A row for each arm under each workload."""
    if arms := report_input.of(ArmRecovery):
        cut = arms[0].power_cut
        yield WordTable(
            title=gettext("Crashes of the server"),
            note=gettext(_CUT_NOTE if cut else _NOTE),
            head=(
                gettext("arm"), gettext("workload"), gettext("restart"), gettext("lost commits"),
                *([gettext("spoilt")] if cut else []), gettext("trials"),
            ),
            figures=(False, False, True, True, *([True] if cut else []), True),
            rows=tuple(
                (
                    f"{arm.factor} = {arm.arm}",
                    arm.workload,
                    "–" if arm.restart_s is None else numbers.estimate(arm.restart_s, show_duration),
                    gettext("{n} of {total}", n=f"{arm.lost:,}", total=f"{arm.acknowledged:,}"),
                    *([str(arm.spoilt)] if cut else []),
                    str(len(arm.trials)),
                )
                for arm in arms
            ),
        )  # fmt: skip


@section(
    Place.OVERVIEW, 8, findings_field("flushes", ArmFlushes, "of each arm: what a guest flushed, and where that ended")
)
def flushed(report_input: ReportInput) -> Iterator[WordTable]:
    """A row for each arm under each workload."""
    if arms := report_input.of(ArmFlushes):
        yield WordTable(
            title=gettext("Flushes of the guest"),
            note=gettext(_FLUSH_NOTE),
            head=(
                gettext("arm"), gettext("workload"), gettext("flushed"), gettext("only in memory"),
                gettext("trials with such bytes"),
            ),
            figures=(False, False, True, True, True),
            rows=tuple(
                (
                    f"{arm.factor} = {arm.arm}",
                    arm.workload,
                    show_size(arm.flushed_bytes),
                    show_size(arm.unwritten_bytes),
                    gettext("{n} of {total}", n=arm.exposed, total=len(arm.trials)),
                )
                for arm in arms
            ),
        )  # fmt: skip
