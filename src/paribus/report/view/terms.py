"""Names of states, purposes and limits, and of the entries of a machine's fingerprint.

Their values are English words that the store and JSON documents have; here they are marked for translation.
"""

import re
from enum import StrEnum

from paribus.i18n import N_, gettext

MARKED = (
    # states of trials and experiments
    N_("planned"),
    N_("applying"),
    N_("settling"),
    N_("measuring"),
    N_("done"),
    N_("failed"),
    N_("invalid"),
    N_("superseded"),
    N_("spared"),
    N_("running"),
    N_("interrupted"),
    N_("imported"),
    # purposes of trials
    N_("calibrate"),
    N_("noise_floor"),
    N_("compare"),
    N_("screen"),
    N_("select"),
    N_("placebo"),
    N_("confirm"),
    N_("alone"),
    N_("measure"),
    N_("precondition"),
    # why trials fail
    N_("setting-rejected"),
    N_("server-would-not-start"),
    N_("load-error"),
    N_("no-data"),
    N_("limit-reached"),
    N_("tooling"),
    # what became of a setting that was not taken
    N_("was ignored"),
    N_("was clamped"),
    N_("was rounded"),
    N_("was changed by another program"),
    N_("was refused"),
    N_("is read-only here"),
    N_("does not exist here"),
    # limits
    N_("the load engine"),
    N_("the rate offered"),
    N_("processors"),
    N_("locks"),
    N_("device"),
    N_("device operations"),
    N_("device bandwidth"),
    N_("commits"),
    N_("nothing"),
    # of a fingerprint
    N_("host"),
    N_("system"),
    N_("kernel"),
    N_("kernel_arguments"),
    N_("cpu"),
    N_("machine"),
    N_("numa_nodes"),
    N_("memory"),
    N_("clock_source"),
    N_("governor"),
    N_("filesystem"),
    N_("device"),
    N_("device_model"),
    N_("device_serial"),
    N_("device_backing_file"),
    N_("device_size"),
    N_("device_logical_block_bytes"),
    N_("load_host"),
    N_("load_host_system"),
    N_("load_host_kernel"),
    N_("load_host_kernel_arguments"),
    N_("load_host_cpu"),
    N_("load_host_machine"),
    N_("load_host_processors"),
    N_("load_host_numa_nodes"),
    N_("load_host_memory"),
    N_("load_host_clock_source"),
    N_("load_host_governor"),
    N_("hypervisor"),
    N_("hypervisor_system"),
    N_("hypervisor_kernel"),
    N_("hypervisor_kernel_arguments"),
    N_("hypervisor_cpu"),
    N_("hypervisor_machine"),
    N_("hypervisor_processors"),
    N_("hypervisor_numa_nodes"),
    N_("hypervisor_memory"),
    N_("hypervisor_clock_source"),
    N_("hypervisor_governor"),
    # of what should be the same in all trials, beside knobs
    N_("boot"),
    N_("engine"),
    N_("clock source"),
    N_("online processors"),
    N_("mount options"),
    N_("load engine"),
    N_("tools unconfined"),
    N_("load host: kernel"),
    N_("load host: boot"),
    N_("load host: clock source"),
    N_("load host: online processors"),
    N_("load host: memory"),
    N_("load host: load engine"),
    N_("hypervisor: kernel"),
    N_("hypervisor: boot"),
    N_("hypervisor: clock source"),
    N_("hypervisor: online processors"),
    N_("hypervisor: memory"),
    N_("absent"),
)


def word(value: StrEnum) -> str:
    """A state, a purpose or a limit in the language that is spoken."""
    return gettext(str(value))


def fact(name: str) -> str:
    """The name of a fingerprint's entry in the language that is spoken."""
    if numbered := re.fullmatch(r"load_host_(\d+)_?(.*)", name):
        return gettext("load host {n}: {what}", n=numbered[1], what=fact(numbered[2] or "host"))
    return gettext(name).replace("_", " ")
