"""The processes of QEMU on a hypervisor: which guest each runs, and the times of its threads."""

import pytest

from paribus.hosts.fake import FakeHost
from paribus.hosts.guests.process import ThreadTimes, guest_of, process_of, runs, thread_times

UUID = "00e2445c-b6d1-4bd1-bc71-bb3059678503"
WORDS = ["/usr/bin/qemu-system-x86_64", "-name", "guest=db1,debug-threads=on", "-uuid", UUID]


def _host(words: list[str], **files: str) -> FakeHost:
    grep = {"/proc/7/cmdline": f"grep\0-uuid {UUID}\0", "/proc/self/cmdline": ""}
    return FakeHost({**grep, "/proc/42/cmdline": "\0".join(words) + "\0", **files})


def test_the_process_of_a_domain_is_the_one_with_its_uuid() -> None:
    host = _host(WORDS)
    found = process_of(host, UUID)
    assert found is not None and found[0] == "42"
    assert runs(host, 42, UUID) and not runs(host, 7, UUID) and not runs(host, 43, UUID)
    assert process_of(host, "another") is None


@pytest.mark.parametrize(
    ("name", "guest"),
    [("guest=db1,debug-threads=on", "db1"), ("db1", "db1"), ("process=vm,guest=web,1", "web"), ("process=vm", "")],
)
def test_a_guest_has_its_name_in_any_form_of_the_option(name: str, guest: str) -> None:
    assert guest_of(_host(["qemu", "-name", name]), 42) == guest


def test_a_process_without_a_name_runs_no_known_guest() -> None:
    assert guest_of(_host(["qemu"]), 42) == ""
    assert guest_of(_host(["qemu"]), 43) == ""


def test_virtual_processors_are_counted_apart_from_other_threads() -> None:
    host = _host(WORDS)
    host.files["/proc/42/stat"] = f"42 (qemu (x) 1) S 1 {'0 ' * 9}600 100 0 0 20 0 4\n"
    for thread, (name, times) in {
        "42": ("qemu-system-x86", "1000000000 5 7"),
        "43": ("CPU 0/KVM", "2000000000 500000000 9"),
        "44": ("CPU 1/KVM", "3000000000 500000000 9"),
    }.items():
        host.files |= {f"/proc/42/task/{thread}/comm": f"{name}\n", f"/proc/42/task/{thread}/schedstat": f"{times}\n"}
    host.files["/proc/42/task/46/comm"] = "CPU 2/KVM\n"  # it ends between two readings
    times = thread_times(host, 42)
    assert times == pytest.approx((5.0, 1.0, 2.0))
    assert times is not None
    assert times.since(ThreadTimes(1.0, 0.5, 3.0)) == pytest.approx((4.0, 0.5, 0.0))


def test_a_kernel_that_does_not_count_gives_no_times() -> None:
    assert thread_times(_host(WORDS, **{"/proc/42/task/42/comm": "CPU 0/KVM\n"}), 42) is None
    assert thread_times(_host(WORDS), 42) is None
