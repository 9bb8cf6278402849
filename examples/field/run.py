"""The report of the field: five published reports imported, put before the laws, judged, and asked for their claims.

Writes each report (HTML, Markdown) and field.md, field.html into artefacts/field/; `--check` ends with 1 where what is
checked in beside this file is another result.

    .venv/bin/python examples/field/run.py [--check]
"""

import html
import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
OUT = HERE.parent.parent / "artefacts" / "field"
STANDINGS = ("supported", "consistent", "no_effect", "mixed", "contradicted", "untestable")
MARK = "<!-- made by make field -->"
Row = Sequence[str]


def paribus(*arguments: str) -> str:
    """Run the command; what it prints."""
    command = [sys.executable, "-m", "paribus.cli.main", *arguments, "--store", str(OUT / "field.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout


def report_of(article: Path) -> dict[str, Any]:
    """Import an article's tables, write its reports, and return its document."""
    rules = article / "rules.toml"
    options = ["--map", str(rules)] if rules.exists() else []
    paribus("import", str(article / "tables"), "--name", article.name, *options)
    claims = ["--claims", str(article / "claims.toml")]
    for form, suffix in (("html", "html"), ("markdown", "md")):
        paribus("report", article.name, *claims, "--format", form, "-o", str(OUT / f"{article.name}.{suffix}"))
    found: dict[str, Any] = json.loads(paribus("report", article.name, *claims, "--json"))
    return found


def tables(articles: dict[str, dict[str, Any]]) -> list[tuple[str, Row, list[Row]]]:
    """Return the tables of the field's results: title, head and rows of each."""
    counts = []
    for name, found in articles.items():
        standings = Counter(claim["standing"] for claim in found["claims"])
        wrong = sum(breach["grave"] for breach in found["breaches"])
        doubtful = len(found["breaches"]) - wrong
        runs, verdicts = sum(found["trials"].values()), Counter(e["verdict"] for e in found["effects"] if e["verdict"])
        judged = ", ".join(f"{n} {verdict}" for verdict, n in verdicts.items())
        row = (f"[{name}]({name}/SOURCE.md)", str(runs), judged, str(wrong), str(doubtful))
        counts.append((*row, *(str(standings[one]) for one in STANDINGS)))
    total = [str(sum(int(row[at]) for row in counts)) for at in (1, *range(3, 5 + len(STANDINGS)))]
    counts.append(("all", total[0], "", *total[1:]))
    head = ("report", "runs", "comparisons", "contradictions", "remarks", *STANDINGS)
    claims = [
        (claim["id"], claim["statement"], claim["standing"], claim["reason"])
        for standing in STANDINGS
        for found in articles.values()
        for claim in found["claims"]
        if claim["standing"] == standing
    ]
    breaches = [
        ("contradiction" if breach["grave"] else "remark", breach["words"])
        for grave in (True, False)
        for found in articles.values()
        for breach in found["breaches"]
        if breach["grave"] is grave
    ]
    tested = [row for row in claims if row[2] != "untestable"]
    untested = [row for row in claims if row[2] == "untestable"]
    says = ("claim", "states", "standing", "why")
    return [
        ("The field in numbers", head, counts),
        ("What its own numbers say of its advice", says, tested),
        ("Inconsistencies", ("", "stated value, and the value implied by the others"), breaches),
        ("What no number here can say", says, untested),
    ]


def as_markdown(shown: list[tuple[str, Row, list[Row]]]) -> str:
    """The tables as Markdown."""
    lines = []
    for title, head, rows in shown:
        lines += [f"## {title}", ""]
        for row in (head, ["---"] * len(head), *rows):
            lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in row) + " |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def as_html(shown: list[tuple[str, Row, list[Row]]], names: Sequence[str]) -> str:
    """The same as a page that needs no other file."""
    style = (
        "body{font:15px/1.45 sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse}"
    )
    style += "td,th{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;border-bottom:1px solid #8884}"
    parts = [f"<!doctype html><html lang=en><meta charset=utf-8><title>The field</title><style>{style}</style>"]
    links = ", ".join(f'<a href="{html.escape(name)}.html">{html.escape(name)}</a>' for name in names)
    parts.append(f"<h1>The field</h1><p>Each report by itself: {links}.</p>")
    for title, head, rows in shown:
        cells = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        parts.append(
            f"<h2>{html.escape(title)}</h2><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
        )
    return "\n".join(parts) + "\n"


def main() -> int:
    """Make everything anew, and compare it with what is checked in."""
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    articles = {path.parent.name: report_of(path.parent) for path in sorted(HERE.glob("*/claims.toml"))}
    shown = tables(articles)
    text = as_markdown(shown)
    (OUT / "field.md").write_text(f"# The field\n\n{text}", encoding="utf-8")
    (OUT / "field.html").write_text(as_html(shown, list(articles)), encoding="utf-8")
    readme = HERE / "README.md"
    before, mark, kept = readme.read_text(encoding="utf-8").partition(MARK)
    if "--check" in sys.argv:
        return 0 if kept.strip() == text.strip() else 1
    readme.write_text(f"{before}{mark}\n\n{text}", encoding="utf-8")
    for row in shown[0][2]:
        print(*(f"{cell:>12}" for cell in row[1:]), row[0], sep="  ")
    print(f"the report of the field: {OUT / 'field.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
