//! The only error type of the engine: a class for programs, a message and a hint for people.
//!
//! In: failed system calls, refused jobs, broken journals. Out: an `EngineError` that becomes one
//! `error` event and an exit code. Called by every module.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// The kind of failure; the wire form is kebab-case (`disk-full`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    AccessDenied,
    AddressBusy,
    BadCommand,
    BadJob,
    ConditionRefused,
    ConnectionLost,
    DataCorrupt,
    DeviceChanged,
    DeviceInUse,
    DirectUnsupported,
    DiskFull,
    FileTooLarge,
    FileVanished,
    Internal,
    Interrupted,
    IoError,
    IoUringUnavailable,
    JournalLine,
    JournalNotClosed,
    JournalStranger,
    JournalWrite,
    NoSuchDevice,
    NotOurs,
    NotPrepared,
    OpenJournal,
    OutOfMemory,
    Permission,
    ProtocolMismatch,
    ShortIo,
    SqlConflict,
    SqlError,
    TooLittleSpace,
    TooManyConnections,
    TooManyOpenFiles,
    TooManyThreads,
    UntrustedFolder,
    VolatileDirectory,
}

impl Class {
    /// The exit code that goes with an error event of this class.
    pub fn exit_code(self) -> u8 {
        match self {
            Class::BadJob | Class::BadCommand | Class::ProtocolMismatch => 2,
            _ => 1,
        }
    }

    /// Whether the first such failure ends a load; otherwise failures are counted and the load
    /// continues.
    pub fn ends_load(self) -> bool {
        !matches!(
            self,
            Class::IoError | Class::ShortIo | Class::SqlConflict | Class::SqlError
        )
    }

    /// The class of a failed system call on a file.
    pub fn of_errno(errno: i32) -> Class {
        match errno {
            libc::ENOSPC | libc::EDQUOT => Class::DiskFull,
            libc::EACCES | libc::EPERM | libc::EROFS => Class::Permission,
            libc::EFBIG => Class::FileTooLarge,
            libc::ELOOP => Class::NotOurs,
            libc::ENOENT | libc::ESTALE | libc::ENOTDIR => Class::FileVanished,
            libc::ENOMEM => Class::OutOfMemory,
            libc::EMFILE | libc::ENFILE => Class::TooManyOpenFiles,
            _ => Class::IoError,
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Class::DiskFull => "free space on that file system, or use a smaller total_size_bytes",
            Class::Permission => {
                "run as a user who may do this there, or choose another directory; check for a read-only mount"
            }
            Class::FileTooLarge => "raise the file size limit (ulimit -f), or use more files",
            Class::FileVanished => {
                "run the prepare phase again and keep others out of the directory"
            }
            Class::NotOurs => {
                "a symbolic link is not followed here: remove it, or choose another folder"
            }
            Class::OutOfMemory => "use a smaller block size or fewer outstanding operations",
            Class::TooManyOpenFiles => {
                "raise the limit of open files (ulimit -n), or use fewer files"
            }
            _ => "look in the kernel log of the target (dmesg) for the device behind this path",
        }
    }
}

/// A failure, ready to be shown: `message` names the object and the cause, `hint` names the next
/// step.
#[derive(Debug, Clone, thiserror::Error, Serialize)]
#[serde(tag = "event", rename = "error")]
#[error("{message}")]
pub struct EngineError {
    pub class: Class,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    pub hint: String,
}

impl EngineError {
    pub fn new(class: Class, message: impl Into<String>, hint: impl Into<String>) -> Self {
        EngineError {
            class,
            message: message.into(),
            path: None,
            hint: hint.into(),
        }
    }

    pub fn at(mut self, path: &Path) -> Self {
        self.path = Some(path.to_path_buf());
        self
    }

    /// A failed system call: `action` completes "cannot ...", e.g. "open".
    pub fn from_io(action: &str, path: &Path, cause: &io::Error) -> Self {
        let class = Class::of_errno(cause.raw_os_error().unwrap_or(0));
        EngineError::new(
            class,
            format!("cannot {action} {}: {cause}", path.display()),
            class.hint(),
        )
        .at(path)
    }

    /// An invalid job or command.
    pub fn bad_job(message: impl Into<String>) -> Self {
        EngineError::new(
            Class::BadJob,
            message,
            "correct the job; nothing has been done",
        )
    }

    pub fn panicked(thread: &str) -> Self {
        EngineError::new(
            Class::Internal,
            format!("{thread} has panicked; the message is on stderr"),
            "this is a defect of the engine: report it with the job",
        )
    }

    pub fn no_thread(cause: &io::Error) -> Self {
        EngineError::new(
            Class::TooManyThreads,
            format!("a thread could not be started: {cause}"),
            "raise the limit of processes (ulimit -u), or use fewer outstanding operations or engine = \"io_uring\"",
        )
    }

    /// A line on stdin after the job that is no command valid at that moment.
    pub fn bad_command(message: impl Into<String>) -> Self {
        EngineError::new(Class::BadCommand, message, "send one JSON command per line")
    }
}

pub type Result<T> = std::result::Result<T, EngineError>;

impl std::fmt::Display for Class {
    /// The wire form.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(formatter)
    }
}
