//! Work on databases: transactions of statements, over connections.
//!
//! In: the job's parameters. Out: for each worker a `Workload` whose operations are transactions. A
//! script draws the steps of a transaction. `socket` executes transactions over many connections at
//! once, `embedded` in the calling thread. Called by `workload::shared`.

mod chunk;
mod database_file;
pub mod embedded;
pub mod generate;
mod load;
mod loaders;
pub mod mix;
pub mod oltp;
mod outage;
pub mod prepare;
pub mod rows;
pub mod schema;
pub mod shared;
pub mod socket;
pub mod spawn;
pub mod tpcc;
pub mod transaction;

pub use transaction::{Script, Transaction, TransactionWorker};
