"""From advice to settings of a machine, on a host that is scripted."""

import dataclasses
from collections.abc import Sequence

import pytest
from plan_samples import FILEIO, checked, offer, simple

from paribus.cli.texts.applying import lines
from paribus.errors import HostError, Inapplicable, UsageError
from paribus.hosts.fake import FakeHost
from paribus.hosts.transport import Completed
from paribus.knobs.catalog import load
from paribus.lab.rollout import applying
from paribus.lab.rollout.apply_document import ApplyDocument
from paribus.model import Experiment, ExperimentState, Factor, Knob, Plan
from paribus.report.view.view_models import Advice
from paribus.trial.target_session import Site

QUEUE = "/sys/block/sda/queue"
FOUND = Experiment(
    id="e1",
    name="n",
    plan_digest="",
    plan_text="",
    overrides={},
    seed=1,
    schedule_hash="",
    rounds=1,
    state=ExperimentState.DONE,
    started=0.0,
    ended=1.0,
    versions={},
    fingerprint={},
    notes=(),
)


class Host(FakeHost):
    """A host with `id -u`, and without modules."""

    user = "0"

    def run(self, argv: Sequence[str], *, text: str = "", timeout_s: float | None = 60.0) -> Completed:
        if argv[0] == "modinfo":
            return Completed(1, "", "")
        assert list(argv) == ["id", "-u"]
        return Completed(0, f"{self.user}\n", "")


def _host(**more: str) -> Host:
    return Host(
        {
            "/proc/sys/vm/swappiness": "60\n",
            f"{QUEUE}/scheduler": "none [mq-deadline] bfq\n",
            f"{QUEUE}/iosched/read_expire": "500\n",
            **more,
        }
    )


def _set(factor: str, arm: str) -> Advice:
    return Advice(factor=factor, kind="set", text="t", recipe=None, arm=arm)


def _document(plan: Plan, host: Host, *advice: Advice, factor: str = "", found: Experiment = FOUND) -> ApplyDocument:
    by_factor = {one.factor: one for one in advice}
    return applying.document(plan, found, by_factor, Site(host, "", load()), factor)


def test_the_load_host_of_the_measurement_is_no_part_of_the_machine_that_is_set() -> None:
    plan = checked(simple('"vm.swappiness" = [60, 1]'))
    driven = dataclasses.replace(FOUND, fingerprint={"load_host": "gen", "load_host_kernel": "6.1"})
    named = {one.name for one in _document(plan, _host(), found=driven).differences}
    assert not [name for name in named if name.startswith("load_host")]


def test_values_in_force_are_not_set_again() -> None:
    plan = checked(simple('"vm.swappiness" = [60, 1]'))
    asked = _document(plan, _host(), _set("vm.swappiness", "1"))
    assert asked.to_set == {"vm.swappiness": 1}
    assert asked.steps[0].persist.startswith("printf '%s\\n' 'vm.swappiness = 1' >> /etc/sysctl.d/")
    again = _document(plan, _host(**{"/proc/sys/vm/swappiness": "1\n"}), _set("vm.swappiness", "1"))
    assert again.to_set == {}


def test_two_that_want_different_values_of_one_knob_are_refused_until_one_is_chosen() -> None:
    text = simple('"vm.swappiness" = [60, 1]') + '[[combination]]\nname = "both"\nsettings = { "vm.swappiness" = 10 }\n'
    plan = checked(text)
    advice = _set("vm.swappiness", "1"), _set("combination", "both")
    with pytest.raises(UsageError, match=r"vm.swappiness recommends vm.swappiness = 1, combination recommends 10"):
        _document(plan, _host(), *advice)
    assert _document(plan, _host(), *advice, factor="combination").to_set == {"vm.swappiness": 10}


