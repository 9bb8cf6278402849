//! Databases: statements, their arguments, and connections that execute them.
//!
//! In: statements known beforehand, arguments drawn for each execution. Out: answers. Two kinds of
//! connections: `Connection` speaks a protocol over a socket and never blocks, so that one thread
//! serves many. `sqlite` works in the calling thread. Called by `workload::sql` and `sql`.

pub mod argument;
pub mod credential;
pub mod database;
pub mod error;
pub mod mysql;
pub mod postgres;
pub mod server;
pub mod session;
pub mod sqlite;
pub mod statement;
pub mod stream;
mod tls;
pub mod values;

use std::os::fd::BorrowedFd;

use serde::Serialize;

use argument::Arguments;
use error::DbResult;
use server::Server;
use statement::Statement;
use values::Values;

/// The result of an executed statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answer {
    /// Rows returned, or changed by a statement that returns none.
    pub rows: u64,
}

/// A result set as text; null is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Rows {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Option<String>>>,
}

/// How statements are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execution {
    /// Prepared once on each connection, then executed with bound arguments.
    Prepared,
    /// Sent as text each time, with the arguments written into it.
    Text,
}

/// A connection over a socket. At most one statement is under way at a time.
pub trait Connection: Sized + Send {
    /// Connects, authenticates and, on request, prepares every statement. Waits for each step at
    /// most as long as the server's timeout.
    fn open(server: &Server, statements: &[Statement], execution: Execution) -> DbResult<Self>;

    /// The descriptor to wait on for an answer.
    fn fd(&self) -> BorrowedFd<'_>;

    /// Starts one of the statements that the connection was opened with. Any other number is an
    /// error, of the server or of the engine.
    fn send(&mut self, statement: usize, arguments: Arguments<'_>) -> DbResult<()>;

    /// Processes the received bytes without waiting; `None` while the answer is incomplete. After
    /// an error the connection stays usable unless the error kind is a lost connection.
    fn receive(&mut self) -> DbResult<Option<Answer>>;

    /// The rows of the last answer, where its statement returns values.
    fn values(&self) -> &Values;

    /// Executes one statement given as text, and waits for it. For preparing and administering;
    /// never used for measured operations.
    fn query(&mut self, sql: &str) -> DbResult<Rows>;
}
