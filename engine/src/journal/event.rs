//! The events of the journal: what `journal` and `undo` say.
//!
//! In: filled by the modules beside this one. Out: JSON, by way of `event::Events`.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum JournalEvent {
    /// The journal is ours and on the disk.
    Opened { path: PathBuf },
    /// The change is on the disk and may be made now.
    Journalled { line: u64 },
    /// The change was made.
    Made,
    /// The system call failed, or the program.
    Refused { errno: i32, reason: String },
    /// The keeper was asked and is there.
    Alive,
    /// The changes stay until somebody asks for them to be undone; nor may they be while they are in use.
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
    /// The change died with the boot in which it was made, or with that life of a server.
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
    /// The journal has an owner and was left alone; `trouble` says why that owner may not restore it.
    Busy {
        experiment: String,
        path: PathBuf,
        trouble: Option<String>,
    },
    /// The directory whose journals were looked at; `others` is that of root where this is another user's.
    Looked {
        directory: PathBuf,
        others: Option<PathBuf>,
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
    /// It died with the boot in which it was made.
    pub expired: bool,
}
