//! Locks: the owner of a journal, and any other holder of its lock.
//!
//! In: an open file. Out: its exclusive lock, which the kernel releases when the owner ends;
//! or the process that holds it. Called by `journal::replica`, `journal::register`,
//! `journal::directory` and `journal::undo`.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock, major, minor};
use rustix::io::Errno;

use crate::error::{Class, EngineError, Result};
use crate::machine::{self, process::ProcessStat};

/// The subcommands of the engine that own a journal.
const OWNERS: [&str; 2] = ["journal", "undo"];
const ENGINE: &str = "paribus-engine";
/// The name that an owner gives itself while it restores.
const RESTORING: &str = "restoring";

/// Far more than a check of the journals needs, which takes milliseconds.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_millis(50);

/// The lock of a directory, held as long as this value lives.
pub struct DirectoryLock(#[allow(dead_code)] File);

/// A process that holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub pid: u32,
    /// The command line; empty where it cannot be read.
    argv: Vec<String>,
    is_stopped: bool,
    /// Whether it restores a journal: nobody is left who could change more.
    pub is_restoring: bool,
    /// Its parent, where that is stopped: the controller of a keeper on the same machine.
    stopped_parent: Option<u32>,
}

/// Takes the exclusive lock of a file or directory; false when another process has it.
pub fn try_lock(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
        Err(cause) => Err(cause.into()),
    }
}

/// Larger than the kernel's list of locks on most machines.
const LIST_BYTES: usize = 64 << 10;

/// The holder of a file's lock; `None` where the kernel does not show it, as from another
/// container, or where its list changed during the reading.
pub fn holder(file: &File) -> Option<Holder> {
    let metadata = file.metadata().ok()?;
    let device = (major(metadata.dev()), minor(metadata.dev()));
    let locks = locks().ok()?;
    let pid = holder_of(&locks, device, metadata.ino(), &owner_of)?;
    let argv = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let stat = ProcessStat::of(pid);
    let is_stopped = |pid: &u32| ProcessStat::of(*pid).is_some_and(|stat| stat.is_stopped());
    Some(Holder {
        pid,
        argv: argv
            .split(|&byte| byte == 0)
            .filter(|word| !word.is_empty())
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect(),
        is_restoring: fs::read_to_string(format!("/proc/{pid}/comm"))
            .is_ok_and(|name| name.trim_end() == RESTORING),
        is_stopped: stat.as_ref().is_some_and(ProcessStat::is_stopped),
        stopped_parent: stat.map(|stat| stat.parent).filter(is_stopped),
    })
}

/// Shows to other processes that this one restores its journal.
pub fn announce_restoring() {
    // Where the kernel refuses, others take it for one that still changes settings.
    let _ = fs::write("/proc/self/comm", RESTORING);
}

/// The kernel's list of locks. The kernel lists anew for each call to read, and skips a line where
/// an earlier one has gone since the last call: so it is read by few large calls.
fn locks() -> io::Result<String> {
    let mut file = File::open("/proc/locks")?;
    let mut list = Vec::new();
    let mut part = vec![0; LIST_BYTES];
    loop {
        match file.read(&mut part)? {
            0 => return Ok(String::from_utf8_lossy(&list).into_owned()),
            length => list.extend_from_slice(&part[..length]),
        }
    }
}

fn owner_of(pid: u32) -> Option<u32> {
    Some(fs::metadata(format!("/proc/{pid}")).ok()?.uid())
}

/// In `1: FLOCK  ADVISORY  WRITE 1234 fe:01:4567 0 EOF`, 1234 holds the lock of inode 4567 of the
/// device fe:01; `->` marks waiting processes. Some file systems report another device here. Then
/// the holder is a process of root or of this user, since others cannot open a journal.
fn holder_of(
    locks: &str,
    device: (u32, u32),
    inode: u64,
    owner_of: &dyn Fn(u32) -> Option<u32>,
) -> Option<u32> {
    let holders = locks.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, pid, inode_field, ..] = fields[..] else {
            return None;
        };
        let parts: Vec<&str> = inode_field.split(':').collect();
        let [major, minor, number] = parts[..] else {
            return None;
        };
        let hex = |text| u32::from_str_radix(text, 16).ok();
        let pid: u32 = pid.parse().ok()?;
        (number.parse() == Ok(inode)).then_some((hex(major).zip(hex(minor)), pid))
    });
    let holders: Vec<_> = holders.collect();
    let trusted = [0, machine::user()];
    let is_trusted = |pid| owner_of(pid).is_some_and(|owner| trusted.contains(&owner));
    let on_this_device = holders
        .iter()
        .find(|(inode_field, _)| *inode_field == Some(device));
    on_this_device
        .or_else(|| holders.iter().find(|(_, pid)| is_trusted(*pid)))
        .map(|(_, pid)| *pid)
}

