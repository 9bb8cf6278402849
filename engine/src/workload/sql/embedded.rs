//! Transactions executed in the calling thread, one after the other.
//!
//! In: a script, and a connection of SQLite. Out: a `Workload` of one slot that completes at once.
//! Called by `load::worker`.

use super::transaction::{ROLLBACK, Script, Transaction};
use crate::clock::{self, Nanos};
use crate::db::argument::Arguments;
use crate::db::error::{DbError, DbErrorKind};
use crate::db::sqlite::SqliteConnection;
use crate::db::statement::StatementKind;
use crate::error::{EngineError, Result};
use crate::load::workload::Workload;
use crate::operation::{Completion, Failure, Outcome, Slot, Submitted};
use crate::record::statements::Statements;
use crate::record::tally::Tally;

/// The number of attempts before a transaction counts as failed: then a lock is never released.
pub const ATTEMPTS: u32 = 100;

pub struct Embedded<S: Script> {
    connection: SqliteConnection,
    address: String,
    script: S,
    kinds: Vec<StatementKind>,
    transaction: Transaction,
    state: S::State,
    counts: Statements,
    failure: Option<DbError>,
}

impl<S: Script> Embedded<S> {
    /// `address` names the database in messages; `kinds` are those of the connection's statements.
    pub fn new(
        connection: SqliteConnection,
        address: String,
        script: S,
        kinds: Vec<StatementKind>,
    ) -> Self {
        Embedded {
            connection,
            address,
            script,
            kinds,
            transaction: Transaction::default(),
            state: S::State::default(),
            counts: Statements::default(),
            failure: None,
        }
    }

    fn attempt(&mut self) -> std::result::Result<(), DbError> {
        let mut step = 0;
        while step < self.transaction.len() {
            let (statement, arguments) = self.transaction.get(step);
            self.connection.execute(statement, arguments)?;
            self.counts.count(self.kinds[statement]);
            step += 1;
            if step == self.transaction.len() {
                let values = self.connection.values();
                self.script
                    .go_on(&mut self.transaction, &mut self.state, values)?;
            }
        }
        Ok(())
    }

    /// Repeats the transaction until it succeeds or fails permanently.
    fn carry_out(&mut self) -> std::result::Result<(), DbError> {
        let mut attempts = 1;
        while let Err(error) = self.attempt() {
            // Where no transaction was begun, a rollback has nothing to do, which is no failure.
            let _ = self.connection.execute(ROLLBACK, Arguments::NONE);
            match error.kind {
                DbErrorKind::Conflict => self.counts.conflicts += 1,
                DbErrorKind::LockTimeout => self.counts.lock_timeouts += 1,
                _ => return Err(error),
            }
            if attempts == ATTEMPTS {
                return Err(error);
            }
            attempts += 1;
            self.counts.retries += 1;
            self.script.repeat(&mut self.transaction, &mut self.state);
        }
        Ok(())
    }
}

impl<S: Script> Workload for Embedded<S> {
    fn slots(&self) -> usize {
        1
    }

    fn submit(&mut self, slot: Slot) -> Result<Submitted> {
        self.transaction.clear();
        self.script.draw(&mut self.transaction, &mut self.state);
        let outcome = match self.carry_out() {
            Ok(()) => {
                self.counts.rollbacks += u64::from(self.transaction.rolls_back);
                self.counts.skipped += u64::from(self.transaction.skipped);
                Outcome::Done { bytes: 0 }
            }
            Err(error) => {
                self.failure = Some(error);
                Outcome::Failed(Failure::Statement)
            }
        };
        Ok(Submitted::Done(Completion {
            slot,
            kind: self.transaction.operation(),
            outcome,
        }))
    }

    fn reap(&mut self, deadline: Option<Nanos>, _completions: &mut Vec<Completion>) -> Result<()> {
        clock::sleep_until(deadline.unwrap_or(0));
        Ok(())
    }

    fn explain(&self, _slot: Slot, _failure: Failure) -> EngineError {
        match &self.failure {
            Some(error) => error.at(&self.address),
            None => DbError::protocol("nothing has failed").at(&self.address),
        }
    }

    fn hand_over(&mut self, tally: &mut Tally) {
        tally.statements.add(&std::mem::take(&mut self.counts));
    }
}
