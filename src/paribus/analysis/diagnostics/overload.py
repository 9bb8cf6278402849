"""Where an open loop offered more than was served: a result to be told beside the effect, and no fault of a trial.

In: cell means. Out: sentences by factor, workload and arm. Called by the judge.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from paribus.i18n import N_, gettext
from paribus.model import Cell

Place = tuple[str, str, str]
_KEPT_UP = 0.98  # of what was offered; the rest of a window is what was under way at its end


def overloads(cells: Sequence[Cell]) -> Mapping[Place, Sequence[str]]:
    """For each factor, workload and arm, the load levels at which it fell behind."""
    means = {(c.factor, c.workload, c.arm, c.load, c.metric): c.mean for c in cells}
    found: dict[Place, list[str]] = defaultdict(list)
    for (factor, workload, arm, load, metric), offered in sorted(means.items(), key=lambda item: item[0][3]):
        achieved = means.get((factor, workload, arm, load, "throughput_per_s"))
        owed = means.get((factor, workload, arm, load, "backlog_at_end"), 0.0)
        if metric == "offered_per_s" and achieved is not None and owed > 0 and achieved < _KEPT_UP * offered:
            said = N_("{arm}: offered {offered:,.0f}/s, achieved {achieved:,.0f}/s: overloaded")
            found[factor, workload, arm].append(gettext(said, arm=arm, offered=offered, achieved=achieved))
    return found
