"""Whether a trial's figures may be used: reasons that are blind to which arm it was."""

import statistics
from collections.abc import Callable, Sequence

from ceteris.engine.protocol import Census, Interval, ProcessUse, Result
from ceteris.units import show_size

_ENGINE_BOUND = 0.80  # of the cores the engine may use, in user mode: its system time is the work measured
_LONGEST_GAP_S = 2.0
_FOREIGN_CPU = 0.20  # of all cores, above what is always there
_FOREIGN_IO = 0.20  # of the load's own bytes, above what is always there
_LITTLE_IO_PER_S = 2**20
_LITTLE_CPU_S = 0.05  # the kernel counts processor time in ticks of up to 10 ms, for each process


def of_load(result: Result, intervals: Sequence[Interval], engine: str) -> list[str]:
    """What is wrong with the load itself."""
    reasons = []
    if result.errors:
        counted = ", ".join(f"{number} {name}" for name, number in sorted(result.errors.items()))
        reasons.append(f"the load met errors: {counted}")
    user = result.cpu.user_s / result.duration_s / result.cores_usable
    if engine != "null" and user >= _ENGINE_BOUND:
        reasons.append(f"the load engine was the bound: {user:.0%} of its cores in user mode")
    ends = [result.start_s] + [i.start_s + i.duration_s for i in intervals]
    gaps = [i.start_s - end for i, end in zip(intervals, ends, strict=False)]
    if max(gaps, default=0.0) > _LONGEST_GAP_S:
        reasons.append(f"{max(gaps):.1f} s of the window are missing")
    return reasons


class ForeignLoad:
    """Processor time and disk traffic of others, against what is usual on this machine."""

    def __init__(self, own: set[int]) -> None:
        self.own = own
        self._cpu: list[float] = []
        self._io: list[float] = []

    def judge(self, census: Census, cores: int, own_bytes_per_s: float) -> list[str]:
        """What is wrong with the machine during a window; what is always there is not."""
        duration = census.duration_s or 1.0
        others = [process for process in census.processes if process.pid not in self.own]
        cpu = sum(process.cpu_s for process in others) / duration
        io = sum(_bytes(process) for process in others) / duration
        usual_cpu, usual_io = self._usual(cpu, io)
        reasons = []
        if cpu - usual_cpu > max(_FOREIGN_CPU * cores, _LITTLE_CPU_S / duration):
            who = _names(others, lambda process: process.cpu_s)
            reasons.append(f"other processes took {cpu:.2f} of {cores} cores: {who}")
        if io - usual_io > max(_FOREIGN_IO * own_bytes_per_s, _LITTLE_IO_PER_S):
            who = _names(others, _bytes)
            reasons.append(f"other processes read and wrote {show_size(io)}/s: {who}")
        return reasons

    def _usual(self, cpu: float, io: float) -> tuple[float, float]:
        """The medians so far, this window included; a short history counts as a quiet machine."""
        self._cpu.append(cpu)
        self._io.append(io)
        if len(self._cpu) < 8:
            return 0.0, 0.0
        return statistics.median(self._cpu), statistics.median(self._io)


def _bytes(process: ProcessUse) -> int:
    """Storage traffic, as far as it may be seen."""
    return (process.read_bytes or 0) + (process.written_bytes or 0)


def _names(processes: Sequence[ProcessUse], use: Callable[[ProcessUse], float]) -> str:
    """The three that used most."""
    used = sorted((p for p in processes if use(p) > 0), key=use, reverse=True)
    return ", ".join(f"{process.command} ({process.pid})" for process in used[:3])
