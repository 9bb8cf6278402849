//! Verified data: proof that reads return the bytes written, in a load and after a crash.
//!
//! In: a job whose data has `verified_block_bytes`. Out: each read is compared with the last write
//! of its block. A difference is an error of class `data-corrupt`. `durable` events state the
//! writes that a crash must not lose. Called by `workload::fileio` and `load`; `verify` is the
//! phase after the crash.
//!
//! Blocks belong to lanes, one lane per outstanding operation: block b to lane b mod lanes. A lane
//! does one operation after the other. So no two operations are ever in flight on one block, and
//! its expected content is known at each moment. Each lane draws its requests from its own
//! generator, independent of the content and speed of other lanes. So the same job replays the
//! requests, and after a crash it computes the write that must have survived in each block. The
//! order of a sequential mode is that of its lanes taken together. A distribution holds within each
//! lane.
//!
//! A lane stores eight bytes for each of its blocks: the block's sequence, written by this run or
//! learnt from its first read. A failed write may leave any bytes, so its block is not judged until
//! the next write. A crash may tear the block of a write under way, where a block is larger than
//! the storage's atomic write. That is reported as well, since a database would see the same.

pub mod block;
pub mod ledger;
mod verifier;
pub mod verify;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;
use std::sync::Arc;

use crate::error::{Class, EngineError};
use crate::event::Events;
use crate::job::files::SyncWrites;
use crate::job::{Files, Job};
use crate::random::generator;
use crate::workload::event::DataEvent;
use crate::workload::fileio::pattern::Pattern;
use crate::workload::fileio::requests::Requests;
use block::{BlockDamage, Sequence};
use ledger::Ledger;
pub use verifier::Verifier;

/// The state shared by all workers of a run on verified data.
pub struct Verification {
    pub ledger: Ledger,
    first: Sequence,
    seed: u64,
    lanes: usize,
}

impl Verification {
    /// `None` where the data is not verified.
    pub fn of(job: &Job, files: &Files) -> Option<Verification> {
        files.data().verified_block_bytes?;
        let first = Sequence::first_of_run(RandomState::new().build_hasher().finish());
        let each_write_is_durable = files.io().sync_writes != SyncWrites::None;
        Some(Verification {
            ledger: Ledger::new(job.load.outstanding, first, each_write_is_durable),
            first,
            seed: job.seed,
            lanes: job.load.outstanding,
        })
    }

    /// Emits newly durable sequences.
    pub fn report_durable(&self, events: &Events) {
        if let Some(sequences) = self.ledger.unreported() {
            events.emit(&DataEvent::Durable { sequences });
        }
    }
}

/// The reads and writes of one lane; equal jobs give equal requests.
fn lane_requests(pattern: &Pattern, seed: u64, lane: usize, lanes: usize) -> Requests {
    let pattern = pattern.lane(lane as u64, lanes as u64);
    Requests::new(pattern, Arc::default(), generator(seed, lane as u64))
}

/// The error for a damaged block.
#[cold]
fn corrupt(path: &Path, offset: u64, expected: &str, damage: BlockDamage) -> EngineError {
    let block = format!("{} at offset {offset}", path.display());
    let (message, hint) = match damage {
        BlockDamage::NoLabel => (
            format!("{block} is not a verified block: expected {expected}, found no label"),
            "a write was lost, or the data was never prepared: run cleanup and the prepare phase",
        ),
        BlockDamage::Torn => (
            format!(
                "{block} is torn: expected {expected}, found bytes that do not match their checksum"
            ),
            "the storage has written a part of a block: look in the kernel log of the target (dmesg)",
        ),
        BlockDamage::Misplaced(label) => (
            format!(
                "{block} is misplaced: expected {expected}, found {} for file {} at offset {}",
                label.sequence, label.file, label.offset
            ),
            "the storage has written a block to another position: look in the kernel log of the target (dmesg)",
        ),
        BlockDamage::Stale(sequence) => (
            format!("{block} is stale: expected {expected}, found {sequence}"),
            "the storage has lost a write, or another program writes there: look in the kernel log of the target (dmesg)",
        ),
    };
    EngineError::new(Class::DataCorrupt, message, hint).at(path)
}
