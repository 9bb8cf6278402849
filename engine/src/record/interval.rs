//! A tally: everything recorded in one stretch of time, and the collector that cuts stretches.
//!
//! In: one call per completed operation, from workers. Out: the merged tally of all workers since
//! the last cut. Workers are called by `load::worker`, the collector by `load::windows`.
//!
//! Each worker has a tally with two sides, each behind its own lock, and records on the side that is
//! up; the lock is taken once per batch and is practically always free. A cut turns all tallies over
//! and only then collects what is on the sides now down. So an operation counts in the stretch in
//! which it completes, intervals add up to results, and a worker that is stuck in an operation, or
//! put off the core while it records, moves no boundary.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock::{self, Nanos};
use crate::error::Class;
use crate::event::Counts;
use crate::record::histogram::Times;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    Read,
    Write,
    Fsync,
}

#[derive(Debug, Clone, Default)]
pub struct Tally {
    reads: u64,
    writes: u64,
    fsyncs: u64,
    read_bytes: u64,
    written_bytes: u64,
    errors: BTreeMap<Class, u64>,
    /// From the intended start.
    pub response: Times,
    /// From the actual start; kept only by an open loop, where the two differ.
    pub service: Option<Times>,
}

impl Tally {
    #[inline]
    pub fn record(&mut self, kind: OperationKind, bytes: u64, response: Nanos) {
        match kind {
            OperationKind::Read => {
                self.reads += 1;
                self.read_bytes += bytes;
            }
            OperationKind::Write => {
                self.writes += 1;
                self.written_bytes += bytes;
            }
            OperationKind::Fsync => self.fsyncs += 1,
        }
        self.response.record(response);
    }

    pub fn record_service(&mut self, service: Nanos) {
        self.service.get_or_insert_default().record(service);
    }

    /// Returns how many of this class the tally now has.
    pub fn record_error(&mut self, class: Class) -> u64 {
        let count = self.errors.entry(class).or_default();
        *count += 1;
        *count
    }

    pub fn merge(&mut self, other: &Tally) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.fsyncs += other.fsyncs;
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        for (&class, count) in &other.errors {
            *self.errors.entry(class).or_default() += count;
        }
        self.response.merge(&other.response);
        if let Some(service) = &other.service {
            self.service.get_or_insert_default().merge(service);
        }
    }

    fn clear(&mut self) {
        // The histograms' memory is kept: cutting must not allocate for every worker.
        self.response.clear();
        if let Some(service) = &mut self.service {
            service.clear();
        }
        self.errors.clear();
        (self.reads, self.writes, self.fsyncs) = (0, 0, 0);
        (self.read_bytes, self.written_bytes) = (0, 0);
    }

    pub fn is_empty(&self) -> bool {
        self.response.count() == 0 && self.errors.is_empty()
    }

    pub fn transfers(&self) -> u64 {
        self.reads + self.writes
    }

    pub fn bytes(&self) -> u64 {
        self.read_bytes + self.written_bytes
    }

    pub fn counts(&self) -> Counts {
        Counts {
            operations: self.reads + self.writes + self.fsyncs,
            reads: self.reads,
            writes: self.writes,
            fsyncs: self.fsyncs,
            read_bytes: self.read_bytes,
            written_bytes: self.written_bytes,
            errors: self
                .errors
                .iter()
                .map(|(class, &count)| (class.to_string(), count))
                .collect(),
        }
    }
}

/// A worker's tally, shared with the collector.
#[derive(Debug, Clone, Default)]
pub struct SharedTally(Arc<TwoSided>);

#[derive(Debug, Default)]
struct TwoSided {
    /// 0 or 1: the side to record on.
    up: AtomicUsize,
    sides: [Mutex<Tally>; 2],
}

impl SharedTally {
    /// The side to record on.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, Tally> {
        loop {
            let up = self.0.up.load(Ordering::Acquire);
            let side = self.side(up);
            // Turned over before we had the lock, this side may have been collected already.
            if self.0.up.load(Ordering::Acquire) == up {
                return side;
            }
        }
    }

    /// Turns the tally over; returns the side that is down now.
    fn turn_over(&self) -> usize {
        self.0.up.fetch_xor(1, Ordering::AcqRel)
    }

    /// A worker that panicked leaves counts that are still right, so poison is no reason to stop.
    #[inline]
    fn side(&self, number: usize) -> MutexGuard<'_, Tally> {
        let side = &self.0.sides[number & 1];
        side.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cuts the workers' tallies into stretches.
#[derive(Debug)]
pub struct Collector {
    tallies: Vec<SharedTally>,
    since: Nanos,
}

/// What all workers recorded from `start` to `end`.
#[derive(Debug)]
pub struct Stretch {
    pub start: Nanos,
    pub end: Nanos,
    pub tally: Tally,
}

impl Collector {
    pub fn new(tallies: Vec<SharedTally>, since: Nanos) -> Self {
        Collector { tallies, since }
    }

    /// Ends the current stretch now and starts the next one.
    pub fn cut(&mut self) -> Stretch {
        let end = clock::now();
        // All are turned over first, as close together as can be; the slow merging comes after.
        let down: Vec<usize> = self.tallies.iter().map(SharedTally::turn_over).collect();
        let mut merged = Tally::default();
        for (tally, down) in self.tallies.iter().zip(down) {
            let mut side = tally.side(down);
            merged.merge(&side);
            side.clear();
        }
        let start = std::mem::replace(&mut self.since, end);
        Stretch {
            start,
            end,
            tally: merged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_is_in_exactly_one_stretch() {
        let tallies = vec![SharedTally::default(), SharedTally::default()];
        let mut collector = Collector::new(tallies.clone(), clock::now());
        tallies[0].lock().record(OperationKind::Read, 512, 100);
        tallies[1].lock().record(OperationKind::Write, 1024, 200);
        let first = collector.cut();
        tallies[1].lock().record(OperationKind::Fsync, 0, 300);
        tallies[1].lock().record_error(Class::IoError);
        let second = collector.cut();
        let third = collector.cut();

        let counts = first.tally.counts();
        assert_eq!((counts.operations, counts.reads, counts.writes), (2, 1, 1));
        assert_eq!((counts.read_bytes, counts.written_bytes), (512, 1024));
        let counts = second.tally.counts();
        assert_eq!((counts.operations, counts.fsyncs), (1, 1));
        assert_eq!(counts.errors["io-error"], 1);
        assert!(third.tally.is_empty());
        assert_eq!((first.end, second.end), (second.start, third.start));
    }

    #[test]
    fn nothing_is_lost_or_counted_twice_while_stretches_are_cut() {
        let tallies = vec![SharedTally::default(); 1];
        let mut collector = Collector::new(tallies.clone(), clock::now());
        let (workers, each) = (8, 20_000);
        let cut = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..workers)
                .map(|_| {
                    scope.spawn(|| {
                        for _ in 0..each {
                            tallies[0].lock().record(OperationKind::Read, 1, 10);
                        }
                    })
                })
                .collect();
            let mut cut = Tally::default();
            while !threads.iter().all(|thread| thread.is_finished()) {
                cut.merge(&collector.cut().tally);
            }
            cut
        });
        let mut all = cut;
        all.merge(&collector.cut().tally);
        assert_eq!(all.counts().reads, workers * each);
        assert_eq!(all.response.count(), workers * each);
    }
}
