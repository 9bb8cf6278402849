//! Checks of a database before a load starts: the tables exist, and the cache is in the requested
//! state.
//!
//! In: the job's parameters. Out: the name of the database, for messages. Called by
//! `workload::shared`.

use super::{database_file, prepare};
use crate::db::database::Database;
use crate::error::Result;
use crate::job::Cache;
use crate::job::sql::Sql;

pub struct SqlShared {
    pub address: String,
    /// The number of earlier runs on the same data, where the draws depend on it.
    pub run: i64,
}

impl SqlShared {
    pub fn open(sql: &Sql, cache: Cache) -> Result<SqlShared> {
        if let Database::Sqlite(file) = sql.database() {
            database_file::refuse_stranger(file)?;
        }
        prepare::check(sql)?;
        let run = match sql {
            Sql::SqlMix(mix) if mix.has_sequence() => prepare::count_run(sql.database())?,
            _ => 0,
        };
        if let (Database::Sqlite(file), Cache::Cold) = (sql.database(), cache) {
            database_file::drop_cache(file)?;
        }
        Ok(SqlShared {
            address: sql.database().address(),
            run,
        })
    }
}
