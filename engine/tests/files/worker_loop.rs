//! The worker loop with workloads of scripted completions: no files, no real waits.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Instant;

use paribus_engine::clock::{self, Nanos};
use paribus_engine::error::{Class, EngineError, Result};
use paribus_engine::load::pace::{Closed, Pace};
use paribus_engine::load::stop::AfterOperations;
use paribus_engine::load::worker::Worker;
use paribus_engine::load::workload::Workload;
use paribus_engine::operation::OperationKind;
use paribus_engine::operation::{Completion, Failure, Outcome, Slot, Submitted};
use paribus_engine::record::interval::SharedTally;

/// Keeps up to `slots` operations and completes all of them in `reap`.
struct Scripted {
    pending: Vec<Slot>,
    slots: usize,
    most_pending: std::rc::Rc<std::cell::Cell<usize>>,
    outcome: Outcome,
}

impl Scripted {
    fn new(slots: usize, outcome: Outcome) -> Scripted {
        Scripted {
            pending: Vec::new(),
            slots,
            most_pending: Default::default(),
            outcome,
        }
    }
}

impl Workload for Scripted {
    fn slots(&self) -> usize {
        self.slots
    }

    fn submit(&mut self, slot: Slot) -> Result<Submitted> {
        assert!(
            !self.pending.contains(&slot),
            "a slot has one operation at a time"
        );
        self.pending.push(slot);
        self.most_pending
            .set(self.most_pending.get().max(self.pending.len()));
        Ok(Submitted::Pending)
    }

    fn reap(&mut self, deadline: Option<Nanos>, completions: &mut Vec<Completion>) -> Result<()> {
        if self.pending.is_empty() {
            clock::sleep_until(deadline.expect("something to wait for"));
        }
        completions.extend(self.pending.drain(..).map(|slot| Completion {
            slot,
            kind: OperationKind::Read,
            outcome: self.outcome,
        }));
        Ok(())
    }

    fn explain(&self, _slot: Slot, failure: Failure) -> EngineError {
        let class = match failure {
            Failure::Errno(errno) => Class::of_errno(errno),
            Failure::Short { .. } | Failure::Statement => Class::ShortIo,
        };
        EngineError::new(class, "scripted", "none")
    }
}

#[test]
fn all_slots_are_used_and_every_operation_is_recorded_once() {
    let tally = SharedTally::default();
    let workload = Scripted::new(8, Outcome::Done { bytes: 512 });
    let most_pending = workload.most_pending.clone();
    Worker::new(Closed, AfterOperations(1003), workload, tally.clone())
        .work()
        .unwrap();
    let counts = tally.lock().counts();
    assert_eq!((counts.operations, counts.read_bytes), (1003, 1003 * 512));
    assert_eq!(most_pending.get(), 8);
}

#[test]
fn failures_that_may_pass_are_counted_until_there_are_too_many_in_a_row() {
    let tally = SharedTally::default();
    let workload = Scripted::new(1, Outcome::Failed(Failure::Errno(libc::EIO)));
    let error = Worker::new(Closed, AfterOperations(1000), workload, tally.clone())
        .work()
        .unwrap_err();
    assert_eq!(error.class, Class::IoError);
    let counts = tally.lock().counts();
    assert_eq!((counts.operations, counts.errors["io-error"]), (0, 100));
}

#[test]
fn a_full_disk_ends_the_load_at_the_first_failure() {
    let tally = SharedTally::default();
    let workload = Scripted::new(1, Outcome::Failed(Failure::Errno(libc::ENOSPC)));
    let worker = Worker::new(Closed, AfterOperations(1000), workload, tally.clone());
    assert_eq!(worker.work().unwrap_err().class, Class::DiskFull);
    assert_eq!(tally.lock().counts().errors["disk-full"], 1);
}

/// A schedule with one start a millisecond, for an open loop.
struct EveryMillisecond {
    next: Nanos,
}

impl Pace for EveryMillisecond {
    const OPEN_LOOP: bool = true;

    fn next_start(&mut self, _now: Nanos) -> Nanos {
        self.next
    }

    fn started(&mut self) {
        self.next += 1_000_000;
    }
}

#[test]
fn an_open_loop_waits_for_its_schedule_and_separates_response_from_service() {
    let tally = SharedTally::default();
    // The schedule began 50 ms ago: the first 50 operations are late, and their response shows it.
    let late: Nanos = 50_000_000;
    let pace = EveryMillisecond {
        next: clock::now() - late,
    };
    let workload = Scripted::new(4, Outcome::Done { bytes: 1 });
    Worker::new(pace, AfterOperations(80), workload, tally.clone())
        .work()
        .unwrap();
    let tally = tally.lock();
    let service = tally.service.as_ref().unwrap();
    assert_eq!((tally.response.count(), service.count()), (80, 80));
    assert!(tally.response.max_s().unwrap() >= 0.049);
    assert!(service.mean_s().unwrap() < tally.response.mean_s().unwrap());
}

/// Slots that pause two milliseconds after each operation, and one before the first.
struct Millisecond;

impl Pace for Millisecond {
    const PAUSES: bool = true;

    fn paused_until(&mut self, after: Option<OperationKind>, now: Nanos) -> Nanos {
        now + after.map_or(1_000_000, |_| 2_000_000)
    }
}

#[test]
fn a_slot_that_rests_starts_nothing_and_its_rest_is_no_response_time() {
    let tally = SharedTally::default();
    let begun = Instant::now();
    let workload = Scripted::new(4, Outcome::Done { bytes: 1 });
    let worker = Worker::new(Millisecond, AfterOperations(40), workload, tally.clone());
    worker.work().unwrap();
    // The slot that has most operations has had nine pauses after one of them at least.
    assert!(begun.elapsed().as_millis() >= 19);
    let tally = tally.lock();
    assert_eq!(tally.by_slot.iter().sum::<u64>(), 40);
    assert!(tally.by_slot.iter().all(|&operations| operations > 0));
    // Nothing is waited for between submitting and completing.
    assert!(tally.response.quantile_s(0.5).unwrap() < 0.002);
}
