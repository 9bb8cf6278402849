"""Reports of single runs of pgbench and HammerDB, for workloads, from what the readers of their logs find."""

import re
from collections.abc import Sequence

from paribus.parsers.log import LogSeries
from paribus.parsers.report import NotUnderstood, Second, ToolReport
from paribus.parsers.tools import hammerdb, pgbench

_PROCEDURE_ERROR = re.compile(r"^Vuser [0-9]+:.* Procedure Error ", re.MULTILINE)
_PROFILED = {f"response_{name}_s": name for name in ("mean", "p50", "p95", "p99", "max")}


def of_pgbench(text: str) -> ToolReport:
    """Return the report of the first complete run of pgbench. Raises NotUnderstood."""
    for run in pgbench.read(text).runs:
        values = {reading.metric: reading.value for reading in run.readings if not reading.subject}
        if "operations" in values and "throughput_per_s" in values:
            failed_per_s = (
                values["errors"] / values["duration_s"] if values.get("duration_s") and "errors" in values else None
            )
            return ToolReport(
                operations_per_s=values["throughput_per_s"],
                responses_s={"mean": values["response_mean_s"]} if "response_mean_s" in values else {},
                ignored_per_s=failed_per_s,
                seconds=tuple(_pgbench_seconds(run.courses)),
            )
    raise NotUnderstood("has no summary of pgbench")


def _pgbench_seconds(courses: Sequence[LogSeries]) -> list[Second]:
    """Return the progress lines, each at the whole second at which it was due."""
    series = {course.metric: course for course in courses}
    rates, means = series.get("throughput_per_s"), series.get("response_mean_s")
    if rates is None:
        return []
    mean_at = dict(zip(means.at_s, means.values, strict=True)) if means else {}
    return [
        Second(
            at_s=round(at_s),
            operations_per_s=rate,
            responses_s={"mean": mean_at[at_s]} if at_s in mean_at else {},
        )
        for at_s, rate in zip(rates.at_s, rates.values, strict=True)
    ]


def of_hammerdb(text: str) -> ToolReport:
    """Return the report of a timed TPROC-C test: new orders and their response times. Raises NotUnderstood."""
    runs = hammerdb.read(text).runs
    readings = [reading for run in runs for reading in run.readings]
    values = {reading.metric: reading.value for reading in readings if not reading.subject}
    if "throughput_per_s" not in values:
        raise NotUnderstood("has no test result of HammerDB")
    new_orders = {reading.metric: reading.value for reading in readings if reading.subject == "new_order"}
    failed = len(_PROCEDURE_ERROR.findall(text))
    return ToolReport(
        operations_per_s=values["throughput_per_s"],
        transactions_per_s=values.get("transactions_per_s"),
        responses_s={name: new_orders[metric] for metric, name in _PROFILED.items() if metric in new_orders},
        ignored_per_s=failed / values["duration_s"] if values.get("duration_s") else None,
    )
