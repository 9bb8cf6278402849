//! Creating the tables of a workload, and removing them.
//!
//! In: the job's parameters. Out: tables full of rows that follow from the seed. Tables of somebody
//! else are used where they fit, and never changed. Called by `run`; `shared` calls `check`.

mod foreign;
mod mix;
mod oltp;
mod tpcc;

use super::database_file;
use super::schema::{MARKER, create_marker};
use crate::db;
use crate::db::database::Database;
use crate::db::error::{DbError, DbErrorKind};
use crate::db::session::Session;
use crate::error::{Class, EngineError, Result};
use crate::job::sql::Sql;
use crate::load::stop::OnRequest;
use crate::workload::fileio::prepare::PrepareStep;

/// The tables of one workload in a database.
trait TableSet {
    /// The description that distinguishes them from other tables, besides the seed.
    fn made_of(&self) -> String;

    /// The names of the tables.
    fn tables(&self) -> Vec<String>;

    /// The number of rows of each table, where it is known: then tables of somebody else fit too.
    fn rows_of_each(&self) -> Option<u64>;

    /// Creates and fills the tables, which do not exist yet; returns false where it was stopped.
    fn make(&self, session: &mut Session, task: &Task<'_>) -> db::error::DbResult<bool>;

    /// Statements that together read a whole table.
    fn reading(&self, table: &str) -> Vec<String>;

    /// The tables to drop, in this order, where Paribus created them.
    fn to_drop(&self, session: &mut Session) -> Vec<String>;
}

fn table_set(sql: &Sql) -> &dyn TableSet {
    match sql {
        Sql::Oltp(oltp) => oltp,
        Sql::SqlMix(mix) => mix,
        Sql::Tpcc(tpcc) => tpcc,
    }
}

/// One preparation: its seed, its stop request, and the receiver of its progress.
struct Task<'a> {
    seed: u64,
    stop: &'a OnRequest,
    report: &'a dyn Fn(PrepareStep),
}

impl Task<'_> {
    fn report_bytes(&self, done_bytes: u64, total_bytes: u64) {
        (self.report)(PrepareStep::Written {
            done_bytes,
            total_bytes,
        });
    }
}

/// The state of the tables.
#[derive(Debug, PartialEq, Eq)]
enum TableState {
    Nothing,
    /// Created by Paribus: the description, and whether the work was completed.
    Ours {
        made_of: String,
        complete: bool,
    },
    /// This many of the tables exist, and Paribus did not create them.
    Foreign(usize),
}

/// Creates the tables unless they exist. Calls `report` with the bytes of the rows.
pub fn prepare(sql: &Sql, seed: u64, stop: &OnRequest, report: impl Fn(PrepareStep)) -> Result<()> {
    let (database, table_set) = (sql.database(), table_set(sql));
    let address = database.address();
    let with_address = |error: DbError| error.at(&address);
    if let Database::Sqlite(file) = database {
        database_file::make(file)?;
    }
    let mut session = Session::open(&database.patient(), true).map_err(with_address)?;
    let made_of = format!("{}, seed {seed}", table_set.made_of());
    match table_state(&mut session, table_set).map_err(with_address)? {
        TableState::Ours {
            made_of: recorded,
            complete: true,
        } if recorded == made_of => return Ok(()),
        TableState::Ours { .. } => remove(&mut session, table_set).map_err(with_address)?,
        TableState::Foreign(existing) => {
            return foreign::check(&mut session, table_set, existing, &address);
        }
        TableState::Nothing => {}
    }
    let task = Task {
        seed,
        stop,
        report: &report,
    };
    if !make(&mut session, table_set, &made_of, &task).map_err(with_address)? {
        return Err(interrupted(&address));
    }
    report(PrepareStep::Finishing);
    finish(session, database)
}

/// Returns false where it was stopped.
fn make(
    session: &mut Session,
    table_set: &dyn TableSet,
    made_of: &str,
    task: &Task<'_>,
) -> db::error::DbResult<bool> {
    session.query(&create_marker())?;
    session.query(&format!("INSERT INTO {MARKER} VALUES ('{made_of}', 0, 0)"))?;
    if !table_set.make(session, task)? {
        return Ok(false);
    }
    session.query(&format!("UPDATE {MARKER} SET complete = 1"))?;
    Ok(true)
}

/// Flushes memory and logs, which the first trial would have to write otherwise.
fn finish(mut session: Session, database: &Database) -> Result<()> {
    let address = database.address();
    if let Database::Sqlite(file) = database {
        for statement in ["ANALYZE", "PRAGMA wal_checkpoint(TRUNCATE)"] {
            session
                .query(statement)
                .map_err(|error| error.at(&address))?;
        }
        drop(session);
        database_file::sync(file)?;
    }
    Ok(())
}

