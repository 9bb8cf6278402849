"""Guards for all tests: no skip goes unseen in CI, and nothing touches the user's own store or journals."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

# A machine that measures is not always quick; and a landing does not hang on luck: `make proof` looks for new examples.
hypothesis.settings.register_profile("paribus", deadline=None, derandomize="PARIBUS_EXPLORE" not in os.environ)
hypothesis.settings.load_profile("paribus")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # `make test &` in a script: tests of Ctrl-C would wait for ever
    signal.signal(signal.SIGINT, signal.default_int_handler)
ROOT = Path(__file__).parent.parent


# Files whose tests change settings of the kernel, make control groups, or copy mounts into other namespaces.
OF_THE_WHOLE_MACHINE = {
    "test_catalogue",
    "test_examples",
    "test_faults",
    "test_knobs",
    "test_mounts",
    "test_process",
    "test_server_process",
    "test_ssh",
    "test_tool_confinement",
}


IN_A_SANDBOX = {
    "test_disk_failures",
    "test_layouts",
    "test_sandbox",
    "test_stacks",
}  # files whose tests share a virtual machine
OF_A_HYPERVISOR = {
    "test_domain",
    "test_guest_faults",
    "test_hypervisor",
}  # files whose tests share a daemon of libvirt and its guest


class _Scheduling(LoadScopeScheduling):
    """Two tests go on at once, but not two that change the machine as a whole or share the link to a target."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, name = nodeid.partition("::")
        if "unit/" in file:
            return file  # the fixtures of a module are made once
        if Path(file).stem in OF_THE_WHOLE_MACHINE or "over_ssh" in name:
            return "the machine"
        if Path(file).stem in IN_A_SANDBOX:
            return "the sandbox"  # which is started once
        if Path(file).stem in OF_A_HYPERVISOR:
            return "the hypervisor"
        return "browser" if "system/serve/" in file else nodeid  # its pages are made once


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Return the scheduler that divides tests among workers."""
    return _Scheduling(config, log)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Fail a skipped test where PARIBUS_NO_SKIP is set."""
    _fail_where_skipped((yield).get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """So has a module that is skipped whole."""
    _fail_where_skipped((yield).get_result())


def _fail_where_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and os.environ.get("PARIBUS_NO_SKIP"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and must not be: {report.longrepr}"


@pytest.fixture(scope="session")
def state_folder() -> Callable[[Path], Path]:
    """The folder for the journals of a test with this temporary folder."""

    def state(folder: Path) -> Path:
        return ROOT / "artefacts" / "state" / folder.name if _is_volatile(folder) else folder / "state"

    return state


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state_folder: Callable[[Path], Path]) -> None:
    """A store and journals of the test's own, and words in English."""
    state = state_folder(tmp_path)
    monkeypatch.setenv("PARIBUS_STATE", str(state))
    monkeypatch.setenv("PARIBUS_STATE_COPY", str(state.with_name(f"{tmp_path.name}-copies")))
    monkeypatch.setenv("PARIBUS_REGISTER", str(state.with_name(f"{tmp_path.name}-register")))
    monkeypatch.setenv("PARIBUS_STORE", str(tmp_path / "paribus.db"))
    monkeypatch.setenv("LANGUAGE", "en")  # whatever the tester's locale is


def _is_volatile(path: Path) -> bool:
    """Whether the folder is on a tmpfs, where no journal is kept."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    deepest = max((m for m in mounts if path.is_relative_to(m[1])), key=lambda m: len(m[1]))
    return deepest[2] == "tmpfs"


@pytest.fixture
def as_root() -> None:
    """For tests that change the machine."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
