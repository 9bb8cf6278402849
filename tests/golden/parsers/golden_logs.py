"""What logs of other tools say, kept beside them: FORMAT/NAME.log, and FORMAT/NAME.json as it is read.

`PYTHONPATH=src python tests/golden/parsers/golden_logs.py` writes the latter anew; then look at what has changed.
"""

import dataclasses
import json
import re
import sys
from pathlib import Path

from paribus.parsers import formats
from paribus.parsers.log import Log, LogSeries

HERE = Path(__file__).parent
LOGS = sorted(HERE.glob("*/*.log"))
_MARK = "on one line: "


def text_of(path: Path) -> str:
    """The log as it is imported: bytes that are no UTF-8 are replaced, ends of lines are as they are."""
    return path.read_bytes().decode("utf-8", "replace")


def name_of(path: Path) -> str:
    """FORMAT/NAME."""
    return f"{path.parent.name}/{path.stem}"


def golden_text(name: str) -> str:
    """The log of that name, FORMAT/NAME."""
    return text_of(HERE / f"{name}.log")


def courses_of(log: Log) -> list[LogSeries]:
    """The courses of all its runs."""
    return [course for run in log.runs for course in run.courses]


def as_json(log: Log) -> str:
    """A line for each reading, course and line that was not understood."""
    whole = dataclasses.asdict(log)
    for run in whole["runs"]:
        run |= {name: [_line(one) for one in run[name]] for name in ("readings", "courses")}
        run |= {name: _line(run[name]) for name in ("options", "labels", "histogram", "lines")}
    whole["not_understood"] = [_line(one) for one in whole["not_understood"]]
    text = json.dumps(whole, indent=1, ensure_ascii=False)
    return re.sub(f'"{_MARK}.*"', lambda found: json.loads(found[0]).removeprefix(_MARK), text) + "\n"


def _line(one: object) -> str:
    return _MARK + json.dumps(one, ensure_ascii=False)


if __name__ == "__main__":
    for path in [Path(name).resolve() for name in sys.argv[1:]] or LOGS:
        path.with_suffix(".json").write_text(as_json(formats.read(text_of(path), path.parent.name)), encoding="utf-8")
