"""Mount options and the kernels that have them."""

import pytest

from paribus.knobs.layouts.mount_options import options_of, refusal

NEW, OLD = "6.1.0-56-cloud-amd64", "3.10.0-1160.el7.x86_64"


@pytest.mark.parametrize(
    ("file_system", "option", "kernel", "said", "todo"),
    [
        ("ext4", "noatime", NEW, "", ""),
        ("ext4", "data=writeback", NEW, "", ""),
        ("ext4", "nobarrier", NEW, "", ""),
        ("xfs", "nobarrier", NEW, "no nobarrier since kernel 4.19", "use block.write_cache"),
        ("xfs", "nobarrier", OLD, "", ""),
        ("xfs", "noikeep", NEW, "", ""),
        ("xfs", "noikeep", "6.18.1", "ignores noikeep from kernel 6.18 on", "nothing"),
        ("xfs", "swalloc", "6.18.1", "", ""),
        ("xfs", "lazytime", OLD, "from kernel 4.0 on", ""),
        ("ext4", "orlov", NEW, "ignores orlov from kernel 5.17 on", "nothing"),
        ("ext4", "noacl", NEW, "no noacl since kernel 6.1", "nothing"),
        ("ext4", "noatim", NEW, "no mount option 'noatim'", "did you mean"),
        ("ext4", "of_a_vendor_zz9", NEW, "", ""),
        ("btrfs", "compress=zstd:3", OLD, "from kernel 4.14 on", ""),
        ("btrfs", "compress=lzo", OLD, "", ""),
        ("btrfs", "discard=async", OLD, "from kernel 5.6 on", "use discard"),
        ("btrfs", "recovery", NEW, "no recovery since kernel 4.5", "use rescue=usebackuproot"),
    ],
)
def test_an_option_is_in_its_kernels_only(file_system: str, option: str, kernel: str, said: str, todo: str) -> None:
    refused = refusal(file_system, option, kernel)
    assert bool(said) == (refused is not None)
    if refused is not None:
        assert said in refused.message
        assert todo in refused.remedy


def test_every_file_system_of_layouts_has_its_options() -> None:
    for file_system, option in (("xfs", "logbsize"), ("ext4", "data"), ("btrfs", "nodatacow")):
        assert {option, "noatime"} <= options_of(file_system).keys()
