"""Location of a knob: every entry of a folder, a device's interrupts, another place on another kernel."""

from collections.abc import Sequence

import pytest

from paribus.errors import Missing, TimedOut
from paribus.hosts.fake import FakeHost
from paribus.hosts.transport import Completed
from paribus.knobs import kinds
from paribus.knobs.catalog import load
from paribus.knobs.catalog.own_rows import OwnRow
from paribus.knobs.discovery import offer, offers, place
from paribus.model import Knob, Location

assert kinds
CPUFREQ = "/sys/devices/system/cpu/cpufreq"


def test_a_star_is_every_entry_that_has_the_file_in_the_order_of_numbers() -> None:
    names = ("policy10", "policy2", "policy0")
    files = {f"{CPUFREQ}/{name}/scaling_governor": "performance\n" for name in names}
    host = FakeHost(files | {f"{CPUFREQ}/policy3/other": "", f"{CPUFREQ}/boost": "1\n"})
    offered = place(host, load().get("cpu.governor"), Location()).addresses
    assert offered == tuple(f"{CPUFREQ}/policy{number}/scaling_governor" for number in (0, 2, 10))


def test_governors_that_differ_are_one_value_that_is_put_back_and_no_level() -> None:
    host = FakeHost(
        {f"{CPUFREQ}/policy{n}/scaling_governor": f"{g}\n" for n, g in enumerate(("powersave", "performance"))}
    )
    assert offer(host, load(), "cpu.governor", Location(), root=True).current == "powersave|performance"


def test_interrupts_are_those_of_the_devices_controller() -> None:
    folder = "/sys/block/nvme0n1/device/device/msi_irqs"
    host = FakeHost({f"{folder}/{number}": "msix\n" for number in (101, 99)})
    offered = place(host, load().get("irq.affinity"), Location("/dev/nvme0n1")).addresses
    assert offered == ("/proc/irq/99/smp_affinity_list", "/proc/irq/101/smp_affinity_list")


@pytest.mark.parametrize(
    "path", ["/proc/sys/kernel/sched_migration_cost_ns", "/sys/kernel/debug/sched/migration_cost_ns"]
)
def test_a_knob_is_found_where_this_kernel_has_it(path: str) -> None:
    host = FakeHost({path: "500000\n"})
    assert place(host, load().get("kernel.sched_migration_cost_ns"), Location()).addresses == (path,)


def test_a_knob_of_other_kernels_is_told_with_them() -> None:
    offered = offer(FakeHost({}), load(), "kernel.sched_wakeup_granularity_ns", Location(), root=True)
    assert offered.current is None
    assert "kernels up to 6.5" in offered.todo
    with pytest.raises(Missing, match=r"cpu\.governor does not exist on this machine"):
        place(FakeHost({}), load().get("cpu.governor"), Location())


class Controller(FakeHost):
    """A host with one program, which ends in this way each time."""

    def __init__(self, outcome: Completed | TimedOut) -> None:
        super().__init__({})
        self._outcome = outcome
        self.runs: list[list[str]] = []

    def run(self, argv: Sequence[str], **_options: object) -> Completed:
        if argv[0] == "sh":
            return Completed(127, "", "")
        self.runs.append(list(argv))
        if isinstance(self._outcome, TimedOut):
            raise self._outcome
        return self._outcome


def row(name: str) -> Knob:
    words = {"get": ["storcli64", name], "set": ["storcli64", "{value}"], "pattern": "(x)", "levels": ["x", "y"]}
    return OwnRow.model_validate(words | {"summary": name}).knob(f"raid.{name}")


@pytest.mark.parametrize(
    ("stdout", "stderr", "words"),
    [
        ("Foreign configurations. Continue? [y/n]\n", "no answer\n", "Continue? [y/n] no answer"),
        ("Status = Failure\n\nErrMsg = VD has OS\n", "", "ErrMsg = VD has OS"),
        ("x" * 999 + "\nErrMsg = busy\n", "", "xxx ErrMsg = busy"),
    ],
)
def test_a_program_that_fails_is_quoted(stdout: str, stderr: str, words: str) -> None:
    host = Controller(Completed(255, stdout, stderr))
    refused = offer(host, load().with_rows([row("policy")]), "raid.policy", Location(), root=True).refused
    assert refused.startswith("`storcli64 policy` failed (exit code 255): ")
    assert refused.endswith(words)
    assert len(refused) < 400


def test_a_program_that_hangs_is_run_once_for_all_its_knobs() -> None:
    host = Controller(TimedOut("storcli64 did not end within 60 s"))
    rows = [row("policy"), row("rate"), row("cache")]
    answers = offers(host, load().with_rows(rows), [each.name for each in rows], Location(), root=True)
    assert host.runs == [["storcli64", "policy"]]
    assert {answer.refused for answer in answers.values()} == {"`storcli64 policy`: storcli64 did not end within 60 s"}
    assert {answer.todo for answer in answers.values()} == {
        "run it by hand: it may ask a question, or wait for a device"
    }
    assert [answer.knob.name for answer in answers.values()] == [each.name for each in rows]


class HostWithModules(FakeHost):
    """A host whose kernel has one module more than it has loaded."""

    def run(
        self, argv: Sequence[str], *, text: str = "", timeout_s: float | None = 60.0, connects: bool = False
    ) -> Completed:
        """Answer modinfo."""
        if argv[0] != "modinfo":
            return super().run(argv, text=text, timeout_s=timeout_s, connects=connects)
        return Completed(0 if argv[-1] == "kyber-iosched" else 1, "", "")


SCHEDULER = {"/sys/block/sda/queue/scheduler": "[none] mq-deadline\n"}


@pytest.mark.parametrize(
    ("host", "offered"),
    [
        (HostWithModules(SCHEDULER), ("none", "mq-deadline", "kyber")),
        (FakeHost(SCHEDULER), ("none", "mq-deadline")),
    ],
)
def test_schedulers_whose_module_is_not_loaded_yet_are_offered(host: FakeHost, offered: tuple[str, ...]) -> None:
    assert offer(host, load(), "block.scheduler", Location("/dev/sda"), root=True).allowed == offered


@pytest.mark.parametrize("key", ["layout", "thp.enabled"])
def test_settings_of_the_machine_are_for_root(key: str) -> None:
    host = FakeHost({"/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n"})
    refused = {root: offer(host, load(), key, Location(), root=root).refused for root in (True, False)}
    assert refused == {True: "", False: "only root may set it"}
