//! One server process and its descendants.
//!
//! In: a `SuperviseJob`. Out: a process in a separate group that dies with this one, and the
//! certainty that all its descendants are gone. Called by `supervise`.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

use super::SuperviseJob;
use crate::error::{Class, EngineError, Result};
use crate::machine;
use crate::machine::account::Account;
use crate::machine::process::{ProcessStat, pids};

pub struct Process {
    child: Child,
    /// The length of its log before the start.
    pub log_start: u64,
}

impl Process {
    /// `secrets` are variables besides the job's environment.
    pub fn start(job: &SuperviseJob, secrets: &BTreeMap<String, String>) -> Result<Process> {
        let (log, log_start) = open_log(&job.log)?;
        let account = job.user.as_deref().map(switch_to).transpose()?;
        // A descendant of the server whose parent has ended becomes a child of this process.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));

        let mut command = Command::new(&job.argv[0]);
        let second_handle = log.try_clone();
        let second_handle =
            second_handle.map_err(|cause| EngineError::from_io("open", &job.log, &cause))?;
        command
            .args(&job.argv[1..])
            .env_clear()
            .envs(&job.environment)
            .envs(secrets)
            .current_dir(&job.directory)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(second_handle);
        let parent = rustix::process::getpid();
        // SAFETY: between fork and exec only system calls are made, on memory made before.
        unsafe { command.pre_exec(move || prepare_child(account.as_ref(), parent)) };
        let child = command.spawn().map_err(|cause| cannot_start(job, &cause))?;
        Ok(Process { child, log_start })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to the server alone; the server handles its descendants.
    pub fn signal(&self, signal: Signal) {
        // Fails only where the server has ended.
        let _ = rustix::process::kill_process(self.child_pid(), signal);
    }

    /// Kills its whole group.
    pub fn kill(&self) {
        let _ = rustix::process::kill_process_group(self.child_pid(), Signal::KILL);
    }

    /// Calls `report` on a separate thread when the server has ended, without reaping it.
    pub fn when_ended(&self, report: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let child = self.child_pid();
        let wait = move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let _ = retry_on_intr(|| rustix::process::waitid(WaitId::Pid(child), options));
            report();
        };
        thread::Builder::new()
            .name("server".into())
            .spawn(wait)
            .map(drop)
    }

    /// Ends all remaining descendants after the server's end. Returns its exit code, or the signal
    /// that ended it.
    pub fn sweep(&mut self) -> (Option<i32>, Option<i32>) {
        // Its process id is still its own: nobody has waited for it yet.
        self.kill();
        let status = self.child.wait().ok();
        loop {
            let left = children();
            if left.is_empty() {
                break;
            }
            for pid in left {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
            let _ = rustix::process::wait(WaitOptions::empty());
        }
        (
            status.and_then(|status| status.code()),
            status.and_then(|status| status.signal()),
        )
    }

    fn child_pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

/// The log. Every process of the server inherits its lock, so the lock shows whether one still
/// runs.
fn open_log(path: &Path) -> Result<(File, u64)> {
    let failed = |cause: &io::Error| EngineError::from_io("open", path, cause);
    let log = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
        .map_err(|cause| failed(&cause))?;
    flock(&log, FlockOperation::NonBlockingLockExclusive).map_err(|cause| match cause {
        Errno::WOULDBLOCK => EngineError::new(
            Class::AddressBusy,
            format!("a server still writes to {}", path.display()),
            "wait until it has ended, or stop it",
        )
        .at(path),
        _ => failed(&cause.into()),
    })?;
    let length = log.metadata().map_err(|cause| failed(&cause))?.len();
    Ok((log, length))
}

fn switch_to(name: &str) -> Result<Account> {
    if !machine::is_root() {
        return Err(EngineError::new(
            Class::Permission,
            format!("only root can start a program as user {name}"),
            "run as root, or name no user",
        ));
    }
    Account::of(name).map_err(|cause| {
        EngineError::bad_job(format!("cannot start a program as user {name:?}: {cause}"))
    })
}

/// In the child, before it executes the program.
fn prepare_child(account: Option<&Account>, parent: Pid) -> io::Result<()> {
    // Also resets signals that this program inherited as ignored, as a shell does with QUIT for
    // background jobs.
    for signal in libc::SIGHUP..=libc::SIGSYS {
        // rustix leaves signal handlers to libc.
        // SAFETY: SIG_DFL installs no handler code; a signal that cannot be caught is refused.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    if let Some(account) = account {
        // libc changes the user of all threads of a process, rustix that of one.
        // SAFETY: the list has that length and lives during the call; the others take numbers only.
        check(unsafe { libc::setgroups(account.groups.len(), account.groups.as_ptr()) })?;
        // SAFETY: as above.
        check(unsafe { libc::setgid(account.gid) })?;
        // SAFETY: as above.
        check(unsafe { libc::setuid(account.uid) })?;
    }
    // After the change of user, which would clear it.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    if rustix::process::getppid() != Some(parent) {
        return Err(Errno::SRCH.into());
    }
    Ok(())
}

fn check(done: libc::c_int) -> io::Result<()> {
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

fn cannot_start(job: &SuperviseJob, cause: &io::Error) -> EngineError {
    let program = &job.argv[0];
    let as_user = job.user.as_deref().map(|user| format!(" as user {user}"));
    let message = format!(
        "cannot start {program}{} in {}: {cause}",
        as_user.unwrap_or_default(),
        job.directory.display()
    );
    let hint =
        "check that the program and the directory exist, and that this user has access to both";
    EngineError::new(
        Class::of_errno(cause.raw_os_error().unwrap_or(0)),
        message,
        hint,
    )
    .at(Path::new(program))
}

/// The children of this process, including dead ones.
fn children() -> Vec<Pid> {
    let this_process = std::process::id();
    let is_child =
        |pid: &u32| ProcessStat::of(*pid).is_some_and(|stat| stat.parent == this_process);
    let children = pids().into_iter().filter(is_child);
    children
        .filter_map(|pid| Pid::from_raw(pid.cast_signed()))
        .collect()
}
