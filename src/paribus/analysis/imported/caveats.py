"""Caveats of a comparison of imported runs: reasons, and the assumptions that the files do not show."""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence

from paribus.analysis.imported.matched_runs import RunComparison
from paribus.i18n import N_, gettext
from paribus.model import Check
from paribus.model.run_conditions import IMPLIED, different_conditions
from paribus.stats.unpaired import RUN_TO_RUN_SD
from paribus.units import LoadLevel, parse_size

Conditions = Mapping[int, Mapping[str, str]]
"""Conditions of runs, by trial."""

NO_NOISE_FLOOR = N_("one run of each: no noise floor")
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


def checks_of(comparison: RunComparison, conditions: Conditions) -> tuple[Check, ...]:
    """Return the checks of a verdict's assumptions, as far as the files show them."""
    return (_repeated(comparison), _interleaved(), _only_the_setting(comparison, conditions))


def differences_of(comparison: RunComparison, conditions: Conditions) -> dict[str, tuple[str, str]]:
    """Return the conditions other than the setting that differ between the two at a load level, by name."""
    differing: dict[str, tuple[str, str]] = {}
    for first, second in _sides(comparison, conditions):
        for name, values in different_conditions(first, second).items():
            if not _is_setting(name, values, comparison):
                differing.setdefault(name, values)
    return differing


def _sides(comparison: RunComparison, conditions: Conditions) -> Iterator[tuple[dict[str, str], ...]]:
    """The conditions of the baseline and of the arm at each load level."""
    for level in comparison.matched:
        sides: list[dict[str, str]] = [{}, {}]
        for side, orders in zip(sides, level.trials, strict=True):
            for order in orders:
                side |= {name: value for name, value in conditions.get(order, {}).items() if name not in side}
        yield tuple(sides)


def _is_setting(name: str, values: tuple[str, str], comparison: RunComparison) -> bool:
    """Whether a condition is the compared setting: by its name, or since each level states its value."""
    levels = (comparison.baseline, comparison.arm)
    return comparison.factor.casefold().replace("_", "-") == name or all(map(_states, levels, values))


def _states(level: str, value: str) -> bool:
    with contextlib.suppress(ValueError):
        if f"{parse_size(level.removesuffix('B').removesuffix('i').upper()):.15g}" == value:
            return True
    return re.search(rf"(?<![\w.]){re.escape(value)}(?![\w.])", level.casefold()) is not None


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


def _only_the_setting(comparison: RunComparison, conditions: Conditions) -> Check:
    """Whether the tool was asked the same for both arms; unknown where the files do not show it."""
    differing = differences_of(comparison, conditions)
    if differing:
        differences = (f"{name} {' / '.join(values)}" for name, values in sorted(differing.items())[:_MAX_NAMES])
        message = N_("other things differ besides the setting: {differences}")
        return Check(gettext("options"), False, gettext(message, differences=gettext("; ").join(differences)))
    sides = list(_sides(comparison, conditions))
    if any((a.keys() & b.keys()) - IMPLIED - different_conditions(a, b).keys() for a, b in sides):
        return Check(gettext("options"), True, gettext("the tool had the same options"))
    return Check(gettext("options"), None, gettext("the options of the tool are unknown"))


def _loads(loads: Sequence[LoadLevel]) -> str:
    return ", ".join(load.figure for load in dict.fromkeys(loads))
