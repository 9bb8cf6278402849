//! The command line: the subcommand, and the exit code.
//!
//! In: arguments. Out: events on stdout and 0 done, 1 an error event, 2 a bad job or usage, 4 a
//! setting could not be restored.

use std::io::stdout;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use paribus_engine::conditions::Conditions;
use paribus_engine::confine::{self, Confinement};
use paribus_engine::device::{DeviceIdentity, users::users};
use paribus_engine::durability::{Extent, cut_off, flush, page_cache};
use paribus_engine::error::{EngineError, Result};
use paribus_engine::event::Events;
use paribus_engine::folder::experiment;
use paribus_engine::journal::undo::Selection;
use paribus_engine::journal::{Leftover, at_boot, keeper, undo};
use paribus_engine::{
    file_agent, input, machine, probe, processes, run, sql, supervise, telemetry,
};

/// With its feature `override` it also serves SQLite, which is written in C.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const STUCK: u8 = 4;
/// Enough time for a live reader to take the last lines.
const LAST_LINES: Duration = Duration::from_secs(2);

/// Generates load, samples the machine and keeps the journal for Paribus.
#[derive(Debug, Parser)]
#[command(name = "paribus-engine", version)]
struct Arguments {
    /// Treat the controller as lost after this many seconds without a line, even a blank one.
    #[arg(long, global = true, value_name = "SECONDS")]
    heartbeat: Option<u64>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run one job from stdin; closing stdin stops it.
    Run {
        #[command(flatten)]
        conditions: Conditions,
    },
    /// Sample the machine; the job comes from stdin, closing stdin ends it.
    Sample,
    /// Report the features of this machine and of a directory.
    Probe { directory: PathBuf },
    /// Manage the data folders of experiments.
    Data {
        #[command(subcommand)]
        action: DataAction,
    },
    /// Report the processes that have a block device open, and the device's identity.
    Users {
        device: PathBuf,
        /// The identity in an earlier answer, for comparison.
        #[arg(long, value_name = "JSON", value_parser = identity)]
        expected: Option<DeviceIdentity>,
    },
    /// Report the conditions of a process and its descendants.
    Processes { pid: u32 },
    /// Write and flush a MiB, and report where on its disk it lies.
    Flush { file: PathBuf },
    /// Report how much of parts of a file or block device is only in memory.
    PageCache {
        file: PathBuf,
        /// The parts, as `flush` reports them.
        #[arg(value_parser = extents)]
        extents: Extents,
    },
    /// Have a mounted file system lose what it has not written, as at a power cut.
    CutOff { point: PathBuf, device: PathBuf },
    /// Read kernel files for a remote controller; closing stdin ends it.
    FileAgent,
    /// Send queries to a database; the job comes from stdin, closing stdin ends it.
    Sql,
    /// Keep a program running; the job comes from stdin, closing stdin stops it.
    Supervise {
        #[command(flatten)]
        conditions: Conditions,
    },
    /// Run a program that can write only to named directories and devices.
    Confine {
        #[command(flatten)]
        confinement: Confinement,
    },
    /// Keep the journal of one experiment; closing stdin restores every setting.
    Journal {
        /// Directory of the journals. Default: journal/ in $PARIBUS_STATE, /var/lib/paribus or the
        /// user's state folder.
        #[arg(long)]
        directory: Option<PathBuf>,
        /// Accept a directory that does not survive a power cut.
        #[arg(long)]
        allow_volatile: bool,
    },
    /// Restore the settings of experiments that have no living owner.
    Undo {
        /// Directory of the journals, as for `journal`.
        #[arg(long)]
        directory: Option<PathBuf>,
        /// Time to wait for the owner of a journal to close it.
        #[arg(long, value_name = "SECONDS", default_value_t = 2)]
        patience: u64,
        /// Only list the open journals.
        #[arg(long)]
        dry_run: bool,
        /// Also restore settings that were kept on purpose.
        #[arg(long = "kept")]
        include_kept: bool,
        /// Only this experiment.
        #[arg(long)]
        experiment: Option<String>,
    },
    /// Restore the settings of interrupted experiments when the machine starts.
    AtBoot {
        action: at_boot::BootAction,
        /// Directory of the journals, as for `journal`.
        #[arg(long)]
        directory: Option<PathBuf>,
        /// The root of the machine, where it is an image under construction.
        #[arg(long, default_value = "/")]
        root: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
enum DataAction {
    /// Create the folder of an experiment, with a manifest, below an existing folder.
    Make {
        parent: PathBuf,
        experiment: String,
        /// Additional content of the manifest, as JSON.
        #[arg(long, default_value = "{}", value_parser = json)]
        about: serde_json::Value,
    },
    /// List the folders of experiments.
    List { parent: PathBuf },
    /// Remove the folder of an experiment and its content.
    Remove { parent: PathBuf, experiment: String },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Before any other thread exists, so that all threads inherit the conditions.
    let prepared = match &arguments.command {
        Command::Run { conditions } | Command::Supervise { conditions } => conditions.take(),
        _ => Ok(()),
    };
    // The output of `confine` belongs to the confined program, so it gets no events.
    let emits_events = !matches!(arguments.command, Command::Confine { .. });
    let events = match Events::to(stdout()).map_err(|cause| EngineError::no_thread(&cause)) {
        Ok(events) => events,
        Err(error) => return report(&error),
    };
    let patience = arguments.heartbeat.map(Duration::from_secs);
    let outcome = prepared.and_then(|()| carry_out(arguments.command, patience, &events));
    let code = match outcome {
        Ok(Leftover::Nothing) => ExitCode::SUCCESS,
        Ok(Leftover::Stuck) => ExitCode::from(STUCK),
        Err(error) => {
            let code = report(&error);
            if emits_events {
                events.emit(&error);
            }
            code
        }
    };
    events.finish(LAST_LINES);
    code
}

/// Prints an error for people; returns its exit code.
fn report(error: &EngineError) -> ExitCode {
    eprintln!("paribus-engine: {error}\n  hint: {}", error.hint);
    ExitCode::from(error.class.exit_code())
}

/// The parts of a file; one argument, which clap would take for several if it were a list.
#[derive(Debug, Clone)]
struct Extents(Vec<Extent>);

fn extents(text: &str) -> std::result::Result<Extents, serde_json::Error> {
    serde_json::from_str(text).map(Extents)
}

fn identity(text: &str) -> std::result::Result<DeviceIdentity, serde_json::Error> {
    serde_json::from_str(text)
}

fn journals(named: Option<PathBuf>) -> PathBuf {
    named.unwrap_or_else(|| machine::state_directory().join("journal"))
}

fn carry_out(command: Command, patience: Option<Duration>, events: &Events) -> Result<Leftover> {
    let stdin = || {
        input::listen(patience)
            .map_err(|cause| EngineError::from_io("read", Path::new("stdin"), &cause))
    };
    match command {
        Command::Run { .. } => run::run(stdin()?, events)?,
        Command::Confine { confinement } => confine::confine(&confinement)?,
        Command::Sample => telemetry::sample(stdin()?, events)?,
        Command::FileAgent => file_agent::serve(stdin()?, events)?,
        Command::Sql => sql::sql(stdin()?, events)?,
        Command::Supervise { .. } => supervise::supervise(stdin()?, events)?,
        Command::Probe { directory } => {
            let facts = probe::probe(&directory)?;
            events.emit(&facts);
        }
        Command::Data { action } => data(action, events)?,
        Command::Users { device, expected } => {
            let users = users(&device, expected.as_ref())?;
            events.emit(&users);
        }
        Command::Processes { pid } => events.emit(&processes::processes(pid)),
        Command::Flush { file } => events.emit(&flush::flush(&file)?),
        Command::PageCache { file, extents } => {
            events.emit(&page_cache::page_cache(&file, &extents.0)?);
        }
        Command::CutOff { point, device } => events.emit(&cut_off::cut_off(&point, &device)?),
        Command::Journal {
            directory,
            allow_volatile,
        } => return keeper::keep(&journals(directory), allow_volatile, stdin()?, events),
        Command::AtBoot {
            action,
            directory,
            root,
        } => {
            let state = at_boot::at_boot(action, &journals(directory), &root)?;
            events.emit(&state);
        }
        Command::Undo {
            directory,
            patience,
            dry_run,
            include_kept,
            experiment,
        } => {
            return undo::undo(
                &Selection {
                    directory: &journals(directory),
                    experiment: experiment.as_deref(),
                    dry_run,
                    include_kept,
                    patience: Duration::from_secs(patience),
                },
                events,
            );
        }
    }
    Ok(Leftover::Nothing)
}

fn json(text: &str) -> std::result::Result<serde_json::Value, serde_json::Error> {
    serde_json::from_str(text)
}

fn data(action: DataAction, events: &Events) -> Result<()> {
    match action {
        DataAction::Make {
            parent,
            experiment,
            about,
        } => {
            let path = experiment::make(&parent, &experiment, about)?;
            events.emit(&experiment::MadeFolder { path });
        }
        DataAction::List { parent } => events.emit(&experiment::list(&parent)?),
        DataAction::Remove { parent, experiment } => experiment::remove(&parent, &experiment)?,
    }
    Ok(())
}
