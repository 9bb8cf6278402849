"""The public API on this machine: plans are checked, simulated, run and resumed by the real engine."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest
import scripted
from plan_samples import checked, simple

from paribus import Lab
from paribus.errors import Inapplicable, ParibusError, PlanError, StoreError, UsageError
from paribus.lab.cleaning import LeftoverState
from paribus.model import Experiment, ExperimentState, TrialState
from paribus.store.open import open_engine, store_url

LOGS = Path(__file__).parents[2] / "golden" / "parsers" / "sysbench"
SETTLED = {TrialState.DONE, TrialState.INVALID, TrialState.FAILED, TrialState.PLANNED, TrialState.SPARED}

KILLED_IN_A_TRIAL = """
import os, sys
from paribus import Lab
from paribus.lab.listening import DiscardingListener
from paribus.model import TrialState

class Dying(DiscardingListener):
    def on_trial_state(self, trial):
        if trial.state is TrialState.MEASURING:
            os._exit(9)

Lab(sys.argv[1]).run(sys.argv[2], listener=Dying())
"""


def _killed(store: Path, plan: Path) -> Experiment:
    """An experiment whose process died while a trial was measured."""
    argv = [sys.executable, "-c", KILLED_IN_A_TRIAL, str(store), str(plan)]
    died = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)
    assert died.returncode == 9, died.stderr
    return Lab(store).experiment().experiment


def test_a_plan_is_checked_with_overrides_of_every_type(plan_file: Path, tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s.db")
    assert lab.check(plan_file).path == str(tmp_path)
    overrides = {
        "protocol.rounds": 3,
        "protocol.margin": 0.4,
        "protocol.in_flight": False,
        "target.path": tmp_path,
        "workload.0.threads": [1, 2],
        "workload.0.block_size": "8KiB",
    }
    document = lab.check(plan_file, overrides)
    assert document.rounds == 3
    assert {load for block in document.blocks for load in block.loads} == {1, 2}
    assert not (tmp_path / "s.db").exists(), "a check changes nothing"
    assert not (tmp_path / "paribus-data").exists()


def test_all_problems_of_a_plan_are_listed(plan_file: Path, tmp_path: Path) -> None:
    with pytest.raises(PlanError) as refused:
        Lab(tmp_path / "s.db").check(plan_file, {"protocol.trail": "1s", "workload.0.threads": [0]})
    assert len(refused.value.problems) == 2
    assert "did you mean 'trial'?" in str(refused.value)


def test_a_plan_that_is_missing_is_named(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s.db")
    for work in (lab.check, lab.simulate, lab.run):
        with pytest.raises(UsageError, match=r"cannot read the plan nowhere\.toml: No such file"):
            work("nowhere.toml")


def test_an_override_without_a_form_in_plans_is_refused(plan_file: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the override of target\.device is a NoneType"):
        Lab(tmp_path / "s.db").check(plan_file, {"target.device": None})  # type: ignore[dict-item]


def test_a_large_effect_is_found_in_simulations_and_none_where_there_is_none(plan_file: Path, tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s.db")
    (arm,) = lab.simulate(plan_file, "+100%", noise="1%", times=4).arms
    assert {verdict.value: times for verdict, times in arm.verdicts.items()} == {"better": 4}
    assert lab.simulate(plan_file, noise="1%", times=4, seed=3).claims == 0
    assert lab.simulate(plan_file, noise="1%", times=4) == lab.simulate(plan_file, noise="1%", times=4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"effect": "large"}, "'large' is not a percentage"),
        ({"effect": "-100%"}, "an effect is above -100 %"),
        ({"noise": "0%"}, "a noise between 0 and 100 %"),
        ({"times": 0}, "times is 0, so no experiment would be simulated"),
        ({"seed": -1}, "the seed -1 is below 0"),
    ],
)
def test_a_simulation_that_means_nothing_is_refused(
    plan_file: Path, tmp_path: Path, arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        Lab(tmp_path / "s.db").simulate(plan_file, **arguments)  # type: ignore[arg-type]


def test_an_experiment_is_run_and_leaves_nothing_but_its_results(measured_lab: Lab) -> None:
    result = measured_lab.experiment()
    assert result.experiment.state is ExperimentState.DONE
    current = [trial for trial in result.trials() if trial.state is not TrialState.SUPERSEDED]
    assert len(current) == 32
    assert {trial.state for trial in current} <= SETTLED
    done = [trial.order for trial in current if trial.state is TrialState.DONE]
    throughputs = {each.trial for each in result.measurements() if each.metric == "throughput_per_s" and each.mean > 0}
    assert set(done) <= throughputs
    assert not (Path(str(measured_lab.store)).parent / "paribus-data").exists()


def test_an_interrupted_experiment_is_resumed(interrupted_lab: Lab) -> None:
    interrupted = interrupted_lab.experiment()
    assert interrupted.experiment.state is ExperimentState.INTERRUPTED
    assert interrupted_lab.status().open_changes == []
    done_before = {trial.order for trial in interrupted.trials() if trial.state is TrialState.DONE}

    result = interrupted_lab.resume(interrupted.experiment.id)
    assert (result.experiment.id, result.experiment.state) == (interrupted.experiment.id, ExperimentState.DONE)
    current = [trial for trial in result.trials() if trial.state is not TrialState.SUPERSEDED]
    assert len(current) == 32, "no trial is lost, and none is counted twice"
    assert done_before <= {trial.order for trial in result.trials()}
    with pytest.raises(UsageError, match=f"experiment {result.experiment.id} is done"):
        interrupted_lab.resume()


def test_an_experiment_that_is_not_in_the_store_is_neither_resumed_nor_applied(measured_lab: Lab) -> None:
    known = measured_lab.experiments()[0].id
    for work in (measured_lab.resume, measured_lab.apply, measured_lab.experiment):
        for name in ("2", "nonesuch", ""):
            with pytest.raises(UsageError, match=known):
                work(name)


@pytest.mark.parametrize("verb", ["resume", "experiment", "export"])
def test_a_store_that_is_missing_is_named(tmp_path: Path, verb: str) -> None:
    with pytest.raises(StoreError, match=r"there is no store at .*none\.db"):
        getattr(Lab(tmp_path / "none.db"), verb)()


def test_two_experiments_are_compared(measured_lab: Lab) -> None:
    second, first = measured_lab.experiments()
    document = measured_lab.compare(first.id, second.id)
    assert (document.first, document.second, document.names) == (first.id, second.id, ("tiny", "tiny"))


def test_impossible_comparisons_are_refused(measured_lab: Lab, store_file: Path, tmp_path: Path) -> None:
    name = measured_lab.experiments()[0].id
    with pytest.raises(UsageError, match="name two experiments"):
        measured_lab.compare(name, "last")
    with pytest.raises(UsageError, match="there is no experiment 'nonesuch'"):
        measured_lab.compare("last", "nonesuch", second_store=store_file)
    with pytest.raises(StoreError, match="there is no store"):
        measured_lab.compare("last", "last", second_store=tmp_path / "none.db")


def test_the_status_counts_trials(measured_lab: Lab) -> None:
    document = measured_lab.status()
    counts = [experiment.planned + experiment.spared for experiment in document.experiments]
    assert counts == [32, 32], "a busy machine may spare trials that fail"
    assert {experiment.state for experiment in document.experiments} == {"done"}
    assert (document.open_changes, document.problems) == ([], [])


def test_a_target_that_is_none_is_refused(measured_lab: Lab) -> None:
    for work in (measured_lab.status, measured_lab.doctor):
        with pytest.raises(UsageError, match="'ftp://db1' is not a target"):
            work("ftp://db1")


def test_the_data_of_a_killed_experiment_is_listed_and_removed_by_name(plan_file: Path, tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s.db")
    killed = _killed(tmp_path / "s.db", plan_file)
    assert lab.status().experiments[0].cut_off
    (leftover,) = lab.clean(tmp_path).leftovers
    assert (leftover.experiment, leftover.state, leftover.removed) == (killed.id, LeftoverState.RESUMABLE, False)
    assert leftover.size_bytes >= 2**20

    assert [each.removed for each in lab.clean(tmp_path, unneeded=True).leftovers] == [False]
    with pytest.raises(UsageError, match=f"experiments with data: {killed.id}"):
        lab.clean(tmp_path, names="nonesuch")
    with pytest.raises(UsageError, match="exclude each other"):
        lab.clean(tmp_path, names=[killed.id], unneeded=True)
    assert [each.removed for each in lab.clean(tmp_path, names=killed.id).leftovers] == [True]
    assert not (tmp_path / "paribus-data").exists()
    assert lab.clean(tmp_path).leftovers == []


def test_the_empty_folder_of_an_interrupted_removal_is_removed(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s.db")
    _recommending_lab(tmp_path / "s.db", simple('"vm.swappiness" = [60, 1]'), {})
    empty = tmp_path / "paribus-data" / "20261121-091403-7f3a"
    empty.mkdir(parents=True)
    foreign = tmp_path / "paribus-data" / "notes"
    foreign.mkdir()
    states = {leftover.experiment: leftover.state for leftover in lab.clean(tmp_path).leftovers}
    assert states == {empty.name: LeftoverState.UNKNOWN, "": LeftoverState.FOREIGN}
    lab.clean(tmp_path, names=empty.name)
    assert [leftover.path for leftover in lab.clean(tmp_path).leftovers] == [str(foreign)]
    empty.mkdir()
    lab.clean(tmp_path, unneeded=True)
    assert (empty.exists(), foreign.exists()) == (False, True)


def test_a_killed_experiment_is_resumed(plan_file: Path, tmp_path: Path) -> None:
    killed = _killed(tmp_path / "s.db", plan_file)
    assert Lab(tmp_path / "s.db").resume().experiment.id == killed.id
    assert Lab(tmp_path / "s.db").clean(tmp_path).leftovers == []


def test_a_folder_that_does_not_exist_is_not_cleaned(measured_lab: Lab, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the folder .*nowhere does not exist"):
        measured_lab.clean(tmp_path / "nowhere")


def test_the_machine_is_examined(tmp_path: Path) -> None:
    document = Lab().doctor(path=tmp_path)
    fitness = {condition.name: condition.fitness.value for condition in document.conditions}
    assert (document.path, fitness["path"], fitness["settings"]) == (str(tmp_path), "fit", "fit")


def test_a_machine_without_the_folder_for_data_is_unfit(tmp_path: Path) -> None:
    document = Lab().doctor(path=tmp_path / "nowhere")
    path = next(condition for condition in document.conditions if condition.name == "path")
    assert (document.fit, path.fitness.value, path.fix) == (False, "unfit", "make it, or correct the name")
    assert "nowhere does not exist" in path.found


def _recommending_lab(store: Path, plan_text: str, fingerprint: dict[str, str]) -> Lab:
    """A laboratory in which direct I/O was 80 % better on a machine with that fingerprint."""
    engine = open_engine(store_url(str(store)), create=True)
    plan = checked(plan_text, path=str(store.parent), device=fingerprint.get("device"))
    scripted.carry_out(engine, plan, lambda trial: 0.6 * (trial.arm == "true"), fingerprint)
    engine.dispose()
    return Lab(store)


def test_a_recommendation_for_the_load_is_set_by_hand(measured_lab: Lab, plan_file: Path, tmp_path: Path) -> None:
    fingerprint = dict(measured_lab.experiment().experiment.fingerprint)
    lab = _recommending_lab(tmp_path / "s.db", plan_file.read_text(), fingerprint)
    recommended = lab.apply("last")
    (step,) = recommended.steps
    assert (step.knob, step.wanted, step.by_hand) == ("fileio.direct", True, True)
    applied = lab.apply("last", dry_run=False)
    assert (applied.made, applied.journal) == ([], "")
    with pytest.raises(UsageError, match=r"it has: fileio\.direct"):
        lab.apply("last", factor="nonesuch")


def test_a_recommendation_for_another_machine_is_not_set(plan_file: Path, tmp_path: Path) -> None:
    lab = _recommending_lab(tmp_path / "s.db", plan_file.read_text(), {"kernel": "another"})
    assert "kernel" in {difference.name for difference in lab.apply("last").differences}
    with pytest.raises(Inapplicable, match=r"not the machine that was measured:\n  kernel: measured another"):
        lab.apply("last", dry_run=False)


def test_a_log_is_imported_once_and_sets_are_no_experiments(store_file: Path, tmp_path: Path) -> None:
    log = LOGS / "fileio-1.1.log"
    lab = Lab(tmp_path / "s.db")
    assert lab.import_(log, dry_run=True).experiment is None
    assert not (tmp_path / "s.db").exists()
    document = lab.import_(log, factor="scheduler", level="noop", name="disks")
    assert (document.kept, document.factors) == (1, {"scheduler": ["noop"]})
    assert lab.import_(str(log), factor="scheduler", level="noop", name="disks").kept == 0
    assert [experiment.state for experiment in lab.experiments()] == [ExperimentState.IMPORTED]
    with pytest.raises(UsageError, match="nothing of it can be run"):
        lab.resume("disks")
    with pytest.raises(UsageError, match="sets nothing here"):
        lab.apply("disks")
    with pytest.raises(UsageError, match="is compared with nothing"):
        lab.compare("disks", "last", second_store=store_file)


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        ((), {}, "no file to import was named"),
        (("nowhere.log",), {}, r"there is no file nowhere\.log"),
        (("empty",), {}, "there is no file in empty; hidden files are not read"),
        (("notes.txt",), {}, "the named files have no run"),
        (("notes.txt",), {"factor": "scheduler"}, "--factor and --level must be given together"),
        (("notes.txt",), {"file_format": "sysbenhc"}, "did you mean 'sysbench'"),
        (("notes.txt",), {"into": "nonesuch"}, "the store holds no experiment"),
    ],
)
def test_an_import_of_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], options: dict[str, str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("what we measured last summer\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / ".hidden.log").touch()
    with pytest.raises(ParibusError, match=message) as raised:
        Lab(tmp_path / "s.db").import_(*names, **options)  # type: ignore[arg-type]
    assert raised.value.exit_code == (3 if message.startswith("the named files") else 2)


def test_passwords_in_the_environment_are_back_after_each_call(
    measured_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "secret")
    measured_lab.status()
    assert os.environ["PGPASSWORD"] == "secret"


@pytest.mark.parametrize("tables", ["trials", ["trials"]])
def test_an_experiment_is_exported(store_file: Path, tmp_path: Path, tables: str | list[str]) -> None:
    document = Lab(store_file).export(folder=tmp_path / "out", tables=tables)
    assert [file.table for file in document.files] == ["trials"]


def test_an_export_in_no_format_or_over_a_file_is_refused(store_file: Path, tmp_path: Path) -> None:
    lab = Lab(store_file)
    with pytest.raises(UsageError, match="formats: csv, parquet"):
        lab.export(folder=tmp_path, file_format="xlsx")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="unknown table 'trails'"):
        lab.export(folder=tmp_path, tables="trails")
    lab.export(folder=tmp_path, tables="trials")
    with pytest.raises(UsageError):
        lab.export(folder=tmp_path, tables="trials")


def test_an_exported_effect_without_interval_has_no_percentage(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s.db")
    for level in ("noop", "deadline"):
        log = tmp_path / f"{level}.log"
        log.write_text(f"on {level}\n" + (LOGS / "fileio-1.1.log").read_text())
        lab.import_(log, factor="scheduler", level=level, name="disks", baseline="noop")
    unbounded = [effect for effect in lab.experiment().effects() if effect.log_ratio.low is None]
    assert unbounded
    assert {effect.percent.low for effect in unbounded} == {None}
    lab.export("disks", tmp_path / "out", tables="effects")
    with (tmp_path / "out" / "effects.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["percent_low"] for row in rows if not row["log_ratio_low"]} == {""}
