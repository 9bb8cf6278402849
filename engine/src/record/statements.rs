//! Statements: what transactions were made of, and what happened to them.
//!
//! In: one call per statement or event. Out: sums. Kept by `workload::sql`, taken over into a worker's
//! tally with each batch of completed transactions.

use serde::Serialize;

use crate::db::statement::Kind;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Statements {
    /// Statements that were carried out, as sysbench counts them.
    pub read_queries: u64,
    pub write_queries: u64,
    pub other_queries: u64,
    /// Transactions that ended with a rollback that they meant.
    pub rollbacks: u64,
    /// Transactions that another one was in the way of: deadlocks, serialisation failures, duplicate keys.
    pub conflicts: u64,
    /// Transactions that waited too long for a lock.
    pub lock_timeouts: u64,
    /// Attempts beyond the first.
    pub retries: u64,
    pub reconnects: u64,
}

impl Statements {
    #[inline]
    pub fn count(&mut self, kind: Kind) {
        match kind {
            Kind::Read => self.read_queries += 1,
            Kind::Write => self.write_queries += 1,
            Kind::Other => self.other_queries += 1,
        }
    }

    pub fn add(&mut self, other: &Statements) {
        self.read_queries += other.read_queries;
        self.write_queries += other.write_queries;
        self.other_queries += other.other_queries;
        self.rollbacks += other.rollbacks;
        self.conflicts += other.conflicts;
        self.lock_timeouts += other.lock_timeouts;
        self.retries += other.retries;
        self.reconnects += other.reconnects;
    }

    pub fn queries(&self) -> u64 {
        self.read_queries + self.write_queries + self.other_queries
    }
}