def test_a_variable_of_the_experiments_own_server_is_a_statement_for_a_person() -> None:
    knob = Knob(name="mysql.innodb_io_capacity", kind="variable", addresses=("innodb_io_capacity",), type="integer",
                summary="", documentation="")  # fmt: skip
    plan = checked(simple('"vm.swappiness" = [60, 1]'))
    factor = Factor(key=knob.name, levels=(200, 2000), labels=("200", "2000"), scope=("fileio",))
    plan = dataclasses.replace(plan, factors=(factor,), knobs=(*plan.knobs, knob), baseline={knob.name: 200})
    found = _document(plan, _host(), _set(knob.name, "2000"))
    assert found.to_set == {}
    (step,) = found.steps
    assert (step.by_hand, step.set) == (True, "SET GLOBAL innodb_io_capacity = 2000;")
    assert "below [mysqld]" in step.persist
    assert "by hand" in "\n".join(lines(step))


def test_dependent_setting_may_be_missing_before_its_owner_is_set() -> None:
    offers = {
        "block.scheduler": offer("block.scheduler", "mq-deadline", ("none", "mq-deadline", "bfq")),
        "block.iosched.slice_idle": offer("block.iosched.slice_idle", 8),
    }
    both = '{ "block.scheduler" = "bfq", "block.iosched.slice_idle" = 0 }'
    plan = checked(f'name = "n"\n{FILEIO}\n[[combination]]\nname = "bfq"\nsettings = {both}\n', offers=offers)
    found = _document(plan, _host(), _set("combination", "bfq"))
    assert [one.refused for one in found.steps] == ["", ""]
    assert found.to_set == {"block.scheduler": "bfq", "block.iosched.slice_idle": 0}


def test_other_differences_from_the_measured_machine_are_reported() -> None:
    plan = checked(simple('"vm.swappiness" = [60, 1]\n"block.scheduler" = ["mq-deadline", "none"]'))
    host = _host(**{f"{QUEUE}/scheduler": "none mq-deadline [bfq]\n"})
    found = _document(plan, host, _set("vm.swappiness", "1"))
    assert found.notes == ["measured with block.scheduler = mq-deadline, which is bfq here now"]


def test_settings_that_were_tried_one_at_a_time_are_told_to_be_untried_together() -> None:
    plan = checked(simple('"vm.swappiness" = [60, 1]\n"block.scheduler" = ["mq-deadline", "none"]'))
    found = _document(plan, _host(), _set("vm.swappiness", "1"), _set("block.scheduler", "none"))
    assert "vm.swappiness, block.scheduler were not measured together" in found.notes[0]


def test_a_user_who_may_not_set_it_is_told_before_anybody_is_asked() -> None:
    host = _host()
    host.user = "1000"
    found = _document(checked(simple('"vm.swappiness" = [60, 1]')), host, _set("vm.swappiness", "1"))
    with pytest.raises(HostError, match="only root may set it"):
        applying.refuse(found, "", anyway=True)


def test_another_machine_is_refused_with_each_difference_but_what_is_the_experiments_own() -> None:
    plan = checked(simple('"vm.swappiness" = [60, 1]'))
    measured = dataclasses.replace(FOUND, fingerprint={"kernel": "6.1", "device": "/dev/sda", "governor": "powersave"})
    host = _host(**{"/proc/sys/kernel/osrelease": "6.12\n"})
    found = _document(plan, host, _set("vm.swappiness", "1"), found=measured)
    with pytest.raises(Inapplicable, match=r"kernel: measured 6.1, here 6.12(.|\n)*governor: measured powersave"):
        applying.refuse(found, "", anyway=False)
    applying.refuse(found, "", anyway=True)
    own = dataclasses.replace(plan, baseline={**plan.baseline, "cpu.governor": "powersave"})
    named = {one.name for one in _document(own, host, found=measured).differences}
    assert named == {"kernel"}


@pytest.mark.parametrize("kind", ["choose", "wait"])
def test_a_factor_that_is_not_decided_is_refused_when_it_is_named(kind: str) -> None:
    plan = checked(simple('"vm.swappiness" = [60, 1]'))
    advice = Advice(factor="vm.swappiness", kind=kind, text="1 seems better, but the verdict is suspect", recipe=None)
    machine = dataclasses.replace(FOUND, fingerprint={"device": "/dev/sda"})
    found = _document(plan, _host(), advice, found=machine)
    assert found.to_set == {}
    applying.refuse(found, "", anyway=False)
    with pytest.raises(Inapplicable, match="suspect"):
        applying.refuse(found, "vm.swappiness", anyway=True)
