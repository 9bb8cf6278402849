//! The worker loop, the only one for every pacing, stopping rule and workload.
//!
//! In: a workload with slots, a pacing and a stopping rule. Out: one record per completed operation
//! in the worker's tally; an error when the load cannot continue. Called by `load::workers`, one
//! call per thread.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::clock::{self, Nanos, SECOND};
use crate::error::{EngineError, Result};
use crate::load::pace::Pace;
use crate::load::stop::Stop;
use crate::load::workload::Workload;
use crate::operation::{Completion, Outcome, Slot, Submitted};
use crate::record::interval::SharedTally;
use crate::record::tally::Tally;

/// The longest wait for the next turn without checking the stopping rule.
const GLANCE: Nanos = SECOND / 10;

/// This many failures in a row, without a success between them, end the load.
const FAILURES_IN_A_ROW: u32 = 100;

#[derive(Clone, Copy, Default)]
struct Start {
    intended: Nanos,
    actual: Nanos,
}

pub struct Worker<P, S, W> {
    pace: P,
    stop: S,
    workload: W,
    tally: SharedTally,
    starts: Vec<Start>,
    failures_in_a_row: u32,
}

impl<P: Pace, S: Stop, W: Workload> Worker<P, S, W> {
    pub fn new(pace: P, stop: S, workload: W, tally: SharedTally) -> Self {
        let starts = vec![Start::default(); workload.slots()];
        tally.set_slots(starts.len());
        Worker {
            pace,
            stop,
            workload,
            tally,
            starts,
            failures_in_a_row: 0,
        }
    }

    /// Works until the stopping rule is reached, then waits for outstanding operations.
    pub fn work(mut self) -> Result<()> {
        let outstanding = self.work_until_stopped()?;
        self.drain(outstanding)
    }

    /// Returns the number of operations still outstanding.
    fn work_until_stopped(&mut self) -> Result<usize> {
        let slots = self.workload.slots();
        let mut free: Vec<Slot> = (0..slots).rev().collect();
        let mut pausing: BinaryHeap<Reverse<(Nanos, Slot)>> = BinaryHeap::new();
        let mut completions = Vec::with_capacity(slots);
        let mut started = 0;
        // Whether the next operation had a free slot before its intended start.
        let mut waited = false;
        // One reading of the clock serves as the end of one operation and the start of the next.
        let mut now = clock::now();
        if P::PAUSES {
            let first = |slot| Reverse((self.pace.paused_until(None, now), slot));
            pausing = free.drain(..).map(first).collect();
        }
        while !self.stop.reached(now, started) {
            let mut deadline = None;
            if P::PAUSES {
                while let Some(&Reverse((until, slot))) = pausing.peek() {
                    if until > now {
                        deadline = Some(until.min(now + GLANCE));
                        break;
                    }
                    pausing.pop();
                    free.push(slot);
                }
            }
            if let Some(&slot) = free.last() {
                let intended = self.pace.next_start(now);
                if intended <= now {
                    self.pace.started();
                    started += 1;
                    if P::OPEN_LOOP && std::mem::take(&mut waited) {
                        self.tally.lock().late.record(now - intended);
                    }
                    self.starts[slot] = Start {
                        intended,
                        actual: now,
                    };
                    match self.workload.submit(slot)? {
                        Submitted::Done(completion) => {
                            now = clock::now();
                            self.account([completion], now)?;
                            if P::PAUSES {
                                free.pop();
                                let until = self.pace.paused_until(Some(completion.kind), now);
                                pausing.push(Reverse((until, slot)));
                            }
                        }
                        Submitted::Pending => {
                            free.pop();
                        }
                    }
                    continue;
                }
                waited = true;
                deadline = Some(intended.min(now + GLANCE));
            }
            self.workload.reap(deadline, &mut completions)?;
            now = clock::now();
            self.account(completions.iter().copied(), now)?;
            let completed = completions.drain(..);
            if P::PAUSES {
                pausing.extend(completed.map(|completion| {
                    let until = self.pace.paused_until(Some(completion.kind), now);
                    Reverse((until, completion.slot))
                }));
            } else {
                free.extend(completed.map(|completion| completion.slot));
            }
        }
        Ok(slots - free.len() - pausing.len())
    }

    fn drain(&mut self, mut outstanding: usize) -> Result<()> {
        let mut completions = Vec::new();
        while outstanding > 0 {
            self.workload.reap(None, &mut completions)?;
            self.account(completions.iter().copied(), clock::now())?;
            outstanding -= completions.len();
            completions.clear();
        }
        Ok(())
    }

    #[inline(always)]
    fn account(
        &mut self,
        completions: impl IntoIterator<Item = Completion>,
        now: Nanos,
    ) -> Result<()> {
        let mut tally = self.tally.lock();
        self.workload.hand_over(&mut tally);
        for completion in completions {
            let start = self.starts[completion.slot];
            match completion.outcome {
                Outcome::Done { bytes } => {
                    tally.record(completion.kind, bytes, now.saturating_sub(start.intended));
                    if P::OPEN_LOOP {
                        tally.record_service(now.saturating_sub(start.actual));
                    }
                    tally.by_slot[completion.slot] += 1;
                    self.failures_in_a_row = 0;
                }
                Outcome::Failed(failure) => {
                    self.failures_in_a_row += 1;
                    let error = self.workload.explain(completion.slot, failure);
                    account_failure(&mut tally, self.failures_in_a_row, error)?;
                }
            }
        }
        Ok(())
    }
}

/// Counts a failed operation; returns an error when the failure has to end the load.
#[cold]
fn account_failure(tally: &mut Tally, in_a_row: u32, error: EngineError) -> Result<()> {
    let first_of_its_class = tally.record_error(error.class) == 1;
    if error.class.ends_load() {
        return Err(error);
    }
    if in_a_row >= FAILURES_IN_A_ROW {
        let message =
            format!("{in_a_row} operations in a row have failed; the last error: {error}");
        return Err(EngineError { message, ..error });
    }
    if first_of_its_class {
        // One line per interval is enough; the counts include every failure.
        eprintln!("paribus-engine: {error}");
    }
    Ok(())
}
