"""Offered and served rates of open loops. Overload is a result, not a fault; a served rate hides what is left."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from paribus.analysis.paired.effects import PairSeries
from paribus.i18n import N_, gettext
from paribus.model import RATES, SLOW_SECONDS, ArmKey, Cell

_LEAST_SERVED = 0.98  # of the offered rate; the remainder may be in progress at the end of a window
_LEAST_CAPPED = 0.1  # of the trials
_HIDING = (*RATES, SLOW_SECONDS)


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


def hidden_capacity(series: PairSeries) -> str:
    """Return what a comparison of rates cannot show, since its trials were served all that was asked for.

    Empty for responses that are no rates, closed loops, and where fewer than a tenth of the trials were.
    """
    shares = [share for pair in series.pairs for share in pair.served] if series.response in _HIDING else []
    served_all = sum(share >= _LEAST_SERVED for share in shares)
    if served_all == 0 or served_all < _LEAST_CAPPED * len(shares):
        return ""
    message = N_(
        "{n} of {trials} trials delivered the rate that was asked for: throughput does not show what the machine "
        "could deliver beyond it; judge the response time too, or ask for more"
    )
    return gettext(message, n=served_all, trials=len(shares))
