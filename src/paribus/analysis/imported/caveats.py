"""Caveats of a comparison of imported runs: reasons, and the assumptions that the files do not show."""

from collections.abc import Mapping, Sequence

from paribus.analysis.imported.matched_runs import RunComparison
from paribus.i18n import N_, gettext
from paribus.model import Check
from paribus.stats.unpaired import RUN_TO_RUN_SD
from paribus.units import LoadLevel

NO_NOISE_FLOOR = N_("one run of each: no noise floor")
_LOADS = {"threads", "num-threads", "clients", "connections", "iodepth", "numjobs", "jobs"}
_NAMES = {"table", "title"}
_MAX_NAMES = 4


def reasons_of(comparison: RunComparison) -> tuple[str, ...]:
    """Return what the estimate is based on, and what it leaves out."""
    reasons = [_from(comparison)]
    if comparison.unmatched:
        reasons.append(gettext("only one of the two was measured at {loads}", loads=_loads(comparison.unmatched)))
    if comparison.unusable:
        reasons.append(gettext("a figure is zero or no number at {loads}", loads=_loads(comparison.unusable)))
    if len(comparison.judged) < len(comparison.matched):
        message = N_("judged by {n} of {all} load levels, those with repetitions")
        reasons.append(gettext(message, n=len(comparison.judged), all=len(comparison.matched)))
    return tuple(reasons)


def _from(comparison: RunComparison) -> str:
    if comparison.variance_source == "repetitions":
        fewest = min(min(map(len, level.trials)) for level in comparison.judged)
        return gettext("from {n} runs of each or more at each load level", n=fewest)
    if comparison.variance_source == "lines":
        message = N_(
            "{none}; interval lines show the precision of each mean, and identical runs are assumed to differ by {sd}"
        )
        return gettext(message, none=gettext(NO_NOISE_FLOOR), sd=f"{RUN_TO_RUN_SD * 100:.0f} %")
    if len(comparison.matched) == 1:
        return gettext("{none}; one load level gives no interval", none=gettext(NO_NOISE_FLOOR))
    message = N_("{none}; the interval is the spread over {n} load levels, which is not noise")
    return gettext(message, none=gettext(NO_NOISE_FLOOR), n=len(comparison.matched))


def checks_of(comparison: RunComparison, options: Mapping[int, Mapping[str, str]]) -> tuple[Check, ...]:
    """Return the checks of a verdict's assumptions, as far as the files show them."""
    return (_repeated(comparison), _interleaved(), _only_the_setting(comparison, options))


def _repeated(comparison: RunComparison) -> Check:
    if comparison.variance_source == "repetitions":
        return Check(gettext("repetition"), True, gettext("runs were repeated"))
    return Check(
        gettext("repetition"),
        False,
        gettext("without repetition, the effect of a setting cannot be separated from chance"),
    )


def _interleaved() -> Check:
    message = N_(
        "runs were not interleaved as far as the files tell: a drift of the machine would look like the setting"
    )
    return Check(gettext("order"), False, gettext(message))


def _only_the_setting(comparison: RunComparison, options: Mapping[int, Mapping[str, str]]) -> Check:
    """Whether the tool ran with the same options for both arms."""
    sides: list[dict[str, set[str]]] = []
    for side in (0, 1):
        values_by_option: dict[str, set[str]] = {}
        for level in comparison.matched:
            for order in level.trials[side]:
                for name, value in options.get(order, {}).items():
                    values_by_option.setdefault(name, set()).add(value)
        sides.append(values_by_option)
    shared = sides[0].keys() & sides[1].keys() - _LOADS - _NAMES - {comparison.factor}
    differing = sorted(name for name in shared if sides[0][name] != sides[1][name])
    if not differing:
        text = gettext("the tool had the same options") if shared else gettext("the options of the tool are unknown")
        return Check(gettext("options"), True, text)
    differences = (
        f"{name} {', '.join(sorted(sides[0][name]))} / {', '.join(sorted(sides[1][name]))}"
        for name in differing[:_MAX_NAMES]
    )
    message = N_("other things differ besides the setting: {differences}")
    return Check(gettext("options"), False, gettext(message, differences=gettext("; ").join(differences)))


def _loads(loads: Sequence[LoadLevel]) -> str:
    return ", ".join(load.figure for load in dict.fromkeys(loads))
