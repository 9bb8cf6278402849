//! A worker's part in verified data: its lanes, and the known sequences of their blocks.
//!
//! In: free slots, and completed operations. Out: sealed blocks to write, and an error for a
//! damaged block. Called by `workload::fileio`, one for each worker.

use std::collections::VecDeque;
use std::sync::Arc;

use super::block::{BlockDamage, Label, Sequence, check, seal};
use super::ledger::Pass;
use super::{Verification, corrupt, lane_requests};
use crate::error::{EngineError, Result};
use crate::io::Operation;
use crate::io::Request;
use crate::io::buffer::Buffer;
use crate::io::fileset::FileSet;
use crate::operation::{Completion, Outcome, Slot};
use crate::workload::fileio::layout::Layout;
use crate::workload::fileio::never_started;
use crate::workload::fileio::pattern::Pattern;
use crate::workload::fileio::requests::Requests;

/// Special states of a block; otherwise the state is the block's sequence plus one.
const UNKNOWN: u64 = 0;
const UNSURE: u64 = u64::MAX;

pub struct Verifier {
    verification: Arc<Verification>,
    lanes: Vec<Lane>,
    /// Lanes without an operation, the longest idle in front. A load that is not always busy must
    /// not concentrate on the blocks of a few lanes.
    idle: VecDeque<usize>,
    in_slots: Vec<SlotOperation>,
    passes: Vec<OpenPass>,
    files: u64,
}

struct Lane {
    number: usize,
    requests: Requests,
    layout: Layout,
    last: Sequence,
    has_failed: bool,
    next_by_block: Vec<u64>,
}

#[derive(Clone, Copy)]
enum SlotOperation {
    Nothing,
    Block { lane: usize, block: usize },
    Fsync { pass: u64 },
}

struct OpenPass {
    pass: Pass,
    fsyncs_left: u64,
    succeeded: bool,
}

impl Verifier {
    /// A verifier for a worker with `slots` slots, whose first lane is `first_lane`.
    pub fn new(
        verification: Arc<Verification>,
        pattern: &Pattern,
        first_lane: usize,
        slots: usize,
    ) -> Verifier {
        let lanes = (first_lane..first_lane + slots).map(|number| {
            let layout = pattern
                .layout
                .lane(number as u64, verification.lanes as u64);
            Lane {
                number,
                requests: lane_requests(pattern, verification.seed, number, verification.lanes),
                layout,
                last: verification.first,
                has_failed: false,
                next_by_block: vec![UNKNOWN; layout.blocks() as usize],
            }
        });
        Verifier {
            lanes: lanes.collect(),
            verification: Arc::clone(&verification),
            idle: (0..slots).collect(),
            in_slots: vec![SlotOperation::Nothing; slots],
            passes: Vec::new(),
            files: pattern.layout.files,
        }
    }

    /// The next operation for a free slot; fills `buffer` with the data of a write. The requests of
    /// all workers decide when an fsync is due.
    pub fn draw(
        &mut self,
        slot: Slot,
        requests: &mut Requests,
        buffer: Option<&mut Buffer>,
    ) -> Result<Request> {
        if let Some(fsync) = requests.fsync_or_count() {
            self.in_slots[slot] = self.draw_fsync(fsync.file == 0);
            return Ok(fsync);
        }
        let index = self.idle.pop_front().ok_or_else(never_started)?;
        let lane = &mut self.lanes[index];
        let request = lane.requests.draw().request;
        if request.kind == Operation::Write {
            let buffer = buffer.ok_or_else(never_started)?;
            lane.last = lane.last.next();
            let label = Label {
                file: request.file as u32,
                offset: request.offset,
                lane: lane.number as u32,
                sequence: lane.last,
            };
            seal(&mut buffer.bytes_mut()[..request.length as usize], label);
        }
        self.in_slots[slot] = SlotOperation::Block {
            lane: index,
            block: lane.layout.block(request.file, request.offset) as usize,
        };
        Ok(request)
    }

    fn draw_fsync(&mut self, begins_pass: bool) -> SlotOperation {
        if begins_pass {
            self.passes.push(OpenPass {
                pass: self.verification.ledger.begin_pass(),
                fsyncs_left: self.files,
                succeeded: true,
            });
        }
        // A pass begins only when all fsyncs of the previous pass were drawn.
        let pass = self.passes.last().map_or(0, |open| open.pass.number());
        SlotOperation::Fsync { pass }
    }

    /// Records a completed operation; `bytes` are those of its buffer.
    pub fn complete(
        &mut self,
        completion: &Completion,
        request: Request,
        bytes: &[u8],
        files: &FileSet,
    ) -> Result<()> {
        let done = matches!(completion.outcome, Outcome::Done { .. });
        match std::mem::replace(&mut self.in_slots[completion.slot], SlotOperation::Nothing) {
            SlotOperation::Nothing => Err(never_started()),
            SlotOperation::Fsync { pass } => {
                self.fsynced(pass, done);
                Ok(())
            }
            SlotOperation::Block { lane, block } => {
                self.idle.push_back(lane);
                let lane = &mut self.lanes[lane];
                if request.kind == Operation::Write {
                    lane.wrote(block, done, &self.verification);
                    Ok(())
                } else if done {
                    let bytes = &bytes[..request.length as usize];
                    lane.read(block, request, bytes, files)
                } else {
                    Ok(())
                }
            }
        }
    }

    fn fsynced(&mut self, number: u64, done: bool) {
        let index = self
            .passes
            .iter()
            .position(|open| open.pass.number() == number);
        let Some(index) = index else { return };
        let open = &mut self.passes[index];
        open.fsyncs_left -= 1;
        open.succeeded &= done;
        if open.fsyncs_left == 0 {
            let open = self.passes.remove(index);
            self.verification.ledger.end_pass(open.pass, open.succeeded);
        }
    }
}

impl Lane {
    fn wrote(&mut self, block: usize, done: bool, verification: &Verification) {
        if !done {
            // No later write can confirm this one.
            self.has_failed = true;
            self.next_by_block[block] = UNSURE;
            return;
        }
        self.next_by_block[block] = self.last.0 + 1;
        if !self.has_failed {
            verification.ledger.wrote(self.number, self.last);
        }
    }

    fn read(
        &mut self,
        block: usize,
        request: Request,
        bytes: &[u8],
        files: &FileSet,
    ) -> Result<()> {
        let next = self.next_by_block[block];
        if next == UNSURE {
            return Ok(());
        }
        let damage = match check(bytes, request.file as u32, request.offset) {
            Ok(label) if next == UNKNOWN => {
                self.next_by_block[block] = label.sequence.0 + 1;
                return Ok(());
            }
            Ok(label) if label.sequence.0 + 1 == next => return Ok(()),
            Ok(label) => BlockDamage::Stale(label.sequence),
            Err(damage) => damage,
        };
        Err(self.corrupt(next, request, damage, files))
    }

    #[cold]
    fn corrupt(
        &self,
        next: u64,
        request: Request,
        damage: BlockDamage,
        files: &FileSet,
    ) -> EngineError {
        let expected = match next {
            UNKNOWN => "a whole block".to_string(),
            _ => Sequence(next - 1).to_string(),
        };
        corrupt(files.path(request.file), request.offset, &expected, damage)
    }
}
