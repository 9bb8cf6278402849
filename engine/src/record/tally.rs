//! A tally: counts and times of the operations in one interval.
//!
//! In: one call per completed operation. Out: counts, times, and the sum of several tallies. Called
//! by `load::worker`, by `record::interval`, which shares and cuts tallies, and by `run::window`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::clock::{Nanos, seconds};
use crate::error::Class;
use crate::operation::OperationKind;
use crate::record::histogram::Times;
use crate::record::statements::Statements;

#[derive(Debug, Clone, Default)]
pub struct Tally {
    reads: u64,
    writes: u64,
    fsyncs: u64,
    transactions: u64,
    /// The response times of each kind of transaction, of a workload that has several.
    by_kind: Vec<Times>,
    read_bytes: u64,
    written_bytes: u64,
    errors: BTreeMap<Class, u64>,
    /// The operations completed in each slot of the worker.
    pub by_slot: Vec<u64>,
    /// The counts of statements in the transactions.
    pub statements: Statements,
    /// From the intended start.
    pub response: Times,
    /// From the actual start; recorded only in an open loop, where the two differ.
    pub service: Option<Box<Times>>,
    /// The start delay of open-loop operations that had a free slot in time.
    pub late: Late,
}

/// Operations of one interval. Errors are counted by class and are not operations.
#[derive(Debug, Serialize)]
pub struct TallyCounts {
    pub operations: u64,
    pub reads: u64,
    pub writes: u64,
    pub fsyncs: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// The counts within transactions; the number of transactions is that of the operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statements: Option<Statements>,
    pub errors: BTreeMap<String, u64>,
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
            OperationKind::Transaction => self.transactions += 1,
            OperationKind::TransactionOf(kind) => {
                self.transactions += 1;
                self.times_of(kind).record(response);
            }
        }
        self.response.record(response);
    }

    #[inline]
    fn times_of(&mut self, kind: usize) -> &mut Times {
        if kind >= self.by_kind.len() {
            self.by_kind.resize_with(kind + 1, Times::default);
        }
        &mut self.by_kind[kind]
    }

    /// The response times of the transactions of a kind; `None` where there were none.
    pub fn of_kind(&self, kind: usize) -> Option<&Times> {
        self.by_kind.get(kind).filter(|times| times.count() > 0)
    }

    pub fn record_service(&mut self, service: Nanos) {
        self.service.get_or_insert_default().record(service);
    }

    /// Returns the number of errors of this class in the tally.
    pub fn record_error(&mut self, class: Class) -> u64 {
        let count = self.errors.entry(class).or_default();
        *count += 1;
        *count
    }

    /// Adds the other tally, except for its slots, which are another worker's.
    pub fn merge(&mut self, other: &Tally) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.fsyncs += other.fsyncs;
        self.transactions += other.transactions;
        self.statements.add(&other.statements);
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        for (&class, count) in &other.errors {
            *self.errors.entry(class).or_default() += count;
        }
        self.response.merge(&other.response);
        for (kind, times) in other.by_kind.iter().enumerate() {
            self.times_of(kind).merge(times);
        }
        if let Some(service) = &other.service {
            self.service.get_or_insert_default().merge(service);
        }
        self.late.merge(&other.late);
    }

    pub fn clear(&mut self) {
        self.response.clear();
        self.by_kind.iter_mut().for_each(Times::clear);
        if let Some(service) = &mut self.service {
            service.clear();
        }
        self.errors.clear();
        self.late = Late::default();
        self.by_slot.fill(0);
        (self.reads, self.writes, self.fsyncs) = (0, 0, 0);
        (self.transactions, self.statements) = (0, Statements::default());
        (self.read_bytes, self.written_bytes) = (0, 0);
    }

    pub fn is_empty(&self) -> bool {
        self.response.count() == 0 && self.errors.is_empty()
    }

    /// The operations that throughput counts: reads and writes of files, transactions of a
    /// database.
    pub fn transfers(&self) -> u64 {
        self.reads + self.writes + self.transactions
    }

    pub fn bytes(&self) -> u64 {
        self.read_bytes + self.written_bytes
    }

    pub fn counts(&self) -> TallyCounts {
        TallyCounts {
            operations: self.reads + self.writes + self.fsyncs + self.transactions,
            reads: self.reads,
            writes: self.writes,
            fsyncs: self.fsyncs,
            read_bytes: self.read_bytes,
            written_bytes: self.written_bytes,
            statements: (self.statements != Statements::default()).then_some(self.statements),
            errors: self
                .errors
                .iter()
                .map(|(class, &count)| (class.to_string(), count))
                .collect(),
        }
    }
}

/// The sum of tallies; a single tally is not copied.
pub fn whole(parts: &[Tally]) -> Cow<'_, Tally> {
    if let [only] = parts {
        return Cow::Borrowed(only);
    }
    let mut whole = Tally::default();
    parts.iter().for_each(|part| whole.merge(part));
    Cow::Owned(whole)
}
