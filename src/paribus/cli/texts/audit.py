"""The document of `paribus audit` as text, and as a Markdown table."""

from collections.abc import Iterator

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from paribus.lab.audit.auditing import AdviceItem, AdviceSource, AdviceStatus, AuditDocument, AuditedSetting
from paribus.lab.machine.knob_queries import DANGERS

_STYLES = {AdviceStatus.CONTRADICTED: "red bold", AdviceStatus.DIFFERS: "yellow bold", AdviceStatus.AGREES: "green"}
_IN_FULL = (AdviceStatus.CONTRADICTED, AdviceStatus.DIFFERS)
_APPLYING = (*_IN_FULL, AdviceStatus.AGREES)
_RISKS = {
    "durability": "following it can lose the last commits in a crash",
    "data_loss": "following it can lose data",
    "availability": "following it can stop the service",
}


def show(document: AuditDocument, console: Console, *, everything: bool) -> None:
    """Print the document for a person: what differs in full; the rest by name, or in full too."""
    server = f", {document.server}" if document.server else ""
    console.print(f"{document.host}, Linux {document.kernel}, {document.path}{server}", markup=False, soft_wrap=True)
    for status in AdviceStatus:
        settings = [setting for setting in document.settings if setting.advice.status is status]
        if not settings:
            continue
        console.print(Text(f"\n{status}: {len(settings)}", style=_STYLES.get(status, "bold")))
        if everything or status in _IN_FULL:
            for setting in settings:
                _print(setting, document, console, everything=everything)
        elif status is not AdviceStatus.NOT_APPLICABLE:
            names = Text(", ".join(setting.advice.setting for setting in settings))
            console.print(Padding(names, (0, 0, 0, 2), expand=False))
    if not everything:
        console.print("\nEvery advice with its reason: --all. Nothing was changed.", markup=False)


def _print(setting: AuditedSetting, document: AuditDocument, console: Console, *, everything: bool) -> None:
    advice = setting.advice
    now = "not read" if advice.now is None else f"now {advice.now}"
    line = Text(advice.setting, style="bold").append(f"  {now}", style="not bold")
    if advice.disagree:
        line.append("  the sources disagree", style="not bold magenta")
    if setting.danger:
        line.append(f"  {DANGERS.get(setting.danger, setting.danger)}", style="not bold red")
    console.print(Padding(line, (0, 0, 0, 2), expand=False))
    for item in advice.items:
        if not everything and item.status not in _APPLYING:
            continue
        source = document.sources[item.source]
        text = Text(_state(item), style="bold").append(f"  {_provenance(item, source)}", "not bold")
        console.print(Padding(text, (0, 0, 0, 4), expand=False))
        console.print(Padding(Text("\n".join(_details(item)), style="dim"), (0, 0, 0, 6), expand=False))
    for title, command in [("test", setting.test), *(("set", value.set) for value in setting.values)]:
        if command:
            console.print(Text(f"    {title:<4} {command}", style="dim"), soft_wrap=True)


def _state(item: AdviceItem) -> str:
    """The advised value, and the state of the advice where it is not simply that the value differs."""
    return item.advised if item.status is AdviceStatus.DIFFERS else f"{item.advised} ({item.status})"


def _provenance(item: AdviceItem, source: AdviceSource) -> str:
    dated = ", ".join(filter(None, (source.product, source.date)))
    return f"{source.author}: {source.title}{f' ({dated})' if dated else ''}; {item.evidence}"


def _details(item: AdviceItem) -> list[str]:
    """The reason, the source's figures and their judgement, the risk, and measurements here."""
    details = [
        item.why,
        item.reason,
        f"Its figures: {item.figures}." if item.figures else "",
        f"Judged by Paribus: {item.judged}." if item.judged else "",
        f"Risk: {_RISKS[item.risk]}." if item.risk else "",
        *(f"Measured here: {text}." for text in item.measured),
    ]
    return [detail for detail in details if detail]


def markdown(document: AuditDocument) -> str:
    """The advice that differs as a table: setting, value, advice, its source, and the lines that set and check it."""
    rows = [
        ("setting", "now", "advised", "by", "set", "check"),
        ("---",) * 6,
        *(row for setting in document.settings for row in _rows(setting, document)),
    ]
    return "".join(f"| {' | '.join(_cell(cell) for cell in row)} |\n" for row in rows)


def _rows(setting: AuditedSetting, document: AuditDocument) -> Iterator[tuple[str, ...]]:
    set_lines = {value.value: value.set for value in setting.values}
    for item in setting.advice.items:
        if item.status is AdviceStatus.DIFFERS:
            source = document.sources[item.source]
            now, by = setting.advice.now or "", f"{source.author}, {source.title}"
            lines = set_lines.get(item.value or "", ""), setting.check
            yield setting.advice.setting, now, item.advised, by, *(f"`{line}`" if line else "" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
