"""Another machine than the measured one: what makes it one of the same kind, and its disk."""

from dataclasses import replace

import pytest
from plan_samples import FILEIO, checked, simple

from paribus.experiment import walk
from paribus.lab.rollout.other_machine import OtherMachine, is_own_fact, moved, storage_kind, with_stated_device
from paribus.model import Experiment, Location
from paribus.store.open import open_engine, store_url


@pytest.mark.parametrize(
    ("name", "measured", "here", "is_own"),
    [
        ("host", "db1", "db2", True),
        ("device", "/dev/sda", "/dev/sdb", True),
        ("device_model", "A", "B", False),
        ("kernel", "6.1", "5.10", False),
        ("kernel_arguments", "root=/dev/sda1 quiet", "root=UUID=1 rd.luks.uuid=2 quiet", True),
        ("kernel_arguments", "root=/dev/sda1 quiet", "root=/dev/sda1 mitigations=off", False),
        ("hypervisor_kernel", "6.1", "nothing", True),
    ],
)
def test_a_machine_of_the_kind_has_its_own_name_and_disks(name: str, measured: str, here: str, is_own: bool) -> None:
    assert is_own_fact(name, measured, here) == is_own


def test_storage_is_of_another_kind_where_more_disks_or_a_volume_lie_below() -> None:
    one, other = Location("/dev/sda"), Location("/dev/sdb")
    assert storage_kind(one) == storage_kind(other) == "1 disk"
    assert storage_kind(Location()) == "0 disks"
    array = Location("/dev/sda", None, ("/dev/sdb",), "/dev/md0", ("/dev/md0",))
    assert storage_kind(array) == "2 disks, 1 md"
    assert storage_kind(replace(array, top="/dev/dm-1")) == "2 disks, 1 md, a volume on it"


@pytest.fixture
def recorded(tmp_path) -> Experiment:  # type: ignore[no-untyped-def]
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, '[protocol]\nbudget = "48h"'))
    return walk.begin(plan, {}, {}, {}, open_engine(store_url(str(tmp_path / "s.db")), create=True))


def test_the_disk_is_the_one_that_the_plan_names(recorded: Experiment) -> None:
    there = OtherMachine("ssh://db2")
    named = replace(recorded, plan_text='[target]\ndevice = "/dev/nvme1n1"\n')
    assert with_stated_device(there, named).device == "/dev/nvme1n1"
    assert with_stated_device(there, replace(named, overrides={"target.device": "/dev/sdb"})).device == "/dev/sdb"
    assert with_stated_device(replace(there, path="/data"), named).device == ""
    assert with_stated_device(replace(there, device="/dev/sdc"), named).device == "/dev/sdc"
    assert with_stated_device(there, replace(recorded, plan_text="")).device == ""


def test_root_is_reached_as_the_plan_says(recorded: Experiment) -> None:
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, '[protocol]\nbudget = "48h"'))
    becoming = replace(plan, target=replace(plan.target, become=True))
    assert moved(becoming, OtherMachine("ssh://db2")).target.become
    assert not moved(becoming, OtherMachine("local")).target.become
    assert moved(plan, OtherMachine("ssh://db2", become=True)).target.become
