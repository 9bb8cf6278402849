//! The events of the journal: the output of `journal` and `undo`.
//!
//! In: filled by the modules of this folder. Out: JSON, through `event::Events`.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum JournalEvent {
    /// The keeper owns the journal, which is on the disk. `without_copy`: the reason why it has none.
    Opened {
        path: PathBuf,
        without_copy: Option<String>,
    },
    /// The change is on the disk and may be made now.
    Journalled { line: u64 },
    /// The change was made.
    Made,
    /// The system call or the program failed.
    Refused { errno: i32, reason: String },
    /// The answer of a keeper to `alive`.
    Alive,
    /// The changes stay until a user requests their undo, and as long as an experiment uses them.
    Kept {
        experiment: String,
        path: PathBuf,
        used_by: Option<String>,
    },
    Restored {
        experiment: String,
        knob: String,
        address: String,
        value: String,
    },
    Stuck {
        experiment: String,
        knob: String,
        address: String,
        wanted: String,
        found: Option<String>,
        reason: String,
    },
    /// The change ended with a reboot, or with a restart of the server.
    Expired {
        experiment: String,
        knob: String,
        address: String,
    },
    /// `deleted`: the file was deleted while it was open.
    Closed {
        experiment: String,
        path: PathBuf,
        deleted: bool,
    },
    /// The journal has an owner and stays untouched; `trouble` is the reason why that owner may not
    /// restore it.
    Busy {
        experiment: String,
        path: PathBuf,
        trouble: Option<String>,
    },
    /// The searched directory; `others` is root's directory where this is another user's. In
    /// `elsewhere`, journals of this user are open too, some with a living owner.
    Looked {
        directory: PathBuf,
        others: Option<PathBuf>,
        elsewhere: Vec<PathBuf>,
        running_elsewhere: Vec<String>,
    },
    OpenJournal {
        experiment: String,
        path: PathBuf,
        owned: bool,
        kept: bool,
        time: String,
        trouble: Option<String>,
        changes: Vec<ListedChange>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedChange {
    pub knob: String,
    pub address: String,
    pub before: Value,
    pub wanted: Value,
    /// The change ended with the reboot after it.
    pub expired: bool,
}
