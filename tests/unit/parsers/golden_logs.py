"""Golden logs of other tools: FORMAT/NAME.log, and its readings in FORMAT/NAME.json.

`PYTHONPATH=src python tests/unit/parsers/golden_logs.py` rewrites the latter; then review the differences.
"""

import dataclasses
import json
import re
import sys
from pathlib import Path

from paribus.parsers import formats
from paribus.parsers.log import Log, LogSeries

HERE = Path(__file__).parent.parent.parent / "golden" / "parsers"
LOGS = sorted(HERE.glob("*/*.log"))
_MARK = "on one line: "


def text_of(path: Path) -> str:
    """Return the log as imported: invalid UTF-8 is replaced, line ends are unchanged."""
    return path.read_bytes().decode("utf-8", "replace")


def name_of(path: Path) -> str:
    """FORMAT/NAME."""
    return f"{path.parent.name}/{path.stem}"


def golden_text(name: str) -> str:
    """Return the log with the name FORMAT/NAME."""
    return text_of(HERE / f"{name}.log")


def courses_of(log: Log) -> list[LogSeries]:
    """Return the time series of all runs."""
    return [course for run in log.runs for course in run.courses]


def as_json(log: Log) -> str:
    """Return JSON with one line per reading, time series and line that was not understood."""
    whole = dataclasses.asdict(log)
    for run in whole["runs"]:
        if not run["failed"]:
            del run["failed"]
        run |= {name: [_line(item) for item in run[name]] for name in ("readings", "courses")}
        run |= {name: _line(run[name]) for name in ("options", "labels", "histogram", "lines")}
    whole["not_understood"] = [_line(item) for item in whole["not_understood"]]
    text = json.dumps(whole, indent=1, ensure_ascii=False)
    return re.sub(f'"{_MARK}.*"', lambda match: json.loads(match[0]).removeprefix(_MARK), text) + "\n"


def _line(item: object) -> str:
    return _MARK + json.dumps(item, ensure_ascii=False)


if __name__ == "__main__":
    for path in [Path(name).resolve() for name in sys.argv[1:]] or LOGS:
        path.with_suffix(".json").write_text(as_json(formats.read(text_of(path), path.parent.name)), encoding="utf-8")
