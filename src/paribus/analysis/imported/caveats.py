"""What must be said beside a comparison of runs that others made: why it is not decided, and what it takes on trust."""

from collections.abc import Mapping, Sequence

from paribus.analysis.imported.matched_runs import Comparison
from paribus.i18n import N_, gettext
from paribus.model import Check
from paribus.stats.unpaired import RUN_TO_RUN_SD
from paribus.units import LoadLevel

NO_NOISE_FLOOR = N_("one run of each: no noise floor")
_LOADS = {"threads", "num-threads", "clients", "connections", "iodepth", "numjobs", "jobs"}
_NAMES = {"table", "title"}
_MOST = 4


def reasons_of(one: Comparison) -> tuple[str, ...]:
    """What the estimate is from, and what it leaves out."""
    found = [_from(one)]
    if one.lone:
        found.append(gettext("only one of the two was measured at {loads}", loads=_loads(one.lone)))
    if one.worthless:
        found.append(gettext("a figure is zero or no number at {loads}", loads=_loads(one.worthless)))
    if len(one.counted) < len(one.met):
        said = N_("judged by {n} of {all} load levels, those with repetitions")
        found.append(gettext(said, n=len(one.counted), all=len(one.met)))
    return tuple(found)


def _from(one: Comparison) -> str:
    if one.known == "repetitions":
        fewest = min(min(map(len, met.trials)) for met in one.counted)
        return gettext("from {n} runs of each or more at each load level", n=fewest)
    if one.known == "lines":
        said = N_(
            "{none}; interval lines tell how well each mean is known, and runs of the same are taken to differ by {sd}"
        )
        return gettext(said, none=gettext(NO_NOISE_FLOOR), sd=f"{RUN_TO_RUN_SD * 100:.0f} %")
    if len(one.met) == 1:
        return gettext("{none}, and no interval from one load level", none=gettext(NO_NOISE_FLOOR))
    said = N_("{none}; the interval is the spread over {n} load levels, which is not noise")
    return gettext(said, none=gettext(NO_NOISE_FLOOR), n=len(one.met))


def checks_of(one: Comparison, options: Mapping[int, Mapping[str, str]]) -> tuple[Check, ...]:
    """What a verdict would assume, and whether the files show it."""
    return (_repeated(one), _interleaved(), _only_the_setting(one, options))


def _repeated(one: Comparison) -> Check:
    if one.known == "repetitions":
        return Check("repetition", True, gettext("runs were repeated"))
    return Check("repetition", False, gettext("without repetition nothing tells a setting from chance"))


def _interleaved() -> Check:
    said = N_("runs were not interleaved as far as the files tell: a drift of the machine would look like the setting")
    return Check("order", False, gettext(said))


def _only_the_setting(one: Comparison, options: Mapping[int, Mapping[str, str]]) -> Check:
    """Whether the tool was asked the same of both arms."""
    sides: list[dict[str, set[str]]] = []
    for side in (0, 1):
        asked: dict[str, set[str]] = {}
        for met in one.met:
            for order in met.trials[side]:
                for name, value in options.get(order, {}).items():
                    asked.setdefault(name, set()).add(value)
        sides.append(asked)
    shared = sides[0].keys() & sides[1].keys() - _LOADS - _NAMES - {one.factor}
    unlike = sorted(name for name in shared if sides[0][name] != sides[1][name])
    if not unlike:
        found = gettext("the tool was asked the same") if shared else gettext("what the tool was asked is not told")
        return Check("options", True, found)
    differences = (
        f"{name} {', '.join(sorted(sides[0][name]))} / {', '.join(sorted(sides[1][name]))}" for name in unlike[:_MOST]
    )
    said = N_("not the setting alone differs: {differences}")
    return Check("options", False, gettext(said, differences=gettext("; ").join(differences)))


def _loads(loads: Sequence[LoadLevel]) -> str:
    return ", ".join(load.figure for load in dict.fromkeys(loads))
