//! A connection to any database, for preparation and administration: blocking, one statement as
//! text at a time.
//!
//! In: a database as a job names it. Out: rows. Called by `workload::sql::prepare` and `sql`.

use super::error::DbResult;
use super::server::Server;
use super::statement::Statement;
use super::{Connection, Execution, Rows, mysql, postgres, sqlite};
use crate::db::database::Database;

pub enum Session {
    Sqlite(Box<sqlite::SqliteConnection>),
    Mysql(Box<mysql::MySqlConnection>),
    Postgres(Box<postgres::PostgresConnection>),
}

impl Session {
    /// Connects; creates a missing database file where `create` is set.
    pub fn open(database: &Database, create: bool) -> DbResult<Session> {
        match database {
            Database::Sqlite(file) => {
                sqlite::SqliteConnection::open(file, &[], Execution::Text, create)
                    .map(Box::new)
                    .map(Session::Sqlite)
            }
            Database::Mysql(server) => open(server).map(Box::new).map(Session::Mysql),
            Database::Postgres(server) => open(server).map(Box::new).map(Session::Postgres),
        }
    }

    pub fn query(&mut self, sql: &str) -> DbResult<Rows> {
        match self {
            Session::Sqlite(connection) => connection.query(sql),
            Session::Mysql(connection) => connection.query(sql),
            Session::Postgres(connection) => connection.query(sql),
        }
    }
}

/// Checks that the database can prepare a statement, without executing it.
pub fn try_to_prepare(database: &Database, statement: &Statement) -> DbResult<()> {
    let statements = std::slice::from_ref(statement);
    match database {
        Database::Sqlite(file) => {
            sqlite::SqliteConnection::open(file, &[], Execution::Text, false)?.check(statement)
        }
        Database::Mysql(server) => {
            mysql::MySqlConnection::open(server, statements, Execution::Prepared).map(drop)
        }
        Database::Postgres(server) => {
            postgres::PostgresConnection::open(server, statements, Execution::Prepared).map(drop)
        }
    }
}

fn open<C: Connection>(server: &Server) -> DbResult<C> {
    C::open(server, &[], Execution::Text)
}
