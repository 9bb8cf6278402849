"""Whether a trial's figures may be used: reasons that do not depend on its arm."""

import math
import statistics
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from paribus.engine.protocol import (
    Census,
    Hello,
    Job,
    ProcessUse,
    Result,
    Sample,
)
from paribus.errors import EngineError
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.trial.load.load_session import EngineWindow
from paribus.units import show_size, show_time

_SATURATED = 0.90  # of the processors of a load host, in any mode: all that it does there is making the load
_ENGINE_BOUND = 0.80  # of the cores the engine may use, in user mode: its system time is the work measured
_LATE = 0.10  # of the mean response time: what the engine starts late by itself is no answer of the disk
_LITTLE_LATENESS_S = 100e-6
_LONGEST_STALL_S = 2.0
_FOREIGN_CPU = 0.20  # of all cores, above what is usual
_FOREIGN_IO = 0.20  # of the load's own bytes, above what is usual
_LITTLE_IO_PER_S = 2**20
_REMEMBERED = 30  # windows: what is usual is that of the last ones, so that a slow change is no exception
_USUAL_SHARE = 2 / 3  # of the windows have no more other load than usual
_MOST_DISCARDED = 5  # of the remembered windows: each costs its block, so this is a third of the time of blocks of two
_WORTH_A_NOTE_CPU = 0.1  # cores
_TOO_MANY = N_(
    "other processes disturb so many trials that disturbed ones count from now on, which widens the intervals; to "
    "avoid that, stop: {who}"
)
_LITTLE_CPU_S = 0.05  # the kernel counts processor time in ticks of up to 10 ms, for each process


def engine_problems(window: EngineWindow) -> list[StoredMessage]:
    """Reasons why the figures are the engine's own and not those of what it loads."""
    result, intervals, job = window.result, window.intervals, window.job
    reasons = []
    cores = min(result.cores_usable, result.workers)
    user = result.cpu.user_s / result.duration_s / cores
    if not job.measures_engine_cpu and user >= _ENGINE_BOUND:
        text = N_("the load engine was the bottleneck: {user:.0%} of its {cores} cores in user mode")
        reasons.append(stored_message(text, user=user, cores=cores))
    late_s = (result.pacing.late_mean_s or 0.0) if result.pacing else 0.0
    mean_s = result.response.mean_s or 0.0
    if late_s > max(_LITTLE_LATENESS_S, _LATE * mean_s):
        text = N_(
            "the load engine was the bottleneck: operations started {late} late on average although "
            "slots were free; the response time is {response}"
        )
        reasons.append(stored_message(text, late=show_time(late_s), response=show_time(mean_s)))
    # Intervals follow each other without a gap: a stall of the engine makes one of them long.
    longest = max((interval.duration_s for interval in intervals), default=result.duration_s)
    if longest > job.interval_s + _LONGEST_STALL_S:
        text = N_("the engine stalled: an interval of {interval:g} s took {longest:.1f} s")
        reasons.append(stored_message(text, interval=job.interval_s, longest=longest))
    return reasons


def saturation(result: Result, busy_share: float | None, cores: int) -> list[StoredMessage]:
    """Reasons why the figures are those of the load host: its processors, or those the engine may use, were busy."""
    if busy_share is not None and busy_share >= _SATURATED:
        text = N_("the processors were the bottleneck: {busy:.0%} of {cores} were busy")
        return [stored_message(text, busy=busy_share, cores=cores)]
    usable = min(result.cores_usable, result.workers)
    engine_busy = (result.cpu.user_s + result.cpu.system_s) / result.duration_s / usable
    if engine_busy >= _SATURATED:
        text = N_("the load engine was the bottleneck: {busy:.0%} of its {cores} cores busy")
        return [stored_message(text, busy=engine_busy, cores=usable)]
    return []