impl DirectoryLock {
    /// Waits for the lock of the directory; after too long a wait, returns an error that names its
    /// holder.
    pub fn of(path: &Path) -> Result<DirectoryLock> {
        let failed = |cause| EngineError::from_io("lock", path, &cause);
        let directory = File::open(path).map_err(failed)?;
        let deadline = Instant::now() + LOCK_PATIENCE;
        while !try_lock(&directory).map_err(failed)? {
            if Instant::now() >= deadline {
                let holder = holder(&directory).map_or_else(
                    || "a process that is not visible".to_string(),
                    |holder| holder.to_string(),
                );
                return Err(EngineError::new(
                    Class::AddressBusy,
                    format!(
                        "{holder} has locked the journals in {} for more than {} s",
                        path.display(),
                        LOCK_PATIENCE.as_secs()
                    ),
                    "end that process, then try again",
                )
                .at(path));
            }
            thread::sleep(RETRY);
        }
        Ok(DirectoryLock(directory))
    }
}

impl Holder {
    /// The reason why the journal is not restored soon, and what to do; `None` for a working keeper.
    pub fn trouble(&self) -> Option<String> {
        let is_engine = self
            .argv
            .first()
            .and_then(|program| program.rsplit('/').next())
            .is_some_and(|name| name.starts_with(ENGINE));
        let is_owner = self
            .argv
            .iter()
            .skip(1)
            .any(|word| OWNERS.contains(&word.as_str()));
        if !(is_engine && is_owner) {
            return Some(format!("{self} holds its lock; end that process"));
        }
        let stopped = if self.is_stopped {
            format!("its keeper, process {}, is stopped", self.pid)
        } else {
            format!(
                "its controller, process {}, is stopped",
                self.stopped_parent?
            )
        };
        Some(format!(
            "{stopped}; end that process, or let it continue (kill -CONT)"
        ))
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let command = self.argv.first().map_or("?", String::as_str);
        write!(formatter, "process {} ({command})", self.pid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_a_lock_is_found_and_those_who_wait_are_not() {
        let locks = "1: POSIX  ADVISORY  WRITE 7 fe:01:45 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 8 fe:01:45 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 9 fe:01:45 0 EOF\n";
        assert_eq!(holder_of(locks, (0xfe, 1), 45, &|_| None), Some(9));
        assert_eq!(holder_of(locks, (0xfe, 1), 46, &|_| None), None);
    }

    #[test]
    fn a_file_of_another_device_with_the_same_number_is_not_taken_for_it() {
        let locks = "1: FLOCK  ADVISORY  WRITE 7 00:2a:45 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 9 fe:01:45 0 EOF\n";
        let nobodys = |pid| Some(if pid == 7 { 65534 } else { 0 });
        assert_eq!(holder_of(locks, (0xfe, 1), 45, &nobodys), Some(9));
        // As on btrfs, where the device of a file differs from that of its locks.
        assert_eq!(holder_of(locks, (0, 0x1d), 45, &nobodys), Some(9));
    }

    #[test]
    fn a_real_lock_names_this_process_and_its_command() {
        let file = tempfile::tempfile().unwrap();
        assert!(try_lock(&file).unwrap());
        let present = holder(&file).unwrap();
        assert_eq!(present.pid, std::process::id());
        assert!(present.trouble().unwrap().contains("holds its lock"));
        assert!(!present.is_restoring);
        announce_restoring();
        assert!(holder(&file).unwrap().is_restoring);
    }
}
