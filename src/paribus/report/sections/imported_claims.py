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


def standing(verdict: Standing) -> str:
    """How a claim stands, in the language that is spoken."""
    return gettext(_WORDS[verdict])


def contradictions(breaches: Sequence[Breach]) -> WordTable:
    """What does not fit, contradictions first."""
    ordered = sorted(breaches, key=lambda breach: not breach.grave)
    grave = sum(breach.grave for breach in breaches)
    pattern = N_("{n} contradict each other; the other figures may be right, but are weaker evidence than they seem")
    return WordTable(
        title=gettext("Inconsistencies"),
        note=gettext(pattern, n=grave),
        head=(gettext("stated value, and the value implied by the others"), gettext("trials")),
        figures=(False, False),
        rows=tuple((breach.words, numbers.few(breach.cells)) for breach in ordered[:_MOST_LINES]),
        trials=(),
    )


def claims(claims_tested: Sequence[Tested]) -> WordTable:
    """Every claim, those first that the numbers contradict."""
    counts = [(sum(tested.standing is verdict for tested in claims_tested), verdict) for verdict in _ORDER]
    counts_text = gettext(", ").join(
        gettext("{n} {verdict}", n=n, verdict=standing(verdict)) for n, verdict in counts if n
    )
    ordered = sorted(claims_tested, key=lambda tested: _ORDER.index(tested.standing))
    return WordTable(
        title=gettext("Claims beside the numbers"),
        note=gettext(
            "{counts}; supported: the difference exceeds chance and the spread over load levels; "
            "weak: it is smaller; contradicted: it has the opposite sign",
            counts=counts_text,
        ),
        head=(gettext("claim"), gettext("states"), gettext("standing"), gettext("why"), gettext("numbers")),
        figures=(False, False, False, False, False),
        rows=tuple(
            (
                tested.claim.id,
                tested.claim.statement,
                standing(tested.standing),
                tested.reason,
                _figures(tested.evidence),
            )
            for tested in ordered
        ),
        trials=(),
    )


def _figures(evidence: Sequence[ClaimEvidence]) -> str:
    texts = (f"{pair.level}/{pair.other} {numbers.effect(pair.estimate, pair.low, pair.high)}" for pair in evidence[:4])
    suffix = f" … {len(evidence) - 4}" if len(evidence) > 4 else ""
    return gettext("; ").join(texts) + suffix


def files(sources: Sequence[Source], origins: Mapping[int, Origin]) -> list[WordTable]:
    """The files of a set, lines that no reader understood, and what is cut off."""
    of_source: dict[int, list[int]] = {}
    for origin in origins.values():
        of_source.setdefault(origin.source, []).append(origin.trial)
    rows = [
        (
            source.path,
            source.format,
            numbers.orders(of_source.get(source.number, [])),
            str(len(source.not_understood)) if source.not_understood else "",
            source.sha256[:_HASH],
        )
        for source in sources[:_MOST_FILES]
    ]
    omitted = len(sources) - len(rows)
    note = gettext("stored as read, without passwords, with a hash of the original bytes")
    if omitted > 0:
        note += gettext("; {n} more are not shown", n=omitted)
    head = (gettext("file"), gettext("format"), gettext("trials"), gettext("lines not understood"), "SHA-256")
    figures = (False, False, False, True, False)
    table = WordTable(title=gettext("Files"), note=note, head=head, figures=figures, rows=tuple(rows), trials=())
    return [table, *_remarks(sources), *_cut_off(sources, origins), *_lines(sources)]


def _remarks(sources: Sequence[Source]) -> list[WordTable]:
    rows = tuple((source.path, remark) for source in sources for remark in source.remarks)[:_MOST_LINES]
    if not rows:
        return []
    note = gettext("remarks of the parsers")
    head = (gettext("file"), gettext("remark"))
    return [WordTable(title=gettext("Remarks"), note=note, head=head, figures=(False, False), rows=rows, trials=())]


def _cut_off(sources: Sequence[Source], origins: Mapping[int, Origin]) -> list[WordTable]:
    paths = {source.number: source.path for source in sources}
    broken = [origin for origin in origins.values() if origin.missing]
    if not broken:
        return []
    rows = tuple(
        (str(origin.trial), f"{paths[origin.source]}:{origin.lines[0]}", origin.missing)
        for origin in broken[:_MOST_LINES]
    )
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


def _lines(sources: Sequence[Source]) -> list[WordTable]:
    lines = [(source.path, number, text) for source in sources for number, text in source.not_understood]
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