/// Checks that the tables exist and are complete.
pub fn check(sql: &Sql) -> Result<()> {
    let table_set = table_set(sql);
    let address = sql.database().address();
    let with_address = |error: DbError| error.at(&address);
    let mut session = Session::open(sql.database(), false).map_err(with_address)?;
    let (tables, has_rows) = (table_set.tables().len(), table_set.rows_of_each().is_some());
    let why = match table_state(&mut session, table_set).map_err(with_address)? {
        TableState::Ours { complete: true, .. } if !has_rows => return Ok(()),
        TableState::Ours { complete: true, .. } => {
            return check_first_rows(&mut session, table_set, &address);
        }
        TableState::Foreign(existing) if existing == tables && has_rows => {
            return check_first_rows(&mut session, table_set, &address);
        }
        TableState::Ours { .. } => "creating the tables was interrupted".to_string(),
        TableState::Foreign(existing) if existing == tables => {
            "the tables were not created by Paribus".to_string()
        }
        TableState::Foreign(existing) => format!("{existing} of {tables} tables exist"),
        TableState::Nothing => "the tables do not exist".to_string(),
    };
    Err(not_prepared(&address, &why))
}

/// Returns the number of earlier runs on this data, and counts this run.
pub fn count_run(database: &Database) -> Result<i64> {
    let address = database.address();
    let with_address = |error: DbError| error.at(&address);
    let mut session = Session::open(database, false).map_err(with_address)?;
    // In a transaction: other load hosts count their runs at the same time.
    let mut query = |text: &str| session.query(text).map_err(with_address);
    query(match database {
        Database::Sqlite(_) => "BEGIN IMMEDIATE",
        Database::Mysql(_) => "BEGIN",
        // Another isolation refuses the row that another host has changed.
        Database::Postgres(_) => "BEGIN ISOLATION LEVEL READ COMMITTED",
    })?;
    query(&format!("UPDATE {MARKER} SET runs = runs + 1"))?;
    let result = query(&format!("SELECT runs - 1 FROM {MARKER}"))?;
    query("COMMIT")?;
    let runs = result.rows.first().and_then(|row| row.first()?.as_ref());
    let why = "its count of runs is not a number";
    runs.and_then(|runs| runs.parse().ok())
        .ok_or_else(|| not_prepared(&address, why))
}

/// Reads every row.
pub fn warm(sql: &Sql) -> Result<()> {
    let table_set = table_set(sql);
    let address = sql.database().address();
    let with_address = |error: DbError| error.at(&address);
    let mut session = Session::open(&sql.database().patient(), false).map_err(with_address)?;
    for statement in table_set
        .tables()
        .iter()
        .flat_map(|name| table_set.reading(name))
    {
        session.query(&statement).map_err(with_address)?;
    }
    Ok(())
}

/// Checks that every table has rows. Counting all rows would read them all, and warm a cache that
/// may have to be cold.
fn check_first_rows(session: &mut Session, table_set: &dyn TableSet, address: &str) -> Result<()> {
    for name in table_set.tables() {
        let sql = format!("SELECT 1 FROM {name} LIMIT 1");
        let result = session.query(&sql).map_err(|error| error.at(address))?;
        if result.rows.is_empty() {
            return Err(not_prepared(address, &format!("{name} has no rows")));
        }
    }
    Ok(())
}

fn table_state(session: &mut Session, table_set: &dyn TableSet) -> db::error::DbResult<TableState> {
    match session.query(&format!("SELECT made_of, complete FROM {MARKER}")) {
        Ok(result) => {
            let row = result.rows.into_iter().next().unwrap_or_default();
            let mut values = row.into_iter().map(Option::unwrap_or_default);
            Ok(TableState::Ours {
                made_of: values.next().unwrap_or_default(),
                complete: values.next().is_some_and(|value| value == "1"),
            })
        }
        Err(error) if error.kind == DbErrorKind::Missing => {
            let mut existing = 0;
            for name in table_set.tables() {
                match session.query(&format!("SELECT 1 FROM {name} LIMIT 1")) {
                    Ok(_) => existing += 1,
                    Err(error) if error.kind == DbErrorKind::Missing => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(if existing == 0 {
                TableState::Nothing
            } else {
                TableState::Foreign(existing)
            })
        }
        Err(error) => Err(error),
    }
}

/// Removes the tables that Paribus created; tables of somebody else stay.
pub fn cleanup(sql: &Sql) -> Result<()> {
    let (database, table_set) = (sql.database(), table_set(sql));
    if let Database::Sqlite(file) = database {
        return database_file::remove(file);
    }
    let address = database.address();
    let with_address = |error: DbError| error.at(&address);
    let mut session = Session::open(database, false).map_err(with_address)?;
    match table_state(&mut session, table_set).map_err(with_address)? {
        TableState::Ours { .. } => remove(&mut session, table_set).map_err(with_address),
        TableState::Foreign(_) | TableState::Nothing => Ok(()),
    }
}

/// Drops the marker last: after an interruption, the remaining tables are still known to be ours.
fn remove(session: &mut Session, table_set: &dyn TableSet) -> db::error::DbResult<()> {
    for name in table_set.to_drop(session) {
        session.query(&format!("DROP TABLE IF EXISTS {name}"))?;
    }
    session.query(&format!("DROP TABLE {MARKER}"))?;
    Ok(())
}

fn not_prepared(address: &str, why: &str) -> EngineError {
    EngineError::new(
        Class::NotPrepared,
        format!("{address}: {why}"),
        "run the prepare phase with the same tables",
    )
}

fn interrupted(address: &str) -> EngineError {
    EngineError::new(
        Class::Interrupted,
        format!("{address}: creating the tables was stopped"),
        "run the prepare phase again, which recreates incomplete tables",
    )
}
