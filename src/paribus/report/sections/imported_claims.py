"""What is said of a set beside its figures: claims with how they stand, and the files that it is from.

In: claims as tested, sources and origins. Out: tables of words. Called by the command line.
"""

from collections.abc import Mapping, Sequence

from paribus.findings import Breach
from paribus.i18n import N_, gettext
from paribus.model import ClaimEvidence, Origin, Source, Standing, Tested
from paribus.report.view import numbers
from paribus.report.view.explanation_models import WordTable

_ORDER = (Standing.CONTRADICTED, Standing.WEAK, Standing.SUPPORTED, Standing.UNTESTABLE)
_WORDS = {
    Standing.SUPPORTED: N_("supported"),
    Standing.WEAK: N_("weak"),
    Standing.CONTRADICTED: N_("contradicted"),
    Standing.UNTESTABLE: N_("untestable"),
}
_MOST_LINES = 200
_MOST_FILES = 500
_HASH = 12


def standing(one: Standing) -> str:
    """How a claim stands, in the language that is spoken."""
    return gettext(_WORDS[one])


def contradictions(found: Sequence[Breach]) -> WordTable:
    """What does not fit, contradictions first."""
    ordered = sorted(found, key=lambda one: not one.grave)
    grave = sum(one.grave for one in found)
    said = N_("{n} contradict each other; the other figures may be right, but are weaker evidence than they seem")
    return WordTable(
        title=gettext("Inconsistencies"),
        note=gettext(said, n=grave),
        head=(gettext("stated value, and the value implied by the others"), gettext("trials")),
        figures=(False, False),
        rows=tuple((one.words, numbers.few(one.cells)) for one in ordered[:_MOST_LINES]),
        trials=(),
    )


def claims(found: Sequence[Tested]) -> WordTable:
    """Every claim, those first that the numbers contradict."""
    counts = [(sum(one.standing is kind for one in found), kind) for kind in _ORDER]
    said = gettext(", ").join(gettext("{n} {verdict}", n=n, verdict=standing(kind)) for n, kind in counts if n)
    ordered = sorted(found, key=lambda one: _ORDER.index(one.standing))
    return WordTable(
        title=gettext("Claims beside the numbers"),
        note=gettext(
            "{counts}; supported: the difference exceeds chance and the spread over load levels; "
            "weak: it is smaller; contradicted: it has the opposite sign",
            counts=said,
        ),
        head=(gettext("claim"), gettext("states"), gettext("standing"), gettext("why"), gettext("numbers")),
        figures=(False, False, False, False, False),
        rows=tuple(
            (one.claim.id, one.claim.statement, standing(one.standing), one.reason, _figures(one.evidence))
            for one in ordered
        ),
        trials=(),
    )


def _figures(evidence: Sequence[ClaimEvidence]) -> str:
    shown = (f"{one.level}/{one.other} {numbers.effect(one.estimate, one.low, one.high)}" for one in evidence[:4])
    more = f" … {len(evidence) - 4}" if len(evidence) > 4 else ""
    return gettext("; ").join(shown) + more


def files(found: Sequence[Source], origins: Mapping[int, Origin]) -> list[WordTable]:
    """The files of a set, lines that no reader understood, and what is cut off."""
    of_source: dict[int, list[int]] = {}
    for origin in origins.values():
        of_source.setdefault(origin.source, []).append(origin.trial)
    rows = [
        (
            one.path,
            one.format,
            numbers.orders(of_source.get(one.number, [])),
            str(len(one.not_understood)) if one.not_understood else "",
            one.sha256[:_HASH],
        )
        for one in found[:_MOST_FILES]
    ]
    left = len(found) - len(rows)
    note = gettext("stored as read, without passwords, with a hash of the original bytes")
    if left > 0:
        note += gettext("; {n} more are not shown", n=left)
    head = (gettext("file"), gettext("format"), gettext("trials"), gettext("lines not understood"), "SHA-256")
    places = (False, False, False, True, False)
    shown = WordTable(title=gettext("Files"), note=note, head=head, figures=places, rows=tuple(rows), trials=())
    return [shown, *_remarks(found), *_cut_off(found, origins), *_lines(found)]


def _remarks(found: Sequence[Source]) -> list[WordTable]:
    rows = tuple((one.path, remark) for one in found for remark in one.remarks)[:_MOST_LINES]
    if not rows:
        return []
    note = gettext("remarks of the parsers")
    head = (gettext("file"), gettext("remark"))
    return [WordTable(title=gettext("Remarks"), note=note, head=head, figures=(False, False), rows=rows, trials=())]


def _cut_off(found: Sequence[Source], origins: Mapping[int, Origin]) -> list[WordTable]:
    paths = {one.number: one.path for one in found}
    broken = [one for one in origins.values() if one.missing]
    if not broken:
        return []
    rows = tuple((str(one.trial), f"{paths[one.source]}:{one.lines[0]}", one.missing) for one in broken[:_MOST_LINES])
    return [
        WordTable(
            title=gettext("Cut off"),
            note=gettext("runs with truncated text: the available part is used"),
            head=(gettext("trial"), gettext("where"), gettext("missing")),
            figures=(True, False, False),
            rows=rows,
            trials=(),
        )
    ]


def _lines(found: Sequence[Source]) -> list[WordTable]:
    lines = [(one.path, number, text) for one in found for number, text in one.not_understood]
    if not lines:
        return []
    note = gettext("{n:,} lines were not understood by any parser; none of their figures is used", n=len(lines))
    if len(lines) > _MOST_LINES:
        note += gettext("; the first {n:,}", n=_MOST_LINES)
    return [
        WordTable(
            title=gettext("Not understood"),
            note=note,
            head=(gettext("where"), gettext("line")),
            figures=(False, False),
            rows=tuple((f"{path}:{number}", text.strip()[:200]) for path, number, text in lines[:_MOST_LINES]),
            trials=(),
        )
    ]
