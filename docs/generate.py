"""Writes the reference pages in docs/reference/ from the code; `make reference` calls it."""

import sys
from collections.abc import Callable
from pathlib import Path

from generator import (
    advice_page,
    commands_page,
    environment_page,
    exit_codes_page,
    export_page,
    import_page,
    json_page,
    knobs_page,
    man_page,
    plan_page,
)

REFERENCE = Path(__file__).parent / "reference"
PAGES: dict[str, Callable[[], str]] = {
    "plan.md": plan_page.render,
    "knobs.md": knobs_page.render,
    "advice.md": advice_page.render,
    "commands.md": commands_page.render,
    "exit-codes.md": exit_codes_page.render,
    "json.md": json_page.render,
    "export.md": export_page.render,
    "import.md": import_page.render,
    "environment.md": environment_page.render,
    "paribus.1": man_page.render,
}


def main() -> None:
    """Writes every page."""
    REFERENCE.mkdir(exist_ok=True)
    for name, render in PAGES.items():
        (REFERENCE / name).write_text(render(), encoding="utf-8")
        sys.stdout.write(f"{REFERENCE / name}\n")


if __name__ == "__main__":
    main()
