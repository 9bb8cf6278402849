"""Selection of experiments for deletion, those that must stay, and `paribus delete` on a real store."""

import dataclasses
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from paribus import Lab
from paribus.cli.main import app
from paribus.cli.options import experiment_names
from paribus.errors import NotRestored, UsageError
from paribus.knobs.journals import Folders, Inspection, OpenJournal
from paribus.lab.listening import DiscardingListener
from paribus.lab.store import deleting
from paribus.lab.store.deleting import DeleteRequest, select_experiments
from paribus.lab.store.stores import default_report_path, open_store
from paribus.model import Experiment, ExperimentState, Plan, Protocol, Target, Trial, TrialState
from paribus.store import write
from paribus.store.open import open_engine, store_url

DAY = 86400.0
NOW = 1000 * DAY
PLAN = Plan(
    name="n",
    question="?",
    target=Target(address="local", path="/", device=None),
    hold={},
    baseline={},
    factors=(),
    combinations=(),
    workloads=(),
    protocol=Protocol(trial_s=1, settle_s=1, budget_s=1, confidence=0.95, seed=1, margins={}, rounds=None),
    digest="d",
    text="t",
)
LOG = Path(__file__).parents[2] / "golden" / "parsers" / "sysbench" / "fileio-1.1.log"
FOLDERS = Folders("/journal", "", ())


def _experiment(days: int, name: str = "n", state: ExperimentState = ExperimentState.DONE) -> Experiment:
    """An experiment that ended so many days ago."""
    ended = None if state in (ExperimentState.PLANNED, ExperimentState.RUNNING) else NOW - days * DAY
    return Experiment(
        id=f"20260101-000000-{days:04d}",
        name=name,
        plan_digest="d",
        plan_text="t",
        overrides={},
        seed=1,
        schedule_hash="h",
        rounds=1,
        state=state,
        started=NOW - days * DAY - 60,
        ended=ended,
        versions={},
        fingerprint={},
        notes=(),
    )


NEW, OLD, OLDER, OTHER = (
    _experiment(1),
    _experiment(100),
    _experiment(200),
    _experiment(300, "other"),
)
RUNNING = _experiment(400, "long", ExperimentState.RUNNING)
ALL = [NEW, OLD, OLDER, OTHER, RUNNING]  # newest first, as they are read


def _journal(experiment: str, *, owned: bool = False, is_permanent: bool = False) -> OpenJournal:
    return OpenJournal(experiment, "/journal/x", owned, is_permanent, "", "", ({"knob": "vm.swappiness"},))


