//! TPC-C, revision 5.11: its five transactions, and its tables.
//!
//! In: the job's parameters. Out: the statements to prepare, a script, and the rows of the tables.
//! Called by `spawn` and `prepare`.

pub mod conditions;
pub mod definition;
mod delivery;
mod draws;
pub mod ledger;
mod lines;
pub mod load;
mod new_order;
mod order_status;
mod payment;
pub mod rows;
pub mod schema;
pub mod script;
pub mod statements;
mod stock_level;

use crate::db::error::DbResult;
use crate::db::values::Values;
use crate::workload::sql::transaction::Transaction;

/// One transaction with its inputs, from its first steps to its end.
trait Profile: Send {
    /// Adds the first steps. Called again after a rollback, with the same inputs.
    fn begin(&mut self, transaction: &mut Transaction);

    /// Adds the steps that follow from the latest values; none at the end.
    fn go_on(&mut self, transaction: &mut Transaction, values: &Values) -> DbResult<()>;
}

/// The warehouse and the district that a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Terminal {
    warehouse: i64,
    district: i64,
}

/// A customer by number, or by last name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Number(i64),
    LastName(u64),
}

/// The customer in the middle of those of one last name, rounded up (clause 2.5.2.2).
fn middle(values: &Values) -> usize {
    values.rows().saturating_sub(1) / 2
}
