"""Public Python API: a laboratory bound to a store."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from paribus.errors import UsageError
from paribus.hosts import environment
from paribus.lab.arguments import Overrides, PathLike, export_format, name_list, override_texts
from paribus.lab.check_document import CheckDocument
from paribus.lab.cleaning import CleanDocument
from paribus.lab.listening import DiscardingListener
from paribus.lab.machine.doctor import DoctorDocument
from paribus.lab.results.experiment_result import ExperimentResult
from paribus.lab.results.exporting import ExportDocument
from paribus.lab.results.records import Records
from paribus.lab.rollout.apply_document import ApplyDocument
from paribus.lab.running import ExperimentListener, Session
from paribus.lab.simulation import SimulateDocument
from paribus.lab.status import StatusDocument
from paribus.lab.store.deleting import DeleteDocument
from paribus.lab.store.importing import ImportDocument
from paribus.lab.store.stores import open_experiment, open_store, read, store_exists, store_url
from paribus.model import Experiment
from paribus.report.comparison_view import ComparedDocument


@dataclass(frozen=True, slots=True)
class Lab:
    """A performance laboratory: plans to run, and the store with the experiments.

    Args:
        store: A file or a database URL. Default: `$PARIBUS_STORE`, else the store of the user.

    Example:
        >>> from paribus import Lab
        >>> lab = Lab(store)
        >>> [experiment.state.value for experiment in lab.experiments()]
        ['done']
        >>> effects = lab.experiment("last").effects()
        >>> [(each.factor, each.arm, each.verdict.value) for each in effects if each.verdict]
        [('vm.swappiness', '1', 'better')]
    """

    store: PathLike | None = None

    @property
    def _location(self) -> str | None:
        return None if self.store is None else str(self.store)

    def check(self, plan: PathLike, overrides: Overrides | None = None) -> CheckDocument:
        """Check a plan file against its machine, and preview it. Changes nothing.

        Args:
            plan: The plan, a TOML file.
            overrides: Plan keys to replace, for example `{"target.device": "/dev/sdb", "protocol.rounds": 4}`.

        Returns:
            The preview; durations in seconds, sizes in bytes.

        Raises:
            PlanError: The plan has problems; the error lists all of them.
            UsageError: The file cannot be read.

        Example:
            >>> preview = Lab(store).check(plan)
            >>> preview.rounds, preview.trials
            (2, 32)
        """
        from paribus.lab.checking import check_plan

        with _passwords_withheld():
            return check_plan(str(plan), override_texts(overrides), self._location)

    def simulate(
        self,
        plan: PathLike,
        effect: str = "0%",
        *,
        noise: str | None = None,
        times: int = 200,
        seed: int = 1,
        overrides: Overrides | None = None,
    ) -> SimulateDocument:
        """Simulate experiments with a known effect, and count their verdicts. Changes nothing.

        Args:
            plan: The plan, a TOML file.
            effect: True effect of every level but the baselines, for example `"-3%"`.
            noise: Standard deviation between trials, for example `"2%"`. Default: that of earlier experiments on the
                machine, else 2 %.
            times: Number of simulated experiments, at least 1.
            seed: Seed of run orders and noise, at least 0.
            overrides: Plan keys to replace, as for `check`.

        Returns:
            The verdicts of each arm, counted over the simulated experiments; effect and noise are ratios.

        Raises:
            PlanError: The plan has problems, or its budget is too small.
            UsageError: `effect` or `noise` is no share, or `times` or `seed` is too small.

        Example:
            >>> simulated = Lab(store).simulate(plan, "80%", noise="2%", times=3)
            >>> {verdict.value: n for verdict, n in simulated.arms[0].verdicts.items()}
            {'better': 3}
        """
        from paribus.lab.simulation import simulate_plan, simulated_effect

        with _passwords_withheld():
            true_effect = simulated_effect(effect, noise)
            return simulate_plan(str(plan), override_texts(overrides), true_effect, times, seed, self._location)

    def run(
        self, plan: PathLike, overrides: Overrides | None = None, *, listener: ExperimentListener | None = None
    ) -> ExperimentResult:
        """Run a plan as a new experiment, and restore the machine.

        Ctrl-C also restores the machine; `resume` then continues the experiment.

        Args:
            plan: The plan, a TOML file.
            overrides: Plan keys to replace, as for `check`.
            listener: Receiver of the progress, for example a subclass of `paribus.lab.listening.DiscardingListener`.

        Returns:
            The experiment with its results.

        Raises:
            PlanError: The plan has problems; nothing was changed.
            TargetBusy: Another experiment runs on the target; nothing was begun.
            JournalOpen: An earlier experiment was not restored; `paribus undo` restores it.
            ParibusError: The experiment stopped; `resume` continues it.

        Example:
            >>> result = Lab(new_store).run(plan, {"protocol.seed": 7})
            >>> result.experiment.state.value
            'done'
        """
        from paribus.lab.running import started

        with _passwords_withheld(), started(str(plan), override_texts(overrides), self._location) as session:
            return _carried_out(session, listener)

    def resume(
        self, name: str = "last", *, budget: str = "", listener: ExperimentListener | None = None
    ) -> ExperimentResult:
        """Continue an experiment that was cut off, or has used up its budget.

        Args:
            name: An id, the start of one, the name of a plan, or `last`.
            budget: Machine time as in a plan, with what was used before; empty for that of the plan.
            listener: Receiver of the progress, as for `run`.

        Returns:
            The experiment with its results.

        Raises:
            UsageError: The store has no such experiment, it is done or was imported, or its budget is used up.
            StoreError: The store is missing or damaged.
            TargetBusy: Another experiment runs on the target.
            JournalOpen: An experiment was not restored; `paribus undo` restores it.
            ParibusError: The experiment stopped again.

        Example:
            >>> lab = Lab(interrupted_store)
            >>> lab.experiment("last").experiment.state.value
            'interrupted'
            >>> lab.resume("last").experiment.state.value
            'done'
        """
        from paribus.lab.running import resumed

        with _passwords_withheld(), resumed(name, None, self._location, budget=budget) as session:
            return _carried_out(session, listener)

    def experiments(self) -> Records[Experiment]:
        """Return all experiments of the store, the newest first; none where the store does not exist."""
        if not store_exists(store_url(self._location)):
            return Records(Experiment, ())
        return Records(Experiment, read.experiments(open_store(self._location)))

    def experiment(self, name: str = "last") -> ExperimentResult:
        """Return an experiment with its results.

        Args:
            name: An id, the start of one, the name of a plan, or `last`.

        Raises:
            UsageError: The store has no such experiment.
            StoreError: The store is missing or damaged.
        """
        return ExperimentResult(*open_experiment(self._location, name))

    def compare(self, first: str, second: str, *, second_store: PathLike | None = None) -> ComparedDocument:
        """Compare two experiments; the margins are those of the first.

        Args:
            first: Name of the experiment that is compared with.
            second: Name of the experiment that is compared.
            second_store: Store of the second experiment. Default: this one.

        Returns:
            What `paribus compare --json` prints: differences, baselines, and effects of both.

        Raises:
            UsageError: An experiment is missing or imported, or both are the same.
            StoreError: A store is missing or damaged.

        Example:
            >>> compared = Lab(store).compare("last", "last", second_store=second_store)
            >>> [(arm.factor, arm.arm, arm.response) for arm in compared.effects]
            [('vm.swappiness', '1', 'throughput_per_s')]
        """
        from paribus.lab.results.comparison import compared_document

        other_location = self._location if second_store is None else str(second_store)
        return compared_document(open_experiment(self._location, first), open_experiment(other_location, second))

    def import_(
        self,
        *paths: PathLike,
        factor: str = "",
        level: str = "",
        rules: PathLike | None = None,
        name: str = "",
        into: str = "",
        baseline: str = "",
        file_format: str = "",
        dry_run: bool = False,
    ) -> ImportDocument:
        """Import logs and tables that others measured.

        Args:
            *paths: Files, or folders of them.
            factor: What was varied, together with `level`.
            level: Level of the factor that the files belong to.
            rules: A TOML file whose expressions over paths and options give levels.
            name: Name of the set; an existing set of that name is extended.
            into: Id or name of the set to extend.
            baseline: Level that the others are compared with.
            file_format: Format of the files. Default: recognised by content.
            dry_run: Read the files, and keep nothing.

        Returns:
            What `paribus import --json` prints: the set, its factors and the result of each file.

        Raises:
            UsageError: A file is missing, or the arguments contradict each other.
            ParibusError: No file has anything to import.
            PlanError: The rules have problems.

        Example:
            >>> imported = Lab(new_store).import_(log, factor="scheduler", level="noop")
            >>> imported.kept, imported.factors
            (1, {'scheduler': ['noop']})
        """
        from paribus.lab.store.importing import import_files, import_request, refuse_empty_import

        rules_path = None if rules is None else Path(rules)
        names = [str(path) for path in paths]
        request = import_request(
            names, factor, level, rules_path, name=name, baseline=baseline, file_format=file_format
        )
        document = import_files(request, self._location, into=into, dry_run=dry_run)
        refuse_empty_import(document)
        return document

    def export(
        self,
        name: str = "last",
        folder: PathLike | None = None,
        *,
        file_format: Literal["csv", "parquet", "hlog"] = "csv",
        tables: str | Sequence[str] = (),
        force: bool = False,
    ) -> ExportDocument:
        """Write an experiment as tables, one file each; with `hlog` its response times alone, for HdrHistogram.

        Args:
            name: An id, the start of one, the name of a plan, or `last`.
            folder: Where the files go. Default: `paribus-ID` in the working folder.
            file_format: Format of the files.
            tables: Names of the tables. Default: all.
            force: Replace existing files.

        Returns:
            What `paribus export --json` prints: the folder and the file of each table.

        Raises:
            UsageError: There is no such experiment, table or format, or a file exists.
            StoreError: The store is missing or damaged, or a file cannot be written.

        Example:
            >>> exported = Lab(store).export("last", folder, tables=["looks", "effects"])
            >>> sorted(file.table for file in exported.files)
            ['effects', 'looks']
        """
        from paribus.lab.results import exporting
        from paribus.lab.results.export_tables import select_tables

        store, experiment = open_experiment(self._location, name)
        path = Path(f"paribus-{experiment.id}") if folder is None else Path(folder)
        form = export_format(file_format)
        selected = select_tables(",".join(name_list(tables)), form)
        return exporting.export(store, experiment, form, selected, path, force=force)

    def doctor(
        self, target: str = "local", path: PathLike = ".", *, libvirt: str = "", become: bool = False
    ) -> DoctorDocument:
        """Examine whether a machine is fit to measure on; takes a few seconds and changes nothing.

        Args:
            target: `local`, or `ssh://[user@]host[:port]`.
            path: Folder that data would be made in.
            libvirt: The libvirt there, whose guests are examined. Default: `qemu:///system`, if there is one.
            become: Use sudo on the target.

        Returns:
            The conditions; the machine is fit if none of them is `unfit`.

        Raises:
            UsageError: `target` is no target.
            HostError: The machine cannot be reached.

        Example:
            >>> document = Lab().doctor(path=folder)
            >>> {condition.name: condition.fitness.value for condition in document.conditions}["path"]
            'fit'
        """
        from paribus.lab.machine.doctor import examine

        with _passwords_withheld():
            return examine(target, str(path), libvirt=libvirt, become=become)

    def apply(self, name: str, *, factor: str = "", dry_run: bool = True, anyway: bool = False) -> ApplyDocument:
        """Set on its machine what an experiment recommends; by default only return the steps.

        Args:
            name: An id, the start of one, the name of a plan, or `last`.
            factor: Only this factor. Default: all that are better.
            dry_run: Change nothing; set it to False to apply.
            anyway: Also on a machine with another fingerprint.

        Returns:
            What `paribus apply --json` prints: each step with its commands, and whether it was carried out.

        Raises:
            UsageError: There is no such experiment or factor, or the experiment was imported.
            Inapplicable: The machine is another one, or `factor` has no recommendation; only with `dry_run=False`.
            HostError: The machine refuses a value.

        Example:
            >>> recommended = Lab(store).apply("last")
            >>> [(step.knob, step.wanted) for step in recommended.steps]
            [('vm.swappiness', 1)]
        """
        from paribus.lab.rollout import applying

        with _passwords_withheld():
            document = applying.apply(name, self._location, factor=factor, dry_run=dry_run, anyway=anyway)
        if document is None:  # only a `confirm` that refuses leads here
            raise UsageError(
                f"nothing was set on the machine of {name}: confirmation was refused", "call apply again to set it"
            )
        return document

    def status(self, target: str = "local", *, become: bool = False) -> StatusDocument:
        """Return the experiments of the store, and the settings that are changed right now on a machine.

        Args:
            target: `local`, or `ssh://[user@]host[:port]`.
            become: Use sudo on the target.

        Raises:
            UsageError: `target` is no target.
            NotInspected: The journals of the machine cannot be read.
            StoreError: The store is damaged, or was named and is missing.

        Example:
            >>> status = Lab(store).status()
            >>> [(experiment.name, experiment.state) for experiment in status.experiments], status.open_changes
            ([('n', 'done')], [])
        """
        from paribus.lab.status import document

        with _passwords_withheld():
            return document(self._location, target, become=become)

    def clean(self, path: PathLike = ".", *, names: str | Sequence[str] = (), unneeded: bool = False) -> CleanDocument:
        """List the data left in a folder of this machine, and remove that of some experiments.

        Args:
            path: The folder that plans name as `target.path`.
            names: Ids of experiments whose data is removed.
            unneeded: Remove all data that no experiment needs any more; excludes `names`.

        Returns:
            The data folders with their sizes in bytes, the removed ones included.

        Raises:
            UsageError: The folder does not exist, or the data of a named experiment is missing or must stay.
            StoreError: The store is damaged, or was named and is missing.

        Example:
            >>> Lab(store).clean(folder).leftovers
            []
        """
        from paribus.lab.cleaning import clean

        if names and unneeded:
            raise UsageError("names and unneeded exclude each other", "name experiments, or remove all unneeded data")
        with _passwords_withheld():
            return clean(str(path), self._location, names=name_list(names), unneeded=unneeded)

    def delete(
        self,
        *names: str,
        all_of: str = "",
        older: str = "",
        keep: int | None = None,
        anyway: bool = False,
        dry_run: bool = True,
    ) -> DeleteDocument:
        """Delete experiments from the store; by default only return the selected ones.

        Args:
            *names: Ids, starts of ids, or names of plans that have one experiment.
            all_of: Name of a plan, all of whose experiments are selected.
            older: Least time since the end of those that are selected, for example `"90d"`.
            keep: Number of newest experiments that `all_of` and `older` do not select.
            anyway: Also delete what may be running on a machine that was not inspected.
            dry_run: Delete nothing; set it to False to delete.

        Returns:
            What `paribus delete --json` prints: the experiments, and the size of the store in bytes.

        Raises:
            UsageError: A name is wrong, the selection contradicts itself, or an experiment must stay.
            StoreError: The store is missing, damaged or locked.
            NotInspected: The journals of this machine cannot be read.

        Example:
            >>> document = Lab(store).delete("last")
            >>> [experiment.name for experiment in document.experiments], document.deleted
            (['n'], False)
        """
        from paribus.lab.store import deleting

        request = deleting.DeleteRequest(
            names=names, all_of=all_of, older_s=deleting.age(older), keep=keep, anyway=anyway
        )
        with _passwords_withheld():
            document = deleting.delete(request, self._location, dry_run=dry_run)
        assert document is not None  # only a `confirm` that refuses leads here
        return document


def _carried_out(session: Session, listener: ExperimentListener | None) -> ExperimentResult:
    session.carry_out(listener or DiscardingListener(), lambda: False)
    session.judge()
    return ExperimentResult(session.store, session.ended())


@contextlib.contextmanager
def _passwords_withheld() -> Iterator[None]:
    with environment.withheld(*environment.USUAL):
        yield
