//! TPC-C's tables: their description, and their creation.
//!
//! In: the job's parameters. Out: tables full of rows that follow from the seed. Called by
//! `prepare`.

use super::{TableSet, Task};
use crate::db;
use crate::db::session::Session;
use crate::job::tpcc::Tpcc;
use crate::workload::sql::schema::Dialect;
use crate::workload::sql::tpcc::definition::{create, create_references};
use crate::workload::sql::tpcc::schema::TABLES;
use crate::workload::sql::tpcc::{load, rows};

impl TableSet for Tpcc {
    fn made_of(&self) -> String {
        let keys = if self.foreign_keys {
            " with foreign keys"
        } else {
            ""
        };
        let partitions = match self.partitions {
            0 => String::new(),
            partitions => format!(" in {partitions} partitions"),
        };
        format!("TPC-C of {} warehouses{partitions}{keys}", self.warehouses)
    }

    fn tables(&self) -> Vec<String> {
        TABLES.iter().map(|table| table.name.to_string()).collect()
    }

    /// Tables of somebody else do not fit: their rows may be those of another state.
    fn rows_of_each(&self) -> Option<u64> {
        None
    }

    fn make(&self, session: &mut Session, task: &Task<'_>) -> db::error::DbResult<bool> {
        let dialect = Dialect::of(&self.database);
        for table in TABLES {
            for statement in create(table, dialect, self.partitions) {
                session.query(&statement)?;
            }
        }
        let total = rows::total_bytes(self.warehouses.into());
        let report = |done: u64| task.report_bytes(done.min(total), total);
        report(0);
        if !load::load(self, task.seed, task.stop, &report)? {
            return Ok(false);
        }
        if self.foreign_keys {
            for statement in create_references() {
                session.query(&statement)?;
            }
        }
        Ok(true)
    }

    fn reading(&self, table: &str) -> Vec<String> {
        TABLES
            .iter()
            .filter(|each| each.name == table)
            .map(|each| each.reading())
            .collect()
    }

    /// Those that refer to others first.
    fn to_drop(&self, _session: &mut Session) -> Vec<String> {
        let mut names = self.tables();
        names.reverse();
        names
    }
}
