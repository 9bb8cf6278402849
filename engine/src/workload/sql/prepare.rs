//! Making the tables of a workload, and removing them.
//!
//! In: the job's parameters. Out: tables full of rows that follow from the seed. Tables that somebody else
//! has made are used where they fit, and never touched. Called by `run`; `check` by `shared`.

use super::schema::{
    Dialect, MARKER, continue_numbers, create, create_index, create_marker, made_of, table,
};
use super::{database_file, load, rows};
use crate::db;
use crate::db::error::{DbError, Kind};
use crate::db::session::Session;
use crate::error::{Class, EngineError, Result};
use crate::job::sql::{Database, Oltp, Sql};
use crate::load::stop::OnRequest;
use crate::workload::fileio::prepare::Step;

/// What is known of the tables.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    /// Made by us, of this, and to the end.
    Ours {
        made_of: String,
        complete: bool,
    },
    /// So many of the wanted tables are there, and we did not make them.
    Foreign(u32),
}

/// Makes the tables unless they are there. `report` hears of the bytes of the rows.
pub fn prepare(sql: &Sql, seed: u64, stop: &OnRequest, report: impl Fn(Step)) -> Result<()> {
    let Sql::Oltp(oltp) = sql;
    let database = &oltp.database;
    let place = database.place();
    let named = |error: DbError| error.at(&place);
    if let Database::Sqlite(file) = database {
        database_file::make(file)?;
    }
    let mut session = Session::open(database, true).map_err(named)?;
    let made_of = made_of(oltp, seed);
    match look(&mut session, oltp).map_err(named)? {
        Found::Ours {
            made_of: found,
            complete: true,
        } if found == made_of => return Ok(()),
        Found::Ours { .. } => remove(&mut session, oltp).map_err(named)?,
        Found::Foreign(there) if there == oltp.tables => {
            return check_foreign(&mut session, oltp, &place);
        }
        Found::Foreign(there) => return Err(foreign(there, oltp, &place)),
        Found::Nothing => {}
    }
    if !make(&mut session, oltp, seed, &made_of, stop, &report).map_err(named)? {
        return Err(interrupted(&place));
    }
    report(Step::Finishing);
    finish(session, database)
}

/// False where it was stopped.
fn make(
    session: &mut Session,
    oltp: &Oltp,
    seed: u64,
    made_of: &str,
    stop: &OnRequest,
    report: &impl Fn(Step),
) -> db::error::Result<bool> {
    let dialect = Dialect::of(&oltp.database);
    let total_bytes = u64::from(oltp.tables) * oltp.table_size * rows::ROW_BYTES;
    let tell = |done: u64| {
        report(Step::Written {
            done_bytes: done * rows::ROW_BYTES,
            total_bytes,
        });
    };
    session.query(&create_marker())?;
    session.query(&format!("INSERT INTO {MARKER} VALUES ('{made_of}', 0)"))?;
    for number in 1..=oltp.tables {
        for statement in create(dialect, number, oltp.secondary) {
            session.query(&statement)?;
        }
    }
    tell(0);
    if !load::load(oltp, seed, stop, &tell)? {
        return Ok(false);
    }
    for number in 1..=oltp.tables {
        session.query(&create_index(number))?;
        if let Some(statement) = continue_numbers(dialect, number, oltp.table_size) {
            session.query(&statement)?;
        }
    }
    session.query(&format!("UPDATE {MARKER} SET complete = 1"))?;
    Ok(true)
}

/// Leaves nothing in memory or in a log that the first trial would have to pay for.
fn finish(mut session: Session, database: &Database) -> Result<()> {
    let place = database.place();
    if let Database::Sqlite(file) = database {
        for statement in ["ANALYZE", "PRAGMA wal_checkpoint(TRUNCATE)"] {
            session.query(statement).map_err(|error| error.at(&place))?;
        }
        drop(session);
        database_file::sync(file)?;
    }
    Ok(())
}

/// That the tables are there and whole.
pub fn check(sql: &Sql) -> Result<()> {
    let Sql::Oltp(oltp) = sql;
    let place = oltp.database.place();
    let named = |error: DbError| error.at(&place);
    let mut session = Session::open(&oltp.database, false).map_err(named)?;
    let why = match look(&mut session, oltp).map_err(named)? {
        Found::Ours { complete: true, .. } => return check_first_rows(&mut session, oltp, &place),
        Found::Foreign(there) if there == oltp.tables => {
            return check_first_rows(&mut session, oltp, &place);
        }
        Found::Ours { .. } => "making the tables was interrupted".to_string(),
        Found::Foreign(there) => format!("{there} of {} tables are there", oltp.tables),
        Found::Nothing => "the tables are not there".to_string(),
    };
    Err(not_prepared(&place, &why))
}

