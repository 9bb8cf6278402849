"""Writer of logs of HdrHistogram, version 1.3 of their format, for the viewers and plotters that read these."""

from collections.abc import Iterable
from pathlib import Path

from paribus.export.tables import ExportTable, Row

_HEADER = """\
#[{experiment}: histograms of response times in nanoseconds, tagged by workload, load and setting]
#[Histogram log format version 1.3]
#[StartTime: {start:.3f} (seconds since epoch)]
"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
"""
_UNTAGGED = str.maketrans(dict.fromkeys(", \t\n\r", "_"))  # they separate fields and lines


def write(_table: ExportTable, rows: Iterable[Row], path: Path) -> int:
    """Write the rows of the table `response_times`, in the order of time, and return their number."""
    count, origin = 0, 0.0
    with path.open("w", encoding="utf-8") as file:
        for experiment, tag, start, length, highest, histogram in rows:
            assert isinstance(start, float)
            if count == 0:
                origin = start
                file.write(_HEADER.format(experiment=experiment, start=origin))
            name = str(tag).translate(_UNTAGGED)
            file.write(f"Tag={name},{start - origin:.3f},{length:.3f},{highest:.3f},{histogram}\n")
            count += 1
    return count
