"""Experiments built by hand for the report's tests: records only, the same numbers every time."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from paribus.findings import Constancy, Distribution, Drift, Held
from paribus.model import (
    Cell,
    Effect,
    Experiment,
    ExperimentState,
    FailureClass,
    Measurement,
    PairChange,
    Purpose,
    Tag,
    Trial,
    TrialState,
    Verdict,
)
from paribus.report.experiment_view import Recipe, ReportView, view
from paribus.report.inputs import ReportInput
from paribus.units import LoadLevel, LoadUnit

PLAN = """\
name     = "ssd-scheduler"
question = "Which I/O scheduler for this SSD?"

[factors]
"block.scheduler" = ["mq-deadline", "none", "bfq"]
"""

METRICS = {
    "throughput_per_s": ("1/s", lambda load: 31_000 * load / (load + 14), 1.0),
    "bytes_per_s": ("B/s", lambda load: 16_384 * 31_000 * load / (load + 14), 1.0),
    "response_mean_s": ("s", lambda load: (load + 14) / 31_000, -1.0),
    "response_p95_s": ("s", lambda load: 1.9 * (load + 14) / 31_000, -1.0),
    "response_p99_s": ("s", lambda load: 3.4 * (load + 14) / 31_000, -1.0),
    "load_1m": ("", lambda load: 1.07 * load + 1.3, 0.0),
    "cpu_iowait_share": ("", lambda load: 0.6 * load / (load + 40), 0.0),
}

EXPERIMENT = Experiment(
    id="20261121-0914-7f3a",
    name="ssd-scheduler",
    plan_digest="b1946ac92492d234",
    plan_text=PLAN,
    overrides={},
    seed=1,
    schedule_hash="9f86d081884c7d65",
    rounds=4,
    state=ExperimentState.DONE,
    started=1_795_252_440.0,
    ended=1_795_260_312.0,
    versions={"paribus": "0.1.0", "engine": "0.1.0", "kernel": "6.12.48"},
    fingerprint={
        "host": "db1",
        "cpu": "AMD EPYC 7543P, 32 cores",
        "memory": "128 GiB",
        "device": "/dev/nvme0n1, SAMSUNG MZQL21T9HCJR",
        "filesystem": "xfs",
    },
    notes=("Foreign I/O was seen on the device in 2 of 96 trials.",),
)


@dataclass
class Bench:
    """Collects the records of one experiment."""

    experiment: Experiment = EXPERIMENT
    unit: LoadUnit = LoadUnit.OUTSTANDING
    trials: list[Trial] = field(default_factory=list)
    summaries: dict[int, dict[str, Measurement]] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    constancy: Constancy | None = None

    def trial(self, factor: str, arm: str, *, baseline: bool, workload: str, load: int, **changes: object) -> Trial:
        """One more trial, done unless told otherwise."""
        order = len(self.trials) + 1
        made = Trial(
            experiment=self.experiment.id,
            order=order,
            round=1 + order // 12,
            block=(order + 1) // 2,
            position=1 + (order + 1) % 2,
            attempt=1,
            factor=factor,
            arm=arm,
            baseline=baseline,
            purpose=Purpose.COMPARE,
            settings={factor: arm},
            workload=workload,
            load=LoadLevel(load, self.unit),
            state=TrialState.DONE,
            started=self.experiment.started + 72 * order,
            ended=self.experiment.started + 72 * order + 66,
        )
        self.trials.append(replace(made, **changes))  # type: ignore[arg-type]
        return self.trials[-1]

    def compare(
        self,
        factor: str,
        baseline: str,
        arms: Mapping[str, tuple[float, float, Verdict]],
        *,
        workload: str = "mixed",
        loads: Sequence[int] = (8, 32, 128),
        rounds: int = 2,
        metrics: Sequence[str] = tuple(METRICS),
        tags: Sequence[Tag] = (),
        tilt: float = 0.0,
    ) -> "Bench":
        """A comparison: for each arm its log ratio, the half-width of its interval, its verdict.

        `tilt` makes the effect fall from the first load level to the last.
        """
        orders: dict[tuple[str, int], tuple[int, ...]] = {}
        for _ in range(rounds):
            for load in loads:
                for arm in (baseline, *arms):
                    made = self.trial(factor, arm, baseline=arm == baseline, workload=workload, load=load)
                    orders[arm, load] = (*orders.get((arm, load), ()), made.order)
                    self._measure(made, arms.get(arm, (0.0, 0.0, None))[0], metrics)
        for arm in (baseline, *arms):
            effect = arms[arm][0] if arm in arms else 0.0
            for place, load in enumerate(loads):
                self._cells(factor, arm, workload, load, effect + _tilt(tilt, place, loads), orders[arm, load], metrics)
        for arm, (estimate, half, verdict) in arms.items():
            self._effect(factor, baseline, arm, workload, None, estimate, half, verdict, tags, orders)
            for place, load in enumerate(loads):
                at = estimate + _tilt(tilt, place, loads)
                self._effect(factor, baseline, arm, workload, load, at, 1.7 * half, None, (), orders)
        return self

    def _measure(self, trial: Trial, effect: float, metrics: Sequence[str]) -> None:
        wobble = 0.004 * math.sin(trial.order)
        for metric in metrics:
            unit, law, sign = METRICS[metric]
            value = law(trial.load.n) * math.exp(sign * (effect + wobble))
            self.summaries.setdefault(trial.order, {})[metric] = Measurement(
                phase="measure",
                metric=metric,
                unit=unit,
                source="engine",
                n=60,
                mean=value,
                low=value * 0.9,
                high=value * 1.1,
                total=value * 60,
            )

    def _cells(
        self,
        factor: str,
        arm: str,
        workload: str,
        load: int,
        effect: float,
        orders: tuple[int, ...],
        metrics: Sequence[str],
    ) -> None:
        for metric in metrics:
            _, law, sign = METRICS[metric]
            mean = law(load) * math.exp(sign * effect)
            alone = len(orders) < 2
            self.cells.append(
                Cell(
                    factor=factor,
                    arm=arm,
                    workload=workload,
                    load=LoadLevel(load, self.unit),
                    metric=metric,
                    mean=mean,
                    low=None if alone else mean * 0.988,
                    high=None if alone else mean * 1.012,
                    trials=orders,
                )
            )

    def _effect(
        self,
        factor: str,
        baseline: str,
        arm: str,
        workload: str,
        load: int | None,
        estimate: float,
        half: float,
        verdict: Verdict | None,
        tags: Sequence[Tag],
        orders: Mapping[tuple[str, int], tuple[int, ...]],
    ) -> None:
        used = sorted(
            o for (name, at), mine in orders.items() if name in (baseline, arm) and load in (None, at) for o in mine
        )
        changes = tuple(
            PairChange(number, LoadLevel(at, self.unit), estimate + half * 2 * math.sin(number), trials)
            for number, (at, trials) in enumerate(
                (
                    (at, trials)
                    for (name, at), mine in orders.items()
                    if name == arm
                    for trials in zip(orders[baseline, at], mine, strict=True)
                ),
                1,
            )
        )
        reasons = () if verdict is None else (f"{len(used) // 2} pairs, method huber, look 4 of 4",)
        self.effects.append(
            Effect(
                factor=factor,
                baseline=baseline,
                arm=arm,
                workload=workload,
                response="throughput_per_s",
                load=None if load is None else LoadLevel(load, self.unit),
                estimate=estimate,
                low=estimate - half,
                high=estimate + half,
                confidence=0.95,
                pairs=len(used) // 2,
                margin=math.log1p(0.02),
                method="huber",
                look=4,
                verdict=verdict,
                tags=tuple(tags),
                reasons=reasons,
                trials=tuple(used),
                pair_changes=() if load else changes,
            )
        )

    def fail(self, factor: str, baseline: str, arm: str, *, workload: str = "mixed", message: str) -> "Bench":
        """A factor of which the tried setting was refused, so that nothing was measured."""
        for load in (8, 32):
            self.trial(factor, baseline, baseline=True, workload=workload, load=load, state=TrialState.SUPERSEDED)
            self.trial(
                factor,
                arm,
                baseline=False,
                workload=workload,
                load=load,
                state=TrialState.FAILED,
                failure=FailureClass.SETTING_REJECTED,
                failure_message=message,
            )
        return self

    def view(
        self,
        recipes: Mapping[str, Recipe] | None = None,
        drifts: Sequence[Drift] = (),
        distributions: Sequence[Distribution] = (),
        time_series: Mapping[str, Mapping[int, Measurement]] = {},
    ) -> ReportView:
        """The view of all that was collected."""
        found = self.input()
        findings = (*found.findings, *drifts, *distributions)
        return view(replace(found, recipes=recipes or {}, findings=findings, time_series=time_series))

    def input(self) -> ReportInput:
        """All that was collected, as the input of a report."""
        return ReportInput(
            experiment=self.experiment,
            trials=self.trials,
            summaries=self.summaries,
            effects=self.effects,
            cells=self.cells,
            findings=[self.constancy] if self.constancy else [],
        )


def _tilt(tilt: float, place: int, loads: Sequence[int]) -> float:
    return tilt * (0.5 - place / (len(loads) - 1)) if len(loads) > 1 else 0.0


RECIPES = {
    "block.scheduler=none": Recipe(
        "echo none > /sys/block/nvme0n1/queue/scheduler",
        "cat /sys/block/nvme0n1/queue/scheduler",
        'ATTR{queue/scheduler}="none"    # /etc/udev/rules.d/90-paribus.rules',
    )
}


def typical() -> Bench:
    """One factor of every verdict, an invalid block that was rerun, and one setting that was refused."""
    bench = Bench()
    bench.compare(
        "block.scheduler",
        "mq-deadline",
        {"none": (0.059, 0.021, Verdict.BETTER), "bfq": (-0.122, 0.024, Verdict.WORSE)},
        loads=(1, 8, 32, 128),
        tags=(Tag.MATERIAL,),
    )
    bench.compare("block.read_ahead_kb", "128", {"0": (-0.001, 0.0052, Verdict.EQUIVALENT)})
    bench.compare("block.nr_requests", "256", {"1024": (0.0044, 0.0355, Verdict.UNDECIDED)}, rounds=1)
    bench.compare("vm.dirty", "20%", {"5%": (0.004, 0.02, Verdict.DEPENDS_ON_LOAD)}, tilt=0.16)
    bench.fail("block.wbt_lat_usec", "2000", "-5", message="the kernel refused -5: Invalid argument")
    spoilt = bench.trial(
        "block.scheduler",
        "none",
        baseline=False,
        workload="mixed",
        load=8,
        state=TrialState.INVALID,
        invalid_because=("foreign I/O on the device: 31 % of its time",),
    )
    bench.trial("block.scheduler", "none", baseline=False, workload="mixed", load=8, supersedes=spoilt.order)
    early, late = tuple(range(1, 41)), tuple(range(41, 57))
    bench.constancy = Constancy(
        same={"kernel": "6.12.48", "memory": "131072000 kB", "block.nomerges": "0"},
        differed={"vm.swappiness": (Held("60", early), Held("10", late))},
        trials=early + late,
    )
    return bench


def many(factors: int) -> Bench:
    """As many factors as asked, their verdicts in turn, every second one equivalent."""
    same = (0.001, 0.011, Verdict.EQUIVALENT)
    cycle = [(0.034, 0.012, Verdict.BETTER), same, (-0.041, 0.015, Verdict.WORSE), same]
    cycle += [(0.009, 0.026, Verdict.UNDECIDED), same]
    bench = Bench(constancy=Constancy(same={"kernel": "6.12.48", "vm.swappiness": "60"}, differed={}, trials=(1, 2, 3)))
    for number in range(factors):
        bench.compare(f"vm.knob_{number:02d}", "0", {"1": cycle[number % len(cycle)]})
    return bench


def hostile() -> Bench:
    """Names and texts that try to break out of the page, of a table and of a code block."""
    evil = "</script><b>x</b><script>alert(1)</script>"
    bench = Bench(
        replace(
            EXPERIMENT,
            name=f"{evil} | `code`",
            plan_text=f"```\n{evil}\n````\n<!-- {evil}",
            notes=(f"note {evil}", "a | pipe", "[red]markup[/red]"),
            fingerprint={evil: "[bold]" + evil},
        )
    )
    bench.compare(f"block.{evil}", "a|b", {"${7*7}{{7*7}}[/b]": (0.05, 0.02, Verdict.BETTER)}, workload="<i>w|")
    return bench
