//! A connection to any database, for preparation and administration: blocking, one statement as
//! text at a time.
//!
//! In: a database as a job names it. Out: rows. Called by `workload::sql::prepare` and `sql`.

use super::error::Result;
use super::server::Server;
use super::statement::Statement;
use super::{Connection, Execution, Rows, mysql, postgres, sqlite};
use crate::db::database::Database;

pub enum Session {
    Sqlite(sqlite::Connection),
    Mysql(Box<mysql::Connection>),
    Postgres(Box<postgres::Connection>),
}

impl Session {
    /// Connects; creates a missing database file where `create` is set.
    pub fn open(database: &Database, create: bool) -> Result<Session> {
        match database {
            Database::Sqlite(file) => {
                sqlite::Connection::open(file, &[], Execution::Text, create).map(Session::Sqlite)
            }
            Database::Mysql(server) => open(server).map(Box::new).map(Session::Mysql),
            Database::Postgres(server) => open(server).map(Box::new).map(Session::Postgres),
        }
    }

    pub fn query(&mut self, sql: &str) -> Result<Rows> {
        match self {
            Session::Sqlite(connection) => connection.query(sql),
            Session::Mysql(connection) => connection.query(sql),
            Session::Postgres(connection) => connection.query(sql),
        }
    }
}

/// Checks that the database can prepare a statement, without executing it.
pub fn try_to_prepare(database: &Database, statement: &Statement) -> Result<()> {
    let statements = std::slice::from_ref(statement);
    match database {
        Database::Sqlite(file) => {
            sqlite::Connection::open(file, &[], Execution::Text, false)?.check(statement)
        }
        Database::Mysql(server) => {
            mysql::Connection::open(server, statements, Execution::Prepared).map(drop)
        }
        Database::Postgres(server) => {
            postgres::Connection::open(server, statements, Execution::Prepared).map(drop)
        }
    }
}

fn open<C: Connection>(server: &Server) -> Result<C> {
    C::open(server, &[], Execution::Text)
}
