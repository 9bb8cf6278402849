"""The view of an audit as text, and as a Markdown table."""

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from paribus.report.view.audit_models import AuditGroup, AuditView, SettingView


def show(view: AuditView, console: Console) -> None:
    """Print an audit for a person."""
    console.print(view.machine, markup=False, soft_wrap=True)
    for group in view.groups:
        _show_group(group, console)
    console.print(f"\n{view.footer}", markup=False)


def _show_group(group: AuditGroup, console: Console) -> None:
    console.print(Text(f"\n{group.title}: {group.count}", style="yellow bold" if group.is_urgent else "bold"))
    for setting in group.settings:
        _show_setting(setting, console)
    if group.names:
        _indented(Text(", ".join(group.names)), 2, console)


def _show_setting(setting: SettingView, console: Console) -> None:
    title = Text(setting.name, style="bold").append(f"  {setting.now}", style="not bold")
    for remark in setting.remarks:
        title.append(f"  {remark}", style="not bold red")
    _indented(title, 2, console)
    for advice in setting.advice:
        state = f" ({advice.state})" if advice.state else ""
        text = Text(f"{advice.advised}{state}", style="bold")
        _indented(text.append(f"  {advice.source}; {advice.evidence}", "not bold"), 4, console)
        _indented(Text("\n".join(advice.details), style="dim"), 6, console)
    width = max((len(title) for title, _ in setting.lines), default=0)
    for name, line in setting.lines:
        console.print(Text(f"    {name:<{width}} {line}", style="dim"), soft_wrap=True)


def _indented(text: Text, columns: int, console: Console) -> None:
    console.print(Padding(text, (0, 0, 0, columns), expand=False))


def markdown(view: AuditView) -> str:
    """The settings that differ as a table, with the lines that set and check them."""
    titles, *rows = view.rows
    coded = [
        (*(text.replace("<", "&lt;") for text in row[:4]), *(f"`{line}`" if line else "" for line in row[4:]))
        for row in rows
    ]
    lines = [titles, ("---",) * len(titles), *coded]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
