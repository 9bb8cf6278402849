//! Statements: the contents of transactions, and their failures.
//!
//! In: one call per statement or event. Out: sums. `workload::sql` keeps them, and each batch of
//! completed transactions adds them to a worker's tally.

use serde::Serialize;

use crate::db::statement::StatementKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Statements {
    /// Executed statements, as sysbench counts them.
    pub read_queries: u64,
    pub write_queries: u64,
    pub other_queries: u64,
    /// Transactions that ended with an intended rollback.
    pub rollbacks: u64,
    /// Transactions in conflict with another one: deadlocks, serialisation failures, duplicate
    /// keys.
    pub conflicts: u64,
    /// Transactions that waited too long for a lock.
    pub lock_timeouts: u64,
    /// Attempts beyond the first.
    pub retries: u64,
    pub reconnects: u64,
    /// Parts of transactions that had nothing to do.
    #[serde(skip_serializing_if = "is_zero")]
    pub skipped: u64,
    /// Acknowledged transactions that the server did not have any more after a crash.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Statements {
    #[inline]
    pub fn count(&mut self, kind: StatementKind) {
        match kind {
            StatementKind::Read => self.read_queries += 1,
            StatementKind::Write => self.write_queries += 1,
            StatementKind::Other => self.other_queries += 1,
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
        self.skipped += other.skipped;
        self.lost += other.lost;
    }

    pub fn queries(&self) -> u64 {
        self.read_queries + self.write_queries + self.other_queries
    }
}
