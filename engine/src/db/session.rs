//! A connection to any database, for preparing, looking and administering: one statement at a time, as
//! text, each waited for.
//!
//! In: a database as a job names it. Out: rows. Called by `workload::sql::prepare` and `sql`.

use super::error::Result;
use super::sqlite;
use super::{Execution, Rows};
use crate::job::sql::Database;

pub enum Session {
    Sqlite(sqlite::Connection),
}

impl Session {
    /// Connects; makes a database file where there is none and `create` is set.
    pub fn open(database: &Database, create: bool) -> Result<Session> {
        match database {
            Database::Sqlite(file) => {
                sqlite::Connection::open(file, &[], Execution::Text, create).map(Session::Sqlite)
            }
            Database::Mysql(_) | Database::Postgres(_) => {
                Err(super::error::DbError::protocol("not yet"))
            }
        }
    }

    pub fn query(&mut self, sql: &str) -> Result<Rows> {
        match self {
            Session::Sqlite(connection) => connection.query(sql),
        }
    }
}
