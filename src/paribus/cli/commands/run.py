"""`paribus run`: carry out a plan."""

from paribus.cli.carrying_out import Ending, carry_out
from paribus.cli.options import (
    Anyway,
    AsJson,
    FailOn,
    LogFile,
    NoReport,
    Overrides,
    PlanFile,
    Quiet,
    ReportFile,
    StoreUrl,
    Strict,
    Verbose,
    Wait,
    read_admission,
    read_overrides,
)
from paribus.cli.terminal import report_line


def run(
    plan_file: PlanFile,
    overrides: Overrides = None,
    store: StoreUrl = None,
    report_file: ReportFile = None,
    no_report: NoReport = False,
    fail_on: FailOn = "",
    strict: Strict = False,
    wait: Wait = False,
    anyway: Anyway = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    log_file: LogFile = None,
    as_json: AsJson = False,
) -> None:
    """Run the experiment of a plan, and restore the machine.

    Ctrl-C stops it at any point. The machine is restored, what was measured is kept, and paribus resume continues.

    Example: paribus run examples/first.toml
    """
    from paribus.lab.running import started

    ending = Ending.of(
        report_file,
        no_report,
        fail_on,
        strict=strict,
        verbose=verbose,
        quiet=quiet,
        log_file=log_file,
        as_json=as_json,
    )
    admission = read_admission(wait=wait, anyway=anyway)
    with started(str(plan_file), read_overrides(overrides), store, report_line, admission) as session:
        carry_out(session, ending)
