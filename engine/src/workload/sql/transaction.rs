//! A transaction: its statements in order, with the arguments drawn for each.
//!
//! In: a script's draws. Out: steps that a connection executes one after the other. Buffers are
//! reused from one transaction to the next.

use std::ops::Range;

use super::schema::Dialect;
use crate::db::argument::{ArgumentList, Arguments};
use crate::db::error::DbResult;
use crate::db::statement::{Statement, StatementKind};
use crate::db::values::Values;
use crate::error::Result;
use crate::operation::OperationKind;

pub const BEGIN: usize = 0;
pub const COMMIT: usize = 1;
pub const ROLLBACK: usize = 2;
/// Begins a transaction that writes.
pub const BEGIN_TO_WRITE: usize = 3;

/// The first statements of every list, by the numbers above.
pub fn framing(dialect: Dialect) -> Vec<Statement> {
    // A transaction of SQLite that reads first and then writes cannot wait for another writer.
    let begin_to_write = match dialect {
        Dialect::Sqlite => "BEGIN IMMEDIATE",
        Dialect::Mysql | Dialect::Postgres => "BEGIN",
    };
    ["BEGIN", "COMMIT", "ROLLBACK", begin_to_write]
        .iter()
        .map(|sql| Statement::new(StatementKind::Other, sql))
        .collect()
}

/// One of the workers of a load, counted from 0.
#[derive(Debug, Clone, Copy)]
pub struct TransactionWorker {
    pub number: usize,
    pub of: usize,
    /// The number of connections that other load hosts have before this one's.
    pub first_connection: usize,
}

impl TransactionWorker {
    /// Its number among all generators of all load hosts, none of which has more than connections.
    pub fn generator(&self) -> u64 {
        (self.first_connection + self.number) as u64
    }
}

/// The source of transactions; each worker has its own.
pub trait Script: Send {
    /// What a transaction remembers from statement to statement, and a connection from transaction
    /// to transaction.
    type State: Default + Send;

    /// Fills `transaction`, which is empty, with the next one, as far as it does not depend on
    /// answers.
    fn draw(&mut self, transaction: &mut Transaction, state: &mut Self::State);

    /// Adds the steps that follow from the answer to the last step; none where the transaction is
    /// over. `values` are of the latest statement that returns any.
    #[inline]
    fn go_on(
        &mut self,
        _transaction: &mut Transaction,
        _state: &mut Self::State,
        _values: &Values,
    ) -> DbResult<()> {
        Ok(())
    }

    /// Called when a server that was away answers again, before transactions go on: how many that it
    /// had acknowledged are lost.
    fn count_lost(&mut self) -> Result<u64> {
        Ok(0)
    }

    /// Reduces a transaction that was taken back to its first steps, with the same draws.
    #[inline]
    fn repeat(&mut self, _transaction: &mut Transaction, _state: &mut Self::State) {}
}

#[derive(Debug, Clone, Default)]
pub struct Transaction {
    steps: Vec<Step>,
    pub arguments: ArgumentList,
    /// Whether the transaction ends with an intended rollback.
    pub rolls_back: bool,
    /// Its number among the workload's kinds of transactions, which are reported separately.
    pub kind: Option<usize>,
    /// Parts that had nothing to do, such as the delivery of a district without a new order.
    pub skipped: u32,
}

#[derive(Debug, Clone)]
struct Step {
    statement: usize,
    arguments: Range<usize>,
}

impl Transaction {
    pub fn clear(&mut self) {
        self.steps.clear();
        self.arguments.clear();
        self.rolls_back = false;
        self.kind = None;
        self.skipped = 0;
    }

    /// Its kind as an operation.
    #[inline]
    pub fn operation(&self) -> OperationKind {
        self.kind
            .map_or(OperationKind::Transaction, OperationKind::TransactionOf)
    }

    /// Adds a statement whose arguments are those added since the last statement.
    #[inline]
    pub fn step(&mut self, statement: usize) {
        let start = self.steps.last().map_or(0, |step| step.arguments.end);
        self.steps.push(Step {
            statement,
            arguments: start..self.arguments.len(),
        });
    }

    pub fn len(&self) -> usize {
        self.steps.len()
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The number of a step's statement, and its arguments.
    #[inline]
    pub fn get(&self, step: usize) -> (usize, Arguments<'_>) {
        let step = &self.steps[step];
        (step.statement, self.arguments.range(step.arguments.clone()))
    }
}
