//! Tables that somebody else created: used where they fit, never changed.
//!
//! In: a session. Out: an error unless the tables fit. Called by `prepare`.

use super::TableSet;
use crate::db::session::Session;
use crate::error::{Class, EngineError, Result};

const HINT: &str =
    "choose another database, set rows to the existing number, or remove these tables by hand";

/// Checks that the `there` existing tables have the rows of the job.
pub fn check(
    session: &mut Session,
    table_set: &dyn TableSet,
    existing: usize,
    address: &str,
) -> Result<()> {
    let tables = table_set.tables();
    let Some(expected) = table_set
        .rows_of_each()
        .filter(|_| existing == tables.len())
    else {
        let message = format!(
            "{address}: {existing} of {} tables ({}) exist and were not created by Paribus",
            tables.len(),
            tables.join(", ")
        );
        return Err(EngineError::new(Class::NotOurs, message, HINT));
    };
    for name in tables {
        let sql = format!("SELECT COUNT(*) FROM {name}");
        let result = session.query(&sql).map_err(|error| error.at(address))?;
        let rows = result
            .rows
            .first()
            .and_then(|row| row.first().cloned().flatten());
        if rows != Some(expected.to_string()) {
            let rows = rows.unwrap_or_default();
            let message = format!(
                "{address}: {name} exists, was not created by Paribus, and has {rows} rows instead of {expected}"
            );
            return Err(EngineError::new(Class::NotOurs, message, HINT));
        }
    }
    Ok(())
}
