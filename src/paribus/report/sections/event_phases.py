"""Section on events in trials: what was left of the throughput in each phase, and how long the rebuild took."""

from collections.abc import Iterator, Sequence

from paribus.findings import ArmPhases, Estimate
from paribus.i18n import N_, gettext
from paribus.report.inputs import ReportInput
from paribus.report.section import findings_field, section
from paribus.report.view import numbers
from paribus.report.view.blocks import ItemList, ListItem, Place, Sparkline, WordTable
from paribus.units import show_duration, show_size

_NOTE = N_(
    "Throughput is the geometric mean over the trials, with its interval; the share is of the throughput before the "
    "first event. Stall: the longest response time of any trial in the phase."
)
_CHANGES_NOTE = N_(
    "Found in the course of each trial without its events, then matched to what began within 2 s. Changes of all "
    "trials that match nothing: {n}. The interval is over the trials."
)
_UNKNOWN = "–"
_NAMES = {
    "before": N_("before"),
    "degraded": N_("degraded"),
    "rebuilding": N_("rebuilding"),
    "rebuilt": N_("rebuilt"),
    "resyncing": N_("resyncing"),
    "resynced": N_("resynced"),
    "checking": N_("checking"),
    "checked": N_("checked"),
    "trimming": N_("trimming"),
    "trimmed": N_("trimmed"),
    "slow": N_("slow"),
    "recovered": N_("recovered"),
    "beside_job": N_("beside the job"),
    "after_job": N_("after the job"),
    "down": N_("without the server"),
    "restarted": N_("with the server back"),
}

_KEPT = {
    "degraded": N_("keeps {share} while degraded"),
    "rebuilding": N_("keeps {share} while rebuilding"),
    "rebuilt": N_("{share} once rebuilt"),
    "resyncing": N_("keeps {share} while resyncing"),
    "resynced": N_("{share} after the resync"),
    "checking": N_("keeps {share} while checking"),
    "checked": N_("{share} after the check"),
    "trimming": N_("keeps {share} while trimming"),
    "trimmed": N_("{share} after trimming"),
    "slow": N_("keeps {share} with a slow disk"),
    "recovered": N_("{share} once the disk is as before"),
    "beside_job": N_("keeps {share} beside the job"),
    "after_job": N_("{share} after the job"),
    "down": N_("{share} without the server"),
    "restarted": N_("{share} with the server back"),
}


@section(
    Place.OVERVIEW, 5, findings_field("event_phases", ArmPhases, "of each arm: its phases between events, and rebuilds")
)
def event_phases(report_input: ReportInput) -> Iterator[WordTable | ItemList]:
    """A table with a row for each phase of each arm, and the course of each arm."""
    arms = report_input.of(ArmPhases)
    if not arms:
        return
    yield WordTable(
        title=gettext("Phases of the trials"),
        note=gettext(_NOTE),
        head=(
            gettext("arm"), gettext("workload"), gettext("phase"), gettext("throughput, /s"), gettext("share"),
            gettext("stall"), gettext("trials"),
        ),
        figures=(False, False, False, True, True, True, True),
        rows=tuple(
            (
                f"{arm.factor} = {arm.arm}",
                f"{arm.workload}, {arm.load}",
                gettext(_NAMES[phase.phase]),
                _rate(phase.throughput),
                _share(phase.share),
                show_duration(phase.stall_s),
                str(phase.trials),
            )
            for arm in arms
            for phase in arm.phases
        ),
    )  # fmt: skip
    if any(arm.changes for arm in arms):
        yield _changes(arms)
    yield ItemList(title=gettext("Course of the trials"), items=tuple(map(_item, arms)))


def _changes(arms: Sequence[ArmPhases]) -> WordTable:
    """The changes that the courses show, whatever the times of the events."""
    others = sum(arm.unmatched for arm in arms)
    note = gettext(_CHANGES_NOTE, n=others)
    return WordTable(
        title=gettext("Changes of the level of throughput"),
        note=note,
        head=(
            gettext("arm"), gettext("workload"), gettext("beginning of"), gettext("trials"), gettext("after"),
            gettext("change"),
        ),
        figures=(False, False, False, True, True, True),
        rows=tuple(
            (
                f"{arm.factor} = {arm.arm}",
                f"{arm.workload}, {arm.load}",
                gettext(_NAMES[change.phase]),
                gettext("{n} of {trials}", n=change.seen, trials=change.trials),
                _UNKNOWN if change.delay_s is None else f"{change.delay_s:+.1f} s",
                _change(change.ratio),
            )
            for arm in arms
            for change in arm.changes
        ),
    )  # fmt: skip


def _change(ratio: Estimate | None) -> str:
    """A ratio of levels as a change in percent."""
    if ratio is None:
        return _UNKNOWN
    return numbers.estimate(ratio, lambda value: f"{numbers.signed((value - 1) * 100, 0)} %")


def _item(arm: ArmPhases) -> ListItem:
    """Return the throughput that an arm retained and its recovery times, with its time series."""
    subject = f"{arm.factor} = {arm.arm} ({arm.workload}, {arm.load})"
    parts = [gettext(_KEPT[phase.phase], share=_share(phase.share)) for phase in arm.phases if phase.share is not None]
    if arm.rebuild_s is not None:
        parts.append(gettext("the rebuild takes {time}", time=numbers.estimate(arm.rebuild_s, show_duration)))
    if arm.rebuilt_bytes is not None:
        size = numbers.estimate(arm.rebuilt_bytes, lambda value: show_size(round(value)))
        parts.append(gettext("{size} are written to the rebuilt disk meanwhile, by the load too", size=size))
    if arm.outage_s is not None:
        parts.append(gettext("the server is back after {time}", time=numbers.estimate(arm.outage_s, show_duration)))
    if arm.impaired_s is not None:
        parts.append(
            gettext("the throughput is as before after {time}", time=numbers.estimate(arm.impaired_s, show_duration))
        )
    if arm.impaired_s is not None and arm.impaired:
        parts.append(gettext("in {n} of {trials} it is not before the end", n=arm.impaired,
                             trials=numbers.count(len(arm.trials), "trial")))  # fmt: skip
    if arm.rebuilt < len(arm.trials) and any(phase.phase == "rebuilding" for phase in arm.phases):
        parts.append(gettext("in {n} of {trials} the rebuild did not end", n=len(arm.trials) - arm.rebuilt,
                             trials=numbers.count(len(arm.trials), "trial")))  # fmt: skip
    if arm.verified:
        parts.append(
            gettext("all data was read and was right after {trials}", trials=numbers.count(arm.verified, "trial"))
        )
    title = gettext("throughput of each second, from zero to the maximum, mean of the trials")
    return ListItem(
        text=f"{subject}: {'; '.join(parts)}",
        sparkline=Sparkline(title=title, values=arm.course) if arm.course else None,
    )


def _rate(estimate: Estimate) -> str:
    return numbers.estimate(estimate, lambda value: f"{value:,.0f}")


def _share(estimate: Estimate | None) -> str:
    return _UNKNOWN if estimate is None else numbers.estimate(estimate, lambda value: f"{value * 100:.0f} %")
