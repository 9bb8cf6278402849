"""Runs of wide tables, assembled from cells."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from paribus.parsers.log import LogReading, LogRun, LogSeries

_LONGEST_S = 1e7  # of a run; larger times are Unix times


@dataclass(frozen=True, slots=True)
class Setting:
    """Conditions of a cell's measurement."""

    labels: Mapping[str, str]
    workload: str
    load: int | None
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[object, ...]:
        """Key that identifies a run."""
        return (tuple(self.labels.items()), self.workload, self.load, tuple(self.options.items()))


@dataclass(slots=True)
class TableRuns:
    """A run being assembled from cells."""

    setting: Setting
    lines: list[int] = field(default_factory=list)
    readings: list[LogReading] = field(default_factory=list)
    at_s: list[float] = field(default_factory=list)

    def run(self, titled: Mapping[str, str]) -> LogRun:
        """Return the run; points in time become time series."""
        readings, courses = tuple(self.readings), tuple(self._courses())
        return LogRun(
            tool="table",
            workload=self.setting.workload,
            load=self.setting.load,
            options={**titled, **self.setting.options},
            labels={name: level for name, level in self.setting.labels.items() if level},
            readings=() if courses else readings,
            courses=courses,
            lines=(min(self.lines), max(self.lines)),
        )

    def _courses(self) -> Iterator[LogSeries]:
        start_s = min(self.at_s, default=0.0) if max(self.at_s, default=0.0) > _LONGEST_S else 0.0  # a clock
        for metric, unit in (
            dict.fromkeys((reading.metric, reading.unit) for reading in self.readings) if self.at_s else ()
        ):
            points = [
                (at - start_s, reading.value)
                for at, reading in zip(self.at_s, self.readings, strict=True)
                if reading.metric == metric
            ]
            yield LogSeries(
                metric=metric,
                unit=unit,
                at_s=tuple(at for at, _value in points),
                values=tuple(value for _at, value in points),
            )
