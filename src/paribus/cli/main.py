"""The `paribus` command: its verbs and its error messages. Heavy imports happen inside the verbs."""

import contextlib
import errno
import gc
import io
import os
import signal
import sys
import traceback
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from paribus.cli.commands import (
    again,
    apply,
    audit,
    check,
    clean,
    compare,
    delete,
    doctor,
    export,
    fleet,
    import_,
    init,
    knobs,
    report,
    resume,
    run,
    sandbox,
    schema,
    serve,
    simulate,
    status,
    store,
    ticket,
    try_,
    undo,
    verify,
)
from paribus.cli.defaults import default_map
from paribus.cli.store_hints import with_store
from paribus.cli.terminal import say, visible
from paribus.errors import ParibusError
from paribus.lab.startup import withhold_passwords

_MOST_CHARACTERS = 65536  # of an error: some of it is what a target said

_CLOSED_OUTPUT = 141
_OF_THE_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF, errno.EFBIG)


class _OutputClosed(Exception):  # no error: the reader has had enough
    """The reader of the output closed it; no OSError, for which Typer would end with code 1."""


class _Verbs(TyperGroup):
    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        """Carry out a verb."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _OutputClosed from error


app = typer.Typer(
    cls=_Verbs,
    name="paribus",
    help="Change one thing, hold the rest, measure, conclude.\n\n"
    "A plan names settings, their levels and workloads. Paribus applies one setting at a time, measures it under load, "
    "restores the machine, and reports a verdict with its interval: better, worse, equivalent, depends on load, "
    "no effect possible or undecided.",
    epilog="Start with: paribus init, then paribus check PLAN and paribus run PLAN. Examples: paribus init --list. "
    "Without a plan: paribus try KEY=LEVEL,LEVEL.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("init")(init.init)
app.command("check")(check.check)
app.command("simulate")(simulate.simulate)
app.command("run")(run.run)
app.command("try")(try_.try_)
app.command("again")(again.again)
app.command("status")(status.status)
app.command("resume")(resume.resume)
app.command("undo")(undo.undo)
app.command("clean")(clean.clean)
app.command("delete")(delete.delete)
app.command("report")(report.report)
app.command("import")(import_.import_)
app.command("compare")(compare.compare)
app.command("apply")(apply.apply)
app.command("ticket")(ticket.ticket)
app.command("verify")(verify.verify)
app.command("export")(export.export)
app.add_typer(knobs.app, name="knobs")
app.add_typer(sandbox.app, name="sandbox")
app.add_typer(store.app, name="store")
app.add_typer(fleet.app, name="fleet")
app.command("serve")(serve.serve)
app.command("doctor")(doctor.doctor)
app.command("audit")(audit.audit)
app.command("schema")(schema.schema)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        from paribus import __version__

        say(f"paribus {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options before the verb."""


def main() -> None:
    """Run the command line; print expected errors on stderr and exit with their code."""
    _prepare()
    try:
        try:
            command = typer.main.get_command(app)
            assert isinstance(command, TyperGroup)
            command(default_map=_defaults(command))
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except ParibusError as error:
        message = with_store(visible(f"paribus: {error}"))
        try:
            say(message if len(message) <= _MOST_CHARACTERS else f"{message[:_MOST_CHARACTERS]}…", err=True)
        except OSError:  # nobody hears it; the exit code still tells
            os._exit(error.exit_code)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except (_OutputClosed, BrokenPipeError):
        _end("paribus: cannot write the output: its reader has closed it", _CLOSED_OUTPUT)
    except Exception as error:
        _end(_explained(error), ParibusError.exit_code)


def _defaults(command: TyperGroup) -> dict[str, Any]:
    """Return the defaults of options; a wrong file stops no verb that inspects or restores the machine."""
    try:
        return default_map(command)
    except ParibusError as error:
        if sys.argv[1:2] and sys.argv[1] not in ("undo", "status"):
            raise
        say(f"paribus: {error}", err=True)
        return {}


def _prepare() -> None:
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup asks
            signal.signal(number, signal.default_int_handler)  # as Ctrl-C
    withhold_passwords()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # which sends SIGINT where a limit lets it start no threads
    gc.set_threshold(50_000, 20, 20)  # a report holds much and no cycles: to look for some takes an eighth of its time
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no minus sign shows a question mark


def _explained(error: Exception) -> str:
    """The message for an error that is no ParibusError; prints the traceback of an unexpected one."""
    match error:
        case OSError():  # expected ones are ParibusErrors: what is left is where the output goes, or a limit
            cause = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
            failure = "cannot write the output" if error.errno in _OF_THE_OUTPUT else "the system refused"
            return f"paribus: {failure}: {cause}"
        case MemoryError():
            return "paribus: there is no memory left\n  free some, or raise its limit (ulimit -v)"
        case RuntimeError() if "start new thread" in str(error):
            return "paribus: no thread can be started\n  raise the limit of processes (ulimit -u)"
    traceback.print_exception(error)
    return "paribus: this is a fault of the program itself; see what is changed on this machine with: paribus status"


def _end(message: str, exit_code: int) -> NoReturn:
    """End at once, without waiting for other threads or flushing buffers."""
    with contextlib.suppress(OSError):
        os.write(2, f"{message}\n".encode())
    os._exit(exit_code)


if __name__ == "__main__":
    main()
