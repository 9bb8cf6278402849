//! sysbench's tables: their description, and their creation.
//!
//! In: the job's parameters. Out: tables full of rows that follow from the seed. Called by
//! `prepare`.

use super::{TableSet, Task};
use crate::db;
use crate::db::session::Session;
use crate::job::sql::Oltp;
use crate::workload::sql::schema::{Dialect, continue_numbers, create, table};
use crate::workload::sql::{load, rows};

impl TableSet for Oltp {
    fn made_of(&self) -> String {
        let index = if self.secondary {
            "a secondary index"
        } else {
            "a primary key"
        };
        format!(
            "{} tables of {} rows with {index}",
            self.tables, self.table_size
        )
    }

    fn tables(&self) -> Vec<String> {
        (1..=self.tables).map(table).collect()
    }

    fn rows_of_each(&self) -> Option<u64> {
        Some(self.table_size)
    }

    fn make(&self, session: &mut Session, task: &Task<'_>) -> db::error::DbResult<bool> {
        let dialect = Dialect::of(&self.database);
        let total = u64::from(self.tables) * self.table_size * rows::ROW_BYTES;
        let report_rows = |done: u64| task.report_bytes(done * rows::ROW_BYTES, total);
        for number in 1..=self.tables {
            for statement in create(dialect, number, self.secondary) {
                session.query(&statement)?;
            }
        }
        report_rows(0);
        if !load::load(self, task.seed, task.stop, &report_rows)? {
            return Ok(false);
        }
        for number in 1..=self.tables {
            if let Some(statement) = continue_numbers(dialect, number, self.table_size) {
                session.query(&statement)?;
            }
        }
        Ok(true)
    }

    /// By its number and by the index on `k`.
    fn reading(&self, table: &str) -> Vec<String> {
        ["SUM(LENGTH(pad))", "SUM(k)"]
            .map(|columns| format!("SELECT {columns} FROM {table}"))
            .to_vec()
    }

    /// An earlier job may have created more tables than this one needs.
    fn to_drop(&self, session: &mut Session) -> Vec<String> {
        let surplus = (self.tables + 1..).map(table).take_while(|name| {
            session
                .query(&format!("SELECT 1 FROM {name} LIMIT 1"))
                .is_ok()
        });
        self.tables().into_iter().chain(surplus).collect()
    }
}