/// Reads every row, by its number and by the index on `k`.
pub fn warm(sql: &Sql) -> Result<()> {
    let Sql::Oltp(oltp) = sql;
    let place = oltp.database.place();
    let mut session = Session::open(&oltp.database, false).map_err(|error| error.at(&place))?;
    for number in 1..=oltp.tables {
        let name = table(number);
        for what in ["SUM(LENGTH(pad))", "SUM(k)"] {
            let statement = format!("SELECT {what} FROM {name}");
            session
                .query(&statement)
                .map_err(|error| error.at(&place))?;
        }
    }
    Ok(())
}

/// Whether every table has rows to work on: to count all would read all, and warm what may be cold.
fn check_first_rows(session: &mut Session, oltp: &Oltp, place: &str) -> Result<()> {
    for number in 1..=oltp.tables {
        let sql = format!("SELECT id FROM {} WHERE id > 0 LIMIT 1", table(number));
        let found = session.query(&sql).map_err(|error| error.at(place))?;
        if found.rows.is_empty() {
            return Err(not_prepared(
                place,
                &format!("{} has no rows", table(number)),
            ));
        }
    }
    Ok(())
}

fn look(session: &mut Session, oltp: &Oltp) -> db::error::Result<Found> {
    match session.query(&format!("SELECT made_of, complete FROM {MARKER}")) {
        Ok(found) => {
            let row = found.rows.into_iter().next().unwrap_or_default();
            let mut values = row.into_iter().map(Option::unwrap_or_default);
            Ok(Found::Ours {
                made_of: values.next().unwrap_or_default(),
                complete: values.next().is_some_and(|value| value == "1"),
            })
        }
        Err(error) if error.kind == Kind::Missing => {
            let mut there = 0;
            for number in 1..=oltp.tables {
                match session.query(&format!("SELECT 1 FROM {} LIMIT 1", table(number))) {
                    Ok(_) => there += 1,
                    Err(error) if error.kind == Kind::Missing => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(if there == 0 {
                Found::Nothing
            } else {
                Found::Foreign(there)
            })
        }
        Err(error) => Err(error),
    }
}

/// Somebody else's tables serve where they have the rows that are wanted.
fn check_foreign(session: &mut Session, oltp: &Oltp, place: &str) -> Result<()> {
    for number in 1..=oltp.tables {
        let sql = format!("SELECT COUNT(*) FROM {}", table(number));
        let found = session.query(&sql).map_err(|error| error.at(place))?;
        let rows = found
            .rows
            .first()
            .and_then(|row| row.first().cloned().flatten());
        if rows != Some(oltp.table_size.to_string()) {
            let rows = rows.unwrap_or_default();
            let message = format!(
                "{place}: {} is there, was not made by Ceteris, and has {rows} rows instead of {}",
                table(number),
                oltp.table_size
            );
            return Err(EngineError::new(Class::NotOurs, message, FOREIGN_HINT));
        }
    }
    Ok(())
}

const FOREIGN_HINT: &str =
    "name another database, or its own table_size, or remove these tables yourself";

fn foreign(there: u32, oltp: &Oltp, place: &str) -> EngineError {
    let message = format!(
        "{place}: {there} of {} tables named sbtest… are there and were not made by Ceteris",
        oltp.tables
    );
    EngineError::new(Class::NotOurs, message, FOREIGN_HINT)
}

/// Removes what was made; tables of somebody else stay.
pub fn cleanup(sql: &Sql) -> Result<()> {
    let Sql::Oltp(oltp) = sql;
    let database = &oltp.database;
    if let Database::Sqlite(file) = database {
        return database_file::remove(file);
    }
    let place = database.place();
    let named = |error: DbError| error.at(&place);
    let mut session = Session::open(database, false).map_err(named)?;
    match look(&mut session, oltp).map_err(named)? {
        Found::Ours { .. } => remove(&mut session, oltp).map_err(named),
        Found::Foreign(_) | Found::Nothing => Ok(()),
    }
}

/// The marker goes last: what was cut off before is still known to be ours.
fn remove(session: &mut Session, oltp: &Oltp) -> db::error::Result<()> {
    let mut number = 1;
    // Those of an earlier job may be more than are wanted now.
    while number <= oltp.tables
        || session
            .query(&format!("SELECT 1 FROM {} LIMIT 1", table(number)))
            .is_ok()
    {
        session.query(&format!("DROP TABLE IF EXISTS {}", table(number)))?;
        number += 1;
    }
    session.query(&format!("DROP TABLE {MARKER}"))?;
    Ok(())
}

fn not_prepared(place: &str, why: &str) -> EngineError {
    EngineError::new(
        Class::NotPrepared,
        format!("{place}: {why}"),
        "run the prepare phase with the same tables",
    )
}

fn interrupted(place: &str) -> EngineError {
    EngineError::new(
        Class::Interrupted,
        format!("{place}: making the tables was stopped"),
        "prepare again: what is not whole is made anew",
    )
}
