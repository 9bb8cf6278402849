//! Intervals: the work of all workers between two cuts.
//!
//! In: the workers' shared tallies. Out: the merged tally of all workers since the last cut.
//! `load::worker` records, `run::windows` calls the collector.
//!
//! Each worker has a tally with two sides, each behind its own lock. It records on the active side.
//! The lock is taken once per batch and is practically always free. A cut first switches the sides
//! of all tallies and then collects the inactive sides. So an operation counts in the interval in
//! which it completes, and intervals add up to results. A worker that is stuck in an operation, or
//! preempted while it records, moves no boundary.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock::{self, Nanos};
use crate::record::tally::{Tally, whole};

/// A worker's tally, shared with the collector.
#[derive(Debug, Clone, Default)]
pub struct SharedTally(Arc<TwoSided>);

#[derive(Debug, Default)]
struct TwoSided {
    /// The side to record on: 0 or 1.
    up: AtomicUsize,
    sides: [Mutex<Tally>; 2],
}

impl SharedTally {
    /// Prepares the tally for the slots of its worker.
    pub fn set_slots(&self, slots: usize) {
        for number in 0..2 {
            self.side(number).by_slot = vec![0; slots];
        }
    }

    /// The side to record on.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, Tally> {
        loop {
            let up = self.0.up.load(Ordering::Acquire);
            let side = self.side(up);
            // A cut before the lock was taken may have collected this side already.
            if self.0.up.load(Ordering::Acquire) == up {
                return side;
            }
        }
    }

    /// Switches the tally's side; returns the inactive side.
    fn turn_over(&self) -> usize {
        self.0.up.fetch_xor(1, Ordering::AcqRel)
    }

    /// The counts of a worker that panicked are still right, so poison is no reason to stop.
    #[inline]
    fn side(&self, number: usize) -> MutexGuard<'_, Tally> {
        let side = &self.0.sides[number & 1];
        side.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cuts the workers' tallies into intervals.
#[derive(Debug)]
pub struct Collector {
    /// The tallies of the workers of each stream of the load.
    parts: Vec<Vec<SharedTally>>,
    since: Nanos,
}

/// The end of an interval that is not collected yet.
#[derive(Debug)]
#[must_use]
pub struct Cut {
    start: Nanos,
    end: Nanos,
    /// The inactive side of each worker, by stream.
    down: Vec<Vec<usize>>,
}

/// The records of all workers from `start` to `end`, by stream of the load.
#[derive(Debug)]
pub struct RecordedInterval {
    pub start: Nanos,
    pub end: Nanos,
    pub parts: Vec<Tally>,
    /// The operations of each slot of each worker, in their order.
    pub by_slot: Vec<u64>,
}

impl RecordedInterval {
    /// The sum of all streams.
    pub fn whole(&self) -> Cow<'_, Tally> {
        whole(&self.parts)
    }
}

impl Collector {
    pub fn new(parts: Vec<Vec<SharedTally>>, since: Nanos) -> Self {
        Collector { parts, since }
    }

    /// Ends the current interval now and starts the next one. Switches all tallies as close
    /// together as possible and leaves slow work to `collect`, which must follow before the next
    /// cut.
    pub fn cut(&mut self) -> Cut {
        let end = clock::now();
        let down = self
            .parts
            .iter()
            .map(|tallies| tallies.iter().map(SharedTally::turn_over).collect())
            .collect();
        let start = std::mem::replace(&mut self.since, end);
        Cut { start, end, down }
    }

    /// The records of the interval that the cut has ended.
    pub fn collect(&self, cut: Cut) -> RecordedInterval {
        let mut by_slot = Vec::new();
        let merge = |(tallies, down): (&Vec<SharedTally>, Vec<usize>)| {
            let mut merged = Tally::default();
            for (tally, down) in tallies.iter().zip(down) {
                let mut side = tally.side(down);
                merged.merge(&side);
                by_slot.extend_from_slice(&side.by_slot);
                side.clear();
            }
            merged
        };
        let parts = self.parts.iter().zip(cut.down).map(merge).collect();
        RecordedInterval {
            start: cut.start,
            end: cut.end,
            parts,
            by_slot,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Class;
    use crate::operation::OperationKind;

    fn cut(collector: &mut Collector) -> RecordedInterval {
        let cut = collector.cut();
        collector.collect(cut)
    }

    #[test]
    fn each_operation_is_in_exactly_one_stretch() {
        let tallies = vec![SharedTally::default(), SharedTally::default()];
        let mut collector = Collector::new(vec![tallies.clone()], clock::now());
        tallies[0].lock().record(OperationKind::Read, 512, 100);
        tallies[1].lock().record(OperationKind::Write, 1024, 200);
        let first = cut(&mut collector);
        tallies[1].lock().record(OperationKind::Fsync, 0, 300);
        tallies[1].lock().record_error(Class::IoError);
        let second = cut(&mut collector);
        let third = cut(&mut collector);

        let counts = first.whole().counts();
        assert_eq!((counts.operations, counts.reads, counts.writes), (2, 1, 1));
        assert_eq!((counts.read_bytes, counts.written_bytes), (512, 1024));
        let counts = second.whole().counts();
        assert_eq!((counts.operations, counts.fsyncs), (1, 1));
        assert_eq!(counts.errors["io-error"], 1);
        assert!(third.whole().is_empty());
        assert_eq!((first.end, second.end), (second.start, third.start));
    }

    #[test]
    fn the_slots_of_all_workers_follow_one_another() {
        let tallies = vec![SharedTally::default(), SharedTally::default()];
        tallies.iter().for_each(|tally| tally.set_slots(2));
        let mut collector = Collector::new(vec![tallies.clone()], clock::now());
        tallies[0].lock().by_slot[1] += 3;
        tallies[1].lock().by_slot[0] += 5;
        assert_eq!(cut(&mut collector).by_slot, [0, 3, 5, 0]);
        tallies[1].lock().by_slot[1] += 1;
        assert_eq!(cut(&mut collector).by_slot, [0, 0, 0, 1]);
        assert_eq!(cut(&mut collector).by_slot, [0, 0, 0, 0]);
    }

    #[test]
    fn nothing_is_lost_or_counted_twice_while_stretches_are_cut() {
        let tallies = vec![SharedTally::default(); 1];
        let mut collector = Collector::new(vec![tallies.clone()], clock::now());
        let (workers, each) = (8, if cfg!(miri) { 50 } else { 20_000 });
        let counted = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..workers)
                .map(|_| {
                    scope.spawn(|| {
                        for _ in 0..each {
                            tallies[0].lock().record(OperationKind::Read, 1, 10);
                        }
                    })
                })
                .collect();
            let mut counted = Tally::default();
            while !threads.iter().all(|thread| thread.is_finished()) {
                counted.merge(&cut(&mut collector).whole());
            }
            counted
        });
        let mut all = counted;
        all.merge(&cut(&mut collector).whole());
        assert_eq!(all.counts().reads, workers * each);
        assert_eq!(all.response.count(), workers * each);
    }
}
