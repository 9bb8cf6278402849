"""Names of a set's workloads: runs of different conditions are never repetitions under one name."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from paribus.model import Workload
from paribus.model.run_conditions import different_conditions
from paribus.units import LoadLevel

STATED, VARIANT_OF = "stated", "variant_of"
_LONG = 40  # characters of a workload's name
_MOST_DIFFERENCES = 3  # in a name
Labels = tuple[tuple[str, str], ...]
Conditions = Mapping[str, str]


@dataclass(slots=True)
class WorkloadNames:
    """Names by stated workload.

    Runs with the same labels and load get another name if their conditions differ. Runs with other labels keep it, so
    that a setting may itself be a condition; the comparison then reports the difference.
    """

    _short_names: dict[str, str] = field(default_factory=dict)  # by stated workload, also of variants
    _variants: dict[str, list[str]] = field(default_factory=dict)  # by stated workload
    _tests: dict[str, list[dict[str, str]]] = field(default_factory=lambda: defaultdict(list))  # by name
    _cells: dict[tuple[str, Labels, LoadLevel], dict[str, str]] = field(default_factory=dict)

    def resume(self, workloads: Sequence[Workload]) -> None:
        """Restore the names; `note` restores the conditions."""
        for workload in workloads:
            stated = workload.parameters[STATED]
            self._short_names[stated] = workload.name
            self._variants.setdefault(workload.parameters.get(VARIANT_OF, stated), []).append(workload.name)

    def name(self, stated: str, labels: Labels, load: LoadLevel, conditions: Conditions) -> str:
        """Return the name for a run, which may be a new one, and note its conditions."""
        variants = self._variants.setdefault(stated, [])
        if not variants:
            variants.append(self._short(stated, stated))
        suitable = [
            name for name in variants if not different_conditions(self._cells.get((name, labels, load), {}), conditions)
        ]
        same_test = [name for name in suitable if any(_same(test, conditions) for test in self._tests[name])]
        name = next(iter([*same_test, *suitable]), "")
        if not name:
            differences = different_conditions(self._cells[variants[0], labels, load], conditions)
            text = ", ".join(f"{key} {value}" for key, (_, value) in list(differences.items())[:_MOST_DIFFERENCES])
            while f"{stated}, {text}" in self._short_names:
                text += "*"
            name = self._short(f"{stated}, {text}", f"{variants[0]}, {text}")
            variants.append(name)
        self.note(name, labels, load, conditions)
        return name

    def note(self, name: str, labels: Labels, load: LoadLevel, conditions: Conditions) -> None:
        """Note the conditions of a run under a name."""
        cell = self._cells.setdefault((name, labels, load), {})
        test = next((test for test in self._tests[name] if _same(test, conditions)), None)
        if test is None:
            test = {}
            self._tests[name].append(test)
        for noted in (cell, test):
            noted |= {key: value for key, value in conditions.items() if key not in noted}

    def parameters(self, name: str) -> dict[str, str]:
        """Return the stated workload of a name, and that of which it is a variant."""
        stated = next((stated for stated, short in self._short_names.items() if short == name), name)
        base = next((base for base, variants in self._variants.items() if name in variants[1:]), "")
        return {STATED: stated} | ({VARIANT_OF: base} if base else {})

    def _short(self, stated: str, name: str) -> str:
        """Return a unique name; a long configuration is shortened to its first part if that is unique."""
        if stated not in self._short_names:
            short = name.split(",", maxsplit=1)[0].strip() if len(name) > _LONG and stated == name else name
            used = self._short_names.values()
            self._short_names[stated] = short if short and short not in used else stated
        return self._short_names[stated]


def _same(first: Conditions, second: Conditions) -> bool:
    return not different_conditions(first, second)