def refuse_no_throughput(result: Result) -> None:
    """Raise EngineError for a window without throughput, of which no ratio can be taken; fsyncs are none."""
    if result.throughput_per_s <= 0:
        only_fsync = " but fsync" if result.fsyncs else ""
        message = f"the load completed no operation{only_fsync} in {show_time(result.duration_s)}"
        raise EngineError("no-data", message, "lengthen protocol.trial")


def load_errors(errors: Mapping[str, int]) -> StoredMessage:
    """The message about a load's errors, with the number of each."""
    return stored_message(
        "the workload reported errors: {errors}", errors=[f"{number} {name}" for name, number in sorted(errors.items())]
    )


def parameter_mismatches(job: Job, hello: Hello) -> list[StoredMessage]:
    """Parameters that the engine took otherwise than requested."""
    effective = _leaves(hello.effective)
    return [
        stored_message(
            "the engine used {name} = {taken} instead of {asked}",
            name=name,
            taken=str(effective[name]),
            asked=str(value),
        )
        for name, value in _leaves(job.model_dump()).items()
        if name in effective and effective[name] != value
    ]


def _leaves(tree: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """The values of a tree by their dotted paths."""
    leaves: dict[str, object] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            leaves |= _leaves(value, f"{prefix}{name}.")
        else:
            leaves[prefix + name] = value
    return leaves


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadWork:
    """A load's own use of a window: bytes moved, and processor time that no census attributes to us."""

    duration_s: float
    bytes_per_s: float
    cores: int
    user_s: float = 0.0


def engine_work(result: Result) -> LoadWork:
    """The engine's own use of a window."""
    return LoadWork(
        duration_s=result.duration_s,
        bytes_per_s=result.bytes_per_s,
        cores=result.cores_usable,
        user_s=result.cpu.user_s,
    )


def remote_work(result: Result) -> LoadWork:
    """Return the target's share of an engine's work on another machine: server traffic, and no processor time."""
    return LoadWork(duration_s=result.duration_s, bytes_per_s=result.bytes_per_s, cores=1)


@dataclass(frozen=True, slots=True)
class OtherUse:
    """Use of the machine by other processes in a window: their share of all processors, reasons against the trial."""

    cpu_share: float
    reasons: list[StoredMessage]


class Discards:
    """The exceptional windows that are discarded: a sixth of the last ones at most, for every trial would be lost else.

    Where exceptions are more frequent they are how the machine is: their trials count, and widen the interval.
    """

    def __init__(self) -> None:
        self.counted = 0  # exceptional windows that are not discarded
        self._recent: deque[bool] = deque(maxlen=_REMEMBERED)

    def discard(self, exceptional: bool, *, is_last_attempt: bool = False) -> bool:
        """Whether to discard the next window; one that cannot be repeated is kept."""
        discarded = exceptional and not is_last_attempt and sum(self._recent) < _MOST_DISCARDED
        self._recent.append(discarded)
        self.counted += exceptional and not discarded
        return discarded


class OtherLoad:
    """Processor time and disk traffic of other processes, compared with what is usual on this machine.

    Usual is what two thirds of the last windows do not exceed. An even background, and bursts that hit every second
    trial, are therefore usual; they widen the interval. A trial is invalid only if other load hits it far more than
    most others, whatever its arm. Only few trials are lost by it.
    """

    def __init__(self, own_pids: set[int]) -> None:
        self.own_pids = own_pids
        self._cpu: list[float] = []
        self._io: list[float] = []
        self._cpu_s: defaultdict[str, float] = defaultdict(float)  # by name, since the start
        self._discards = Discards()
        self._warned = False

    def judge(
        self, census: Census, work: LoadWork, samples: Sequence[Sample], *, is_last_attempt: bool = False
    ) -> OtherUse:
        """The use by others in a window; more than usual is a reason not to use the trial."""
        duration = census.duration_s or work.duration_s
        other_processes = [process for process in census.processes if process.pid not in self.own_pids]
        cores = max((sample.cores for sample in samples), default=work.cores)
        cpu = max(sum(process.cpu_s for process in other_processes) / duration, _unnamed_cpu(work, census, samples))
        io = sum(_bytes(process) for process in other_processes) / duration
        self._cpu.append(cpu)
        self._io.append(io)
        for process in other_processes:
            self._cpu_s[self.name_of(process)] += process.cpu_s
        reasons = []
        if is_unusual(self._cpu, max(_FOREIGN_CPU * cores, _LITTLE_CPU_S / duration)):
            busiest = self._names(other_processes, lambda process: process.cpu_s)
            text = N_("other processes took {cpu:.2f} of {cores} cores: {who}")
            reasons.append(stored_message(text, cpu=cpu, cores=cores, who=busiest))
        if is_unusual(self._io, max(_FOREIGN_IO * work.bytes_per_s, _LITTLE_IO_PER_S)):
            busiest = self._names(other_processes, _bytes)
            reasons.append(
                stored_message("other processes read and wrote {size}/s: {who}", size=show_size(io), who=busiest)
            )
        discarded = self._discards.discard(bool(reasons), is_last_attempt=is_last_attempt)
        return OtherUse(max(cpu, 0.0) / cores, reasons if discarded else [])

    def name_of(self, process: ProcessUse) -> str:
        """The name of a process for people."""
        return process.command

    def warning(self) -> StoredMessage | None:
        """A message, once, as soon as more trials are disturbed than may be discarded: what to stop."""
        if self._warned or not self._discards.counted:
            return None
        self._warned = True
        return stored_message(_TOO_MANY, who=self._busiest())

    def usual(self) -> StoredMessage | None:
        """A note on the other load that is always there, and what to stop; None on a quiet machine."""
        cpu, io = (statistics.median(history) if history else 0.0 for history in (self._cpu, self._io))
        if cpu < _WORTH_A_NOTE_CPU and io < _LITTLE_IO_PER_S:
            return None
        text = N_(
            "other processes usually took {cpu:.2f} cores and moved {size}/s while trials were made, which widens the "
            "intervals; most of it: {who}"
        )
        return stored_message(text, cpu=cpu, size=show_size(io), who=self._busiest())

    def _busiest(self) -> list[str]:
        """The three commands with the most processor time."""
        return sorted(self._cpu_s, key=lambda name: self._cpu_s[name], reverse=True)[:3]

    def _names(self, processes: Sequence[ProcessUse], use: Callable[[ProcessUse], float]) -> list[str]:
        """The three processes with the highest use; no census includes short-lived ones."""
        used = sorted((p for p in processes if use(p) > 0), key=use, reverse=True)
        names = [stored_message("{name} ({pid})", name=self.name_of(p), pid=p.pid) for p in used[:3]]
        return [*names] or [stored_message("many short-lived processes")]


def is_unusual(history: Sequence[float], excess: float) -> bool:
    """Whether the last window has more other load, by `excess`, than two thirds of the last windows including it."""
    recent = sorted(history[-_REMEMBERED:])
    usual = recent[math.ceil(_USUAL_SHARE * len(recent)) - 1]
    return history[-1] - usual > excess


def _unnamed_cpu(work: LoadWork, census: Census, samples: Sequence[Sample]) -> float:
    """Cores that others used in user mode by the kernel's own count, which includes short-lived processes.

    Kernel threads use none; this program's other processes use too little to count.
    """
    seconds = sum(sample.duration_s for sample in samples)
    if seconds < _LITTLE_CPU_S:
        return 0.0
    used = sum(sample.cpu.user * sample.cores * sample.duration_s for sample in samples) / seconds
    return used - work.user_s / work.duration_s - census.own_user_s / (census.duration_s or work.duration_s)


def _bytes(process: ProcessUse) -> int:
    """Storage traffic, as far as it may be seen."""
    return (process.read_bytes or 0) + (process.written_bytes or 0)
