//! Databases: statements, the values that go into them, and connections that carry them out.
//!
//! In: statements known beforehand, arguments drawn for each execution. Out: answers. Two sorts of
//! connections: `Connection` speaks a protocol over a socket and never waits, so that one thread
//! serves many; `sqlite` works in the calling thread. Called by `workload::sql` and `sql`.

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

use std::os::fd::RawFd;

use serde::Serialize;

use argument::Arguments;
use error::Result;
use server::Server;
use statement::Statement;

/// What a statement that was carried out has come to.
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

/// How statements are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execution {
    /// Prepared once on each connection, then executed with bound arguments.
    Prepared,
    /// Sent as text each time, with the arguments written into it.
    Text,
}

/// A connection over a socket. At most one statement is under way at a time.
pub trait Connection: Sized + Send {
    /// Connects, authenticates and, where asked, prepares every statement; waits for all of it, each
    /// step at most as long as the server's timeout says.
    fn open(server: &Server, statements: &[Statement], execution: Execution) -> Result<Self>;

    /// What to wait on for an answer.
    fn fd(&self) -> RawFd;

    /// Starts one of the statements that the connection was opened with; of any other number it is an
    /// error, the server's or our own.
    fn send(&mut self, statement: usize, arguments: Arguments<'_>) -> Result<()>;

    /// Takes what has come, without waiting; `None` while the answer is not whole. After an error the
    /// connection can go on unless the error says that it is lost.
    fn receive(&mut self) -> Result<Option<Answer>>;

    /// Carries out one statement given as text, and waits for it. For preparing and administering;
    /// never on the way of a measured operation.
    fn query(&mut self, sql: &str) -> Result<Rows>;
}
