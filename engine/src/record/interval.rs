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

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock::{self, Nanos, seconds};
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
    pub service: Option<Box<Times>>,
    /// How late operations of an open loop started although a slot was free.
    pub late: Late,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Late {
    count: u64,
    sum: Nanos,
    max: Nanos,
}

impl Late {
    #[inline]
    pub fn record(&mut self, late: Nanos) {
        self.count += 1;
        self.sum += late;
        self.max = self.max.max(late);
    }

    fn merge(&mut self, other: &Late) {
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// The mean in seconds; `None` when no operation had to wait for its start.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| seconds(self.sum) / self.count as f64)
    }

    pub fn max_s(&self) -> Option<f64> {
        (self.count > 0).then(|| seconds(self.max))
    }
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
        self.late.merge(&other.late);
    }

    fn clear(&mut self) {
        self.response.clear();
        if let Some(service) = &mut self.service {
            service.clear();
        }
        self.errors.clear();
        self.late = Late::default();
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
    /// The tallies of the workers of each part of the load.
    parts: Vec<Vec<SharedTally>>,
    since: Nanos,
}

/// What all workers recorded from `start` to `end`, by parts of the load.
#[derive(Debug)]
pub struct Stretch {
    pub start: Nanos,
    pub end: Nanos,
    pub parts: Vec<Tally>,
}

impl Stretch {
    /// All parts together.
    pub fn whole(&self) -> Cow<'_, Tally> {
        whole(&self.parts)
    }
}

/// The sum of tallies; nothing is copied where there is one.
pub fn whole(parts: &[Tally]) -> Cow<'_, Tally> {
    if let [only] = parts {
        return Cow::Borrowed(only);
    }
    let mut whole = Tally::default();
    parts.iter().for_each(|part| whole.merge(part));
    Cow::Owned(whole)
}

impl Collector {
    pub fn new(parts: Vec<Vec<SharedTally>>, since: Nanos) -> Self {
        Collector { parts, since }
    }

    /// Ends the current stretch now and starts the next one.
    pub fn cut(&mut self) -> Stretch {
        let end = clock::now();
        // All are turned over first, as close together as can be; the slow merging comes after.
        let down: Vec<Vec<usize>> = self
            .parts
            .iter()
            .map(|tallies| tallies.iter().map(SharedTally::turn_over).collect())
            .collect();
        let merge = |(tallies, down): (&Vec<SharedTally>, Vec<usize>)| {
            let mut merged = Tally::default();
            for (tally, down) in tallies.iter().zip(down) {
                let mut side = tally.side(down);
                merged.merge(&side);
                side.clear();
            }
            merged
        };
        let parts = self.parts.iter().zip(down).map(merge).collect();
        let start = std::mem::replace(&mut self.since, end);
        Stretch { start, end, parts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_is_in_exactly_one_stretch() {
        let tallies = vec![SharedTally::default(), SharedTally::default()];
        let mut collector = Collector::new(vec![tallies.clone()], clock::now());
        tallies[0].lock().record(OperationKind::Read, 512, 100);
        tallies[1].lock().record(OperationKind::Write, 1024, 200);
        let first = collector.cut();
        tallies[1].lock().record(OperationKind::Fsync, 0, 300);
        tallies[1].lock().record_error(Class::IoError);
        let second = collector.cut();
        let third = collector.cut();

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
    fn nothing_is_lost_or_counted_twice_while_stretches_are_cut() {
        let tallies = vec![SharedTally::default(); 1];
        let mut collector = Collector::new(vec![tallies.clone()], clock::now());
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
                cut.merge(&collector.cut().whole());
            }
            cut
        });
        let mut all = cut;
        all.merge(&collector.cut().whole());
        assert_eq!(all.counts().reads, workers * each);
        assert_eq!(all.response.count(), workers * each);
    }
}
