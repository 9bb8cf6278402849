"""What states, purposes and limits are called, and the names that a machine's fingerprint has.

Their values are English words that the store and JSON documents have; here they are marked for translation.
"""

from enum import StrEnum

from paribus.i18n import later, tr

MARKED = (
    # states of trials and experiments
    later("planned"),
    later("applying"),
    later("settling"),
    later("measuring"),
    later("done"),
    later("failed"),
    later("invalid"),
    later("superseded"),
    later("spared"),
    later("running"),
    later("interrupted"),
    later("imported"),
    # purposes of trials
    later("calibrate"),
    later("noise_floor"),
    later("compare"),
    later("screen"),
    later("placebo"),
    later("confirm"),
    later("measure"),
    later("precondition"),
    # why trials fail
    later("setting-rejected"),
    later("server-would-not-start"),
    later("load-error"),
    later("no-data"),
    later("limit-reached"),
    later("tooling"),
    # what became of a setting that was not taken
    later("was ignored"),
    later("was clamped"),
    later("was rounded"),
    later("was set again by someone else"),
    later("was refused"),
    later("is read-only here"),
    later("is not here"),
    # limits
    later("the load engine"),
    later("the rate offered"),
    later("processors"),
    later("locks"),
    later("device operations"),
    later("device bandwidth"),
    later("commits"),
    later("nothing"),
    # of a fingerprint
    later("host"),
    later("system"),
    later("kernel"),
    later("kernel_arguments"),
    later("cpu"),
    later("machine"),
    later("numa_nodes"),
    later("memory"),
    later("clock_source"),
    later("governor"),
    later("filesystem"),
    later("device"),
    later("device_model"),
    later("device_serial"),
    later("device_backing_file"),
    later("device_size"),
    later("device_logical_block_bytes"),
    # of what should be the same in all trials, beside knobs
    later("boot"),
    later("engine"),
    later("clock source"),
    later("online processors"),
    later("mount options"),
    later("load engine"),
    later("tools unconfined"),
    later("absent"),
)


def word(value: StrEnum) -> str:
    """A state, a purpose or a limit in the language that is spoken."""
    return tr(str(value))
