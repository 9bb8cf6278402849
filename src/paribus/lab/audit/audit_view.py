"""View of an audit in the current language, from its document."""

from collections.abc import Iterator

from paribus.audit import AdviceItem, AdviceSource, AdviceStatus, Evidence
from paribus.i18n import N_, gettext
from paribus.knobs.recipe import DANGERS
from paribus.lab.audit.auditing import AuditDocument, AuditedSetting
from paribus.report.view.audit_models import AdviceView, AuditGroup, AuditView, SettingView

_STATES = {
    AdviceStatus.CONTRADICTED: N_("contradicted by a measurement here"),
    AdviceStatus.DIFFERS: N_("differs"),
    AdviceStatus.AGREES: N_("agrees"),
    AdviceStatus.UNSPECIFIC: N_("no value"),
    AdviceStatus.OUTDATED: N_("outdated"),
    AdviceStatus.NOT_APPLICABLE: N_("does not apply"),
    AdviceStatus.NOT_READ: N_("not read"),
}
_EVIDENCE = {
    Evidence.MEASURED: N_("measured elsewhere"),
    Evidence.DOCUMENTATION: N_("documentation"),
    Evidence.ADVICE: N_("advice"),
}
_RISKS = {
    "durability": N_("Risk: it can lose the last commits in a crash."),
    "data_loss": N_("Risk: it can lose data."),
    "availability": N_("Risk: it can stop the service."),
}
_URGENT = (AdviceStatus.CONTRADICTED, AdviceStatus.DIFFERS)
_APPLYING = (*_URGENT, AdviceStatus.AGREES)


def audit_view(document: AuditDocument, *, everything: bool) -> AuditView:
    """The view: what differs in full, the rest by name; `everything` explains every advice."""
    server = f", {document.server}" if document.server else ""
    counts = {status: document.count(status) for status in AdviceStatus}
    headline = N_("{differing} settings differ from published advice, {agreeing} agree")
    differing = sum(counts[status] for status in _URGENT)
    groups = [_group(status, document, everything=everything) for status in AdviceStatus if counts[status]]
    all_advice = "" if everything else gettext("Every advice with its reason: --all.")
    return AuditView(
        title=gettext("Audit of {host}", host=document.host),
        machine=f"{document.host}, Linux {document.kernel}, {document.path}{server}",
        headline=gettext(headline, differing=differing, agreeing=counts[AdviceStatus.AGREES]),
        groups=tuple(groups),
        rows=tuple(_table(document)),
        footer=" ".join(filter(None, (all_advice, gettext("Nothing was changed.")))),
    )


def _group(status: AdviceStatus, document: AuditDocument, *, everything: bool) -> AuditGroup:
    settings = [setting for setting in document.settings if setting.advice.status is status]
    is_urgent = status in _URGENT
    is_explained = everything or is_urgent
    names = [] if is_explained or status is AdviceStatus.NOT_APPLICABLE else [each.advice.setting for each in settings]
    return AuditGroup(
        title=gettext(_STATES[status]),
        count=len(settings),
        is_urgent=is_urgent,
        settings=tuple(_setting(each, document, everything=everything) for each in settings if is_explained),
        names=tuple(names),
    )


def _setting(setting: AuditedSetting, document: AuditDocument, *, everything: bool) -> SettingView:
    advice = setting.advice
    now = gettext("not read") if advice.now is None else gettext("now {value}", value=advice.now)
    remarks = [
        gettext("the sources disagree") if advice.disagree else "",
        gettext(DANGERS[setting.danger]) if setting.danger in DANGERS else "",
    ]
    items = [item for item in advice.items if everything or item.status in _APPLYING]
    lines = [(gettext("to test"), setting.test), *((gettext("to set"), value.set) for value in setting.values)]
    lines += [(gettext("to check"), setting.check)]
    return SettingView(
        name=advice.setting,
        now=now,
        remarks=tuple(filter(None, remarks)),
        advice=tuple(_advice(item, document.sources[item.source]) for item in items),
        lines=tuple((title, line) for title, line in lines if line),
    )


def _advice(item: AdviceItem, source: AdviceSource) -> AdviceView:
    details = [
        item.why,
        item.reason,
        gettext("Its figures: {figures}.", figures=item.figures) if item.figures else "",
        gettext("Judged by Paribus: {judgement}.", judgement=item.judged) if item.judged else "",
        gettext(_RISKS[item.risk]) if item.risk else "",
        *(gettext("Measured here: {text}.", text=text) for text in item.measured),
    ]
    return AdviceView(
        advised=item.advised,
        state="" if item.status is AdviceStatus.DIFFERS else gettext(_STATES[item.status]),
        source=_cited(source),
        url=source.url if "://" in source.url else "",
        evidence=gettext(_EVIDENCE[item.evidence]),
        details=tuple(filter(None, details)),
    )


def _cited(source: AdviceSource) -> str:
    dated = ", ".join(filter(None, (source.product, source.date)))
    return f"{source.author}: {source.title}{f' ({dated})' if dated else ''}"


def _table(document: AuditDocument) -> Iterator[tuple[str, ...]]:
    """Titles, then a row for each advice that differs, with the lines that set and check it."""
    titles = (N_("setting"), N_("now"), N_("advised"), N_("by"), N_("to set"), N_("to check"))
    yield tuple(map(gettext, titles))
    for setting in document.settings:
        lines = {value.value: value.set for value in setting.values}
        for item in setting.advice.items:
            if item.status in _URGENT:
                by = _cited(document.sources[item.source])
                line = lines.get(item.value, "") if item.value is not None else ""
                yield setting.advice.setting, setting.advice.now or "", item.advised, by, line, setting.check
