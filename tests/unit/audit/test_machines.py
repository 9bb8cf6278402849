"""Every rule of the program, held against twelve machines: the states are those of the golden file."""

import tomllib
from pathlib import Path

from paribus.audit import AdviceItem, AdviceStatus, AuditFacts, SettingInForce, assess, built_in_rules
from paribus.audit.facts import BYTES

GOLDEN = Path(__file__).parents[2] / "golden" / "audit"
LETTERS = {
    AdviceStatus.DIFFERS: "D",
    AdviceStatus.AGREES: "=",
    AdviceStatus.UNSPECIFIC: "u",
    AdviceStatus.OUTDATED: "o",
    AdviceStatus.NOT_APPLICABLE: "-",
    AdviceStatus.NOT_READ: ".",
}
SIZES = ("_size", "_buffers", "_mem", "_capacity", "vm.dirty", "vm.dirty_background")


def _machines() -> dict[str, AuditFacts]:
    tables = tomllib.loads((GOLDEN / "machines.toml").read_text(encoding="utf-8"))
    return {
        name: AuditFacts(
            facts=table["facts"],
            settings={
                setting: SettingInForce(value=value, unit=BYTES if setting.endswith(SIZES) else "")
                for setting, value in table["settings"].items()
            },
        )
        for name, table in tables.items()
    }


def _items(facts: AuditFacts) -> dict[str, AdviceItem]:
    return {item.rule: item for advice in assess(built_in_rules(), facts) for item in advice.items}


def _states() -> str:
    """A line for each rule, with a letter for each machine in the order of the file."""
    machines = [_items(facts) for facts in _machines().values()]
    legend = ", ".join(f"{letter} {status}" for status, letter in LETTERS.items())
    lines = [f"{legend}; machines: {', '.join(_machines())}"]
    lines += [
        f"{''.join(LETTERS[items[rule.id].status] for items in machines)} {rule.setting} {rule.id}"
        for rule in built_in_rules().rules
    ]
    return "\n".join(lines) + "\n"


def test_states_of_all_rules_on_twelve_machines_are_as_in_the_golden_file(tmp_path: Path) -> None:
    states = _states()
    actual = tmp_path / "states.txt"
    actual.write_text(states, encoding="utf-8")
    expected = (GOLDEN / "states.txt").read_text(encoding="utf-8")
    assert states == expected, f"see {actual}; where it is right, copy it to {GOLDEN}"


def test_dangerous_settings_of_a_server_differ_from_all_advice_on_them() -> None:
    items = _items(_machines()["PostgreSQL 18 with dangerous settings"])
    for setting in ("postgres.fsync", "postgres.full_page_writes", "postgres.autovacuum"):
        rules = [rule for rule in built_in_rules().rules if rule.setting == setting]
        assert rules and all(items[rule.id].status is AdviceStatus.DIFFERS for rule in rules), setting


def test_advice_on_schedulers_of_old_kernels_is_outdated_on_new_ones() -> None:
    items = _items(_machines()["MariaDB 11.8 on NVMe"])
    rules = [rule for rule in built_in_rules().rules if rule.setting == "block.scheduler" and "noop" in rule.advised]
    assert rules and all(
        items[rule.id].status in (AdviceStatus.OUTDATED, AdviceStatus.NOT_APPLICABLE) for rule in rules
    )
