"""Factors with more levels than tables and charts can show, as in sets of other people's results.

In: the input of one comparison. Out: the same with the arms that differ most, and words about the others.
"""

from collections import defaultdict
from dataclasses import replace

from paribus.i18n import N_, gettext
from paribus.report.inputs import ReportInput

MOST_ARMS = 32
"""Arms beside the baseline: as many as a factor of a plan may have."""
_OTHERS = N_(
    "of {n:,} levels, tables and charts have the {shown} that differ most; the export and the JSON document have all"
)


def with_fewer_arms(comparison: ReportInput) -> tuple[ReportInput, tuple[str, ...]]:
    """Return the input with at most `MOST_ARMS` compared arms, and a sentence where others are left out."""
    baselines = set(comparison.baselines)
    compared = [arm for arm in comparison.arms if arm not in baselines]
    if len(compared) <= MOST_ARMS:
        return comparison, ()
    size: defaultdict[str, float] = defaultdict(float)
    for effect in comparison.effects:
        if effect.load is None:
            size[effect.arm] = max(size[effect.arm], abs(effect.estimate))
    visible = baselines | set(sorted(compared, key=lambda arm: -size[arm])[:MOST_ARMS])
    fewer = replace(
        comparison,
        trials=[trial for trial in comparison.trials if trial.arm in visible],
        effects=[effect for effect in comparison.effects if effect.arm in visible],
        cells=[cell for cell in comparison.cells if cell.arm in visible],
        findings=[
            finding for finding in comparison.findings if getattr(finding, "arm", next(iter(visible))) in visible
        ],
        arms=tuple(arm for arm in comparison.arms if arm in visible),
    )
    return fewer, (gettext(_OTHERS, n=len(compared), shown=MOST_ARMS),)
