"""Values in the definition of a domain, and the definition with others."""

import pytest

from paribus.errors import BadReply, Missing
from paribus.hosts.guests import definition

XML = """<domain type='kvm' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>
  <name>db1</name>
  <vcpu placement='static'>2</vcpu>
  <devices>
    <disk type='file' device='disk'><driver name='qemu' type='raw' cache='writeback'/><target dev='vda'/></disk>
    <disk type='block' device='disk'>
      <driver name='qemu' type='raw' cache='none'/>
      <target dev='vdb'/>
      <iotune><total_iops_sec>500</total_iops_sec></iotune>
    </disk>
  </devices>
  <qemu:commandline><qemu:arg value='-S'/></qemu:commandline>
</domain>
"""
CACHE, LIMIT, CPUS, PAGES = (
    "devices/disk/driver/@cache",
    "devices/disk/iotune/total_iops_sec",
    "vcpu",
    "memoryBacking/hugepages?",
)
PINS, THREADS, TOPOLOGY = (
    "cputune/vcpupin[vcpu=0]/@cpuset",
    "cputune/iothreadpin[iothread=1]/@cpuset",
    "cpu/topology/@sockets:cores:threads",
)


@pytest.mark.parametrize(
    ("path", "disk", "value"),
    [
        (CACHE, "vda", "writeback"),
        (CACHE, "vdb", "none"),
        (LIMIT, "vda", "default"),
        (LIMIT, "vdb", "500"),
        (CPUS, "", "2"),
        (PAGES, "", "off"),
        ("devices/disk/driver/@io", "vda", "default"),
    ],
)
def test_values_are_read(path: str, disk: str, value: str) -> None:
    assert definition.value(XML, path, disk) == value


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (CACHE, ["unsafe", "default", "none"]),
        (LIMIT, ["default", "70"]),
        (CPUS, ["4"]),
        (PAGES, ["on", "off"]),
        ("numatune/memory/@nodeset", ["0", "default"]),
        ("vcpu/@cpuset", ["0-1", "default"]),
        ("devices/disk/driver/@io", ["native", "default"]),
        (PINS, ["2;3", "0-1,5", "default"]),
        (THREADS, ["4;5", "default"]),
        (TOPOLOGY, ["1:2:1", "2:1:1", "default"]),
    ],
)
def test_values_are_set_on_one_disk_only(path: str, values: list[str]) -> None:
    text = XML
    for value in values:
        text = definition.edited(text, {path: value}, "vdb", "experiment")
        assert definition.value(text, path, "vdb") == value
    assert definition.value(text, CACHE, "vda") == "writeback"


def test_no_empty_element_is_left() -> None:
    nodes, cores = "numatune/memory/@nodeset", "vcpu/@cpuset"
    text = definition.edited(XML, {nodes: "0", cores: "0"}, "vdb", "experiment")
    text = definition.edited(text, {nodes: "default", cores: "default", LIMIT: "default"}, "vdb", "experiment")
    assert not any(name in text for name in ("numatune", "cpuset", "iotune"))
    assert definition.value(text, CPUS, "") == "2"


def test_elements_are_in_the_order_of_their_numbers() -> None:
    pins = "<vcpupin vcpu='2' cpuset='5'/><emulatorpin cpuset='7'/><vcpupin vcpu='0' cpuset='3-4'/>"
    text = XML.replace("<devices>", f"<cputune>{pins}</cputune><devices>")
    assert definition.value(text, PINS, "") == "3-4;;5"
    text = definition.edited(text, {PINS: "default"}, "vdb", "experiment")
    assert "vcpupin" not in text and definition.value(text, "cputune/emulatorpin/@cpuset", "") == "7"


def test_a_topology_is_removed_with_its_other_parts() -> None:
    topology = "<cpu mode='host-model'><topology sockets='1' dies='1' cores='2' threads='1'/></cpu>"
    text = XML.replace("<devices>", f"{topology}<devices>")
    assert definition.value(text, TOPOLOGY, "") == "1:2:1"
    text = definition.edited(text, {TOPOLOGY: "default"}, "vdb", "experiment")
    assert "topology" not in text and definition.value(text, "cpu/@mode", "") == "host-model"


def test_the_mark_distinguishes_a_definition_and_is_there_once() -> None:
    once = definition.edited(XML, {}, "vda", "first")
    again = definition.edited(once, {}, "vda", "second")
    assert once.count("first") == 1 and "first" not in again and again.count("second") == 1
    assert "qemu:commandline" in again


def test_differing_parts_of_a_running_domain_are_named() -> None:
    memory = "<currentMemory unit='KiB'>4</currentMemory>"
    before = f"<domain id='1'>{memory}<devices>{{disks}}<channel>{{agent}}</channel></devices></domain>"
    disks = "<disk><target dev='vda'/></disk>"
    text = before.format(disks=disks, agent="")
    assert definition.differing(text, text.replace("'vda'", '"vda"')) == []
    assert definition.differing(text, before.format(disks=disks, agent="<target state='connected'/>")) == []
    assert definition.differing(text, text.replace(">4<", ">2<")) == ["currentMemory"]
    assert definition.differing(text, before.format(disks=2 * disks, agent="")) == ["devices/disk"]
    assert definition.differing(text, text.replace("<devices>", "<cputune/><devices>")) == ["cputune"]


def test_an_unknown_disk_and_a_text_without_xml_are_errors() -> None:
    with pytest.raises(Missing, match="db1 has no disk 'vdc'"):
        definition.value(XML, CACHE, "vdc")
    with pytest.raises(BadReply, match="is not understood"):
        definition.value("error: no", CACHE, "vda")
