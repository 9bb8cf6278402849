"""Overload of open loops: load levels where more was offered than served. A result, not a fault of the trial."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from paribus.i18n import N_, gettext
from paribus.model import ArmKey, Cell

_LEAST_SERVED = 0.98  # of the offered rate; the remainder may be in progress at the end of a window


def overloads(cells: Sequence[Cell]) -> Mapping[ArmKey, Sequence[str]]:
    """Return a sentence for each overloaded load level, by factor, workload and arm."""
    means = {(cell.factor, cell.workload, cell.arm, cell.load, cell.metric): cell.mean for cell in cells}
    messages: dict[ArmKey, list[str]] = defaultdict(list)
    for (factor, workload, arm, load, metric), offered in sorted(means.items(), key=lambda item: item[0][3]):
        achieved = means.get((factor, workload, arm, load, "throughput_per_s"))
        backlog = means.get((factor, workload, arm, load, "backlog_at_end"), 0.0)
        if metric == "offered_per_s" and achieved is not None and backlog > 0 and achieved < _LEAST_SERVED * offered:
            message = N_("{arm}: offered {offered:,.0f}/s, achieved {achieved:,.0f}/s: overloaded")
            messages[factor, workload, arm].append(gettext(message, arm=arm, offered=offered, achieved=achieved))
    return messages