@pytest.fixture
def store_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with experiments, on a machine without open journals."""
    path = tmp_path / "s.db"
    store = open_engine(store_url(str(path)), create=True)
    for experiment in ALL:
        write.begin(store, experiment, PLAN, [])
    store.dispose()
    _with_journals(monkeypatch)
    return path


def _with_journals(monkeypatch: pytest.MonkeyPatch, *journals: OpenJournal, problems: tuple[str, ...] = ()) -> None:
    inspection = Inspection(journals, problems, FOLDERS)
    monkeypatch.setattr(deleting, "inspect", lambda _host, _engine: inspection)


def _ids(path: Path) -> list[str]:
    return [experiment.id for experiment in Lab(path).experiments()]


@pytest.mark.parametrize(
    ("request_", "selected"),
    [
        (DeleteRequest(names=[OTHER.id, "other", "last"]), [OTHER, NEW]),
        (DeleteRequest(names=[OLD.id[:-1]]), [OLD]),
        (DeleteRequest(older_s=90 * DAY), [OLD, OLDER, OTHER]),
        (DeleteRequest(older_s=90 * DAY, keep=1), [OLDER, OTHER]),
        (DeleteRequest(all_of="n"), [NEW, OLD, OLDER]),
        (DeleteRequest(all_of="n", older_s=150 * DAY), [OLDER]),
        (DeleteRequest(all_of="n", keep=5), []),
    ],
)
def test_experiments_are_selected_by_name_plan_and_age(request_: DeleteRequest, selected: list[Experiment]) -> None:
    assert select_experiments(ALL, request_, NOW) == selected


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (DeleteRequest(), "no experiment is named"),
        (DeleteRequest(keep=3), "no experiment is named"),
        (DeleteRequest(names=["last"], keep=3), "exclude"),
        (DeleteRequest(names=["last"], all_of="n"), "exclude"),
        (DeleteRequest(names=["last", "nowhere"]), "there is no experiment 'nowhere'"),
        (DeleteRequest(names=["20260101"]), "5 experiments start with"),
        (DeleteRequest(names=["n"]), "3 experiments have the plan name 'n'"),
        (DeleteRequest(all_of="nowhere"), "no experiment has the plan name 'nowhere'"),
    ],
)
def test_ambiguous_selections_are_refused(request_: DeleteRequest, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        select_experiments(ALL, request_, NOW)


def test_an_age_is_a_duration() -> None:
    assert (deleting.age("90d"), deleting.age("")) == (90 * DAY, None)
    with pytest.raises(UsageError, match="--older: unknown unit in '3w'"):
        deleting.age("3w")


def test_one_wrong_name_deletes_nothing(store_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no experiment 'nowhere'"):
        Lab(store_path).delete(OLD.id, "nowhere", dry_run=False)
    assert len(_ids(store_path)) == len(ALL)


@pytest.mark.parametrize(
    ("journal", "message"),
    [
        (_journal(OLD.id, owned=True), "it is running\n.*Ctrl-C"),
        (_journal(OLD.id), "its settings are not restored\n.*paribus undo"),
        (_journal(OLD.id, is_permanent=True), "paribus apply has set settings from it\n.*paribus undo"),
    ],
)
def test_an_experiment_with_an_open_journal_stays(
    store_path: Path, monkeypatch: pytest.MonkeyPatch, journal: OpenJournal, message: str
) -> None:
    _with_journals(monkeypatch, journal)
    lab = Lab(store_path)
    with pytest.raises(UsageError, match=f"cannot delete {OLD.id}: {message}"):
        lab.delete(OLDER.id, OLD.id, anyway=True, dry_run=False)
    assert len(_ids(store_path)) == len(ALL)
    document = lab.delete(all_of="n", dry_run=False)
    assert [each.id for each in document.left] == [OLD.id]
    assert _ids(store_path) == [OLD.id, OTHER.id, RUNNING.id]


def test_damaged_journals_prevent_deletion(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _with_journals(monkeypatch, problems=("a journal is damaged",))
    with pytest.raises(NotRestored, match="a journal is damaged"):
        Lab(store_path).delete(OLD.id, dry_run=False)
    assert len(_ids(store_path)) == len(ALL)


def test_experiments_that_may_run_elsewhere_are_not_deleted(store_path: Path) -> None:
    elsewhere = dataclasses.replace(RUNNING, id="20260101-000000-ffff", name="remote")
    target = dataclasses.replace(PLAN.target, address="ssh://root@db1")
    write.begin(open_store(str(store_path)), elsewhere, dataclasses.replace(PLAN, target=target), [])
    lab = Lab(store_path)
    with pytest.raises(UsageError, match=r"it may be running.*\n.*paribus status --target ssh://root@db1.*--anyway"):
        lab.delete("remote", RUNNING.id, dry_run=False)
    lab.delete("remote", RUNNING.id, anyway=True, dry_run=False)
    assert _ids(store_path) == [NEW.id, OLD.id, OLDER.id, OTHER.id]


def test_an_experiment_that_was_cut_off_is_deleted(store_path: Path) -> None:
    Lab(store_path).delete(RUNNING.id, dry_run=False)
    assert RUNNING.id not in _ids(store_path)


def test_the_store_is_not_shrunk_during_an_experiment(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _with_journals(monkeypatch, _journal("20270101-000000-abcd", owned=True))
    document = Lab(store_path).delete(OLD.id, dry_run=False)
    assert document.deleted
    assert document.notes == [
        "the store keeps its size, since 20270101-000000-abcd is running: shrinking it would disturb the measurement"
    ]


def test_the_command_lists_and_deletes(store_path: Path) -> None:
    report = default_report_path(open_store(str(store_path)), OTHER.id)
    report.parent.mkdir()
    report.write_text("report")
    arguments = ["delete", "other", "--store", str(store_path)]
    refused = CliRunner().invoke(app, arguments)
    assert "standard input is not a terminal" in str(refused.exception)
    assert OTHER.id in refused.output
    listed = CliRunner().invoke(app, [*arguments, "--dry-run", "--json"])
    assert not json.loads(listed.output)["deleted"]
    assert report.exists()
    assert len(_ids(store_path)) == len(ALL)
    done = CliRunner().invoke(app, [*arguments, "--yes"])
    assert done.exit_code == 0
    assert "deleted 1 experiment and 1 report\n" in done.output
    assert "size of the store: " in done.output
    assert OTHER.id not in _ids(store_path)
    assert not report.exists()


def test_json_needs_no_question(store_path: Path) -> None:
    arguments = ["delete", "--older", "90d", "--store", str(store_path), "--json"]
    assert isinstance(CliRunner().invoke(app, arguments).exception, UsageError)
    document = json.loads(CliRunner().invoke(app, [*arguments, "--yes"]).output)
    assert [each["id"] for each in document["experiments"]] == [NEW.id, OLD.id, OLDER.id, OTHER.id]
    assert document["deleted"]


def test_empty_selection_is_no_error(store_path: Path) -> None:
    done = CliRunner().invoke(app, ["delete", "--all-of", "n", "--keep", "9", "--store", str(store_path)])
    assert (done.exit_code, done.output.splitlines()[0]) == (0, "no experiment is selected")


def test_names_are_completed(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARIBUS_STORE", str(store_path))
    assert experiment_names("o") == ["other"]
    assert NEW.id in experiment_names("2026")
    monkeypatch.setenv("PARIBUS_STORE", str(store_path.with_name("none.db")))
    assert experiment_names("o") == []


class _Deleting(DiscardingListener):
    """Tries to delete the experiment during its first trial."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.errors = lab, list[UsageError]()

    def on_trial_state(self, trial: Trial) -> None:
        """Try it once."""
        if trial.state is TrialState.MEASURING and not self.errors:
            with pytest.raises(UsageError) as refused:
                self.lab.delete("last", dry_run=False)
            self.errors.append(refused.value)


def test_a_real_experiment_is_refused_while_it_runs_and_deleted_with_an_imported_set(
    plan_file: Path, tmp_path: Path
) -> None:
    lab = Lab(tmp_path / "s.db")
    listener = _Deleting(lab)
    experiment = lab.run(plan_file, listener=listener).experiment
    assert [error.message for error in listener.errors] == [f"cannot delete {experiment.id}: it is running"]
    lab.import_(LOG, factor="scheduler", level="noop", name="imported")
    document = lab.delete("tiny", "imported", dry_run=False)
    assert [(each.name, each.state) for each in document.experiments] == [("tiny", "done"), ("imported", "imported")]
    assert document.experiments[0].trials > 4
    assert document.size_bytes is not None
    assert document.size_after_bytes is not None
    assert document.size_after_bytes < document.size_bytes
    assert len(lab.experiments()) == 0
