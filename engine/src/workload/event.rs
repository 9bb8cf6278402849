//! The events of preparing and verifying data.

use serde::Serialize;

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum DataEvent {
    Progress {
        done_bytes: u64,
        total_bytes: u64,
    },
    /// For each lane of a load on verified data, the sequence up to which all writes survive a
    /// crash.
    Durable {
        sequences: Vec<u64>,
    },
    /// The result of reading all verified data without finding damage.
    Verified(Verified),
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Verified {
    /// Blocks of files, or conditions of tables.
    pub blocks: u64,
    /// Blocks that a load has written since they were prepared.
    pub written: u64,
    /// Blocks for which the job names a write that must have survived.
    pub acknowledged: u64,
}
