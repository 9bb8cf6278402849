//! SQLite: a database file, used in the calling thread.
//!
//! In: a file and pragmas; statements with arguments. Out: answers. Called by
//! `workload::sql::embedded`, and by `prepare`.

use std::path::Path;
use std::time::Duration;

use rusqlite::ffi::{
    SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_ROWID, SQLITE_CONSTRAINT_UNIQUE,
};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ErrorCode, OpenFlags, Statement as Prepared, ToSql};

use super::argument::{Argument, Arguments};
use super::error::{DbError, DbErrorKind, DbResult};
use super::statement::Statement;
use super::values::Values;
use super::{Answer, Execution, Rows};
use crate::db::database::SqliteFile;

/// The wait of a statement for the locks of other connections, with a value common among users of
/// SQLite.
const PATIENCE: Duration = Duration::from_secs(5);

const DUPLICATES: [i32; 3] = [
    SQLITE_CONSTRAINT_PRIMARYKEY,
    SQLITE_CONSTRAINT_ROWID,
    SQLITE_CONSTRAINT_UNIQUE,
];

/// Set first: others depend on them, or they have no effect later.
const FIRST: [&str; 3] = ["page_size", "auto_vacuum", "journal_mode"];

pub struct SqliteConnection {
    connection: rusqlite::Connection,
    statements: Vec<(Statement, String)>,
    execution: Execution,
    text: String,
    values: Values,
}

impl SqliteConnection {
    /// Opens the file, or creates it where `create` is set, and sets every pragma. Refuses a value
    /// that reads back different.
    pub fn open(
        file: &SqliteFile,
        statements: &[Statement],
        execution: Execution,
        create: bool,
    ) -> DbResult<SqliteConnection> {
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if create {
            flags |= OpenFlags::SQLITE_OPEN_CREATE;
        }
        let connection =
            rusqlite::Connection::open_with_flags(&file.path, flags).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(statements.len().max(16));
        let mut opened = SqliteConnection {
            connection,
            statements: statements
                .iter()
                .map(|statement| (statement.clone(), statement.with_question_marks()))
                .collect(),
            execution,
            text: String::new(),
            values: Values::default(),
        };
        let first = FIRST
            .iter()
            .filter_map(|&name| file.pragmas.get_key_value(name));
        let others = file
            .pragmas
            .iter()
            .filter(|(name, _)| !FIRST.contains(&name.as_str()));
        for (name, value) in first.chain(others) {
            opened.set(name, value)?;
        }
        Ok(opened)
    }

    fn set(&mut self, name: &str, value: &str) -> DbResult<()> {
        self.query(&format!("PRAGMA {name} = {value}"))?;
        let read_back = self.query(&format!("PRAGMA {name}"))?;
        let read_back = read_back
            .rows
            .first()
            .and_then(|row| row.first().cloned().flatten());
        let Some(read_back) = read_back else {
            let message = format!("this SQLite has no pragma {name} that can be read back");
            return Err(DbError::new(DbErrorKind::Unsupported, "", message));
        };
        if is_same(value, &read_back) {
            return Ok(());
        }
        let message = format!("pragma {name} is {read_back} after it was set to {value}");
        Err(DbError::new(DbErrorKind::Unsupported, "", message))
    }

    /// Executes one of the statements that the connection was opened with.
    pub fn execute(&mut self, statement: usize, arguments: Arguments<'_>) -> DbResult<Answer> {
        let Some((template, sql)) = self.statements.get(statement) else {
            return Err(DbError::no_statement(statement));
        };
        let returned = template.returns_values.then_some(&mut self.values);
        match self.execution {
            Execution::Prepared => {
                let mut prepared = self.connection.prepare_cached(sql).map_err(failed)?;
                run(&mut prepared, arguments, returned)
            }
            Execution::Text => {
                self.text.clear();
                template.write(arguments, false, &mut self.text);
                let mut prepared = self.connection.prepare(&self.text).map_err(failed)?;
                run(&mut prepared, Arguments::NONE, returned)
            }
        }
    }

    /// The rows of the last statement that returns values.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Checks that a statement can be executed.
    pub fn check(&self, statement: &Statement) -> DbResult<()> {
        let sql = statement.with_question_marks();
        self.connection.prepare(&sql).map(drop).map_err(failed)
    }

    /// Executes one statement given as text.
    pub fn query(&mut self, sql: &str) -> DbResult<Rows> {
        let mut prepared = self.connection.prepare(sql).map_err(failed)?;
        let columns: Vec<String> = prepared
            .column_names()
            .iter()
            .map(|name| (*name).into())
            .collect();
        let mut result = prepared.raw_query();
        let mut rows = Vec::new();
        while let Some(row) = result.next().map_err(failed)? {
            let text = |column| row.get_ref(column).map(as_text).map_err(failed);
            rows.push((0..columns.len()).map(text).collect::<DbResult<_>>()?);
        }
        drop(result);
        Ok(Rows { columns, rows })
    }
}

fn run(
    prepared: &mut Prepared<'_>,
    arguments: Arguments<'_>,
    returned: Option<&mut Values>,
) -> DbResult<Answer> {
    for (index, argument) in arguments.iter().enumerate() {
        prepared
            .raw_bind_parameter(index + 1, Bound(argument))
            .map_err(failed)?;
    }
    if prepared.column_count() == 0 {
        let rows = prepared.raw_execute().map_err(failed)? as u64;
        return Ok(Answer { rows });
    }
    let columns = prepared.column_count();
    let mut result = prepared.raw_query();
    let mut rows = 0;
    let Some(values) = returned else {
        while result.next().map_err(failed)?.is_some() {
            rows += 1;
        }
        return Ok(Answer { rows });
    };
    values.clear();
    values.set_columns(columns);
    while let Some(row) = result.next().map_err(failed)? {
        rows += 1;
        for column in 0..columns {
            match row.get_ref(column).map_err(failed)? {
                ValueRef::Null => values.null(),
                ValueRef::Integer(value) => values.int(value),
                ValueRef::Real(value) => values.float(value),
                ValueRef::Text(text) | ValueRef::Blob(text) => values.text(text),
            }
        }
    }
    Ok(Answer { rows })
}

struct Bound<'a>(Argument<'a>);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Argument::Null => ValueRef::Null,
            Argument::Int(value) => ValueRef::Integer(value),
            Argument::Float(value) => ValueRef::Real(value),
            Argument::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

fn as_text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(value) => Some(value.to_string()),
        ValueRef::Real(value) => Some(value.to_string()),
        ValueRef::Text(text) | ValueRef::Blob(text) => {
            Some(String::from_utf8_lossy(text).into_owned())
        }
    }
}

/// Whether a pragma reads back as it was set: words in any case, and the numbers that stand for
/// them.
fn is_same(set: &str, read_back: &str) -> bool {
    let number = |text: &str| match text.to_ascii_lowercase().as_str() {
        "off" | "no" | "false" | "default" | "none" => Some(0),
        "on" | "yes" | "true" | "normal" | "file" => Some(1),
        "full" | "memory" | "incremental" => Some(2),
        "extra" => Some(3),
        other => other.parse::<i64>().ok(),
    };
    set.eq_ignore_ascii_case(read_back)
        || number(set).is_some_and(|set| Some(set) == number(read_back))
        || (set.eq_ignore_ascii_case("full") && read_back == "1") // of auto_vacuum
}

fn failed(error: rusqlite::Error) -> DbError {
    let rusqlite::Error::SqliteFailure(cause, message) = &error else {
        return DbError::new(DbErrorKind::Refused, "", error.to_string());
    };
    let message = message.clone().unwrap_or_else(|| cause.to_string());
    let kind = match cause.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => DbErrorKind::Conflict,
        // A duplicate key, as where another connection has inserted the row meanwhile.
        _ if DUPLICATES.contains(&cause.extended_code) => DbErrorKind::Conflict,
        ErrorCode::DiskFull => DbErrorKind::Full,
        ErrorCode::CannotOpen | ErrorCode::NotFound => DbErrorKind::Missing,
        ErrorCode::PermissionDenied | ErrorCode::ReadOnly => DbErrorKind::Denied,
        _ if message.starts_with("no such table") => DbErrorKind::Missing,
        _ => DbErrorKind::Refused,
    };
    DbError::new(kind, cause.extended_code.to_string(), message)
}

/// The files that belong to a database file.
pub fn files(path: &Path) -> [std::path::PathBuf; 4] {
    ["", "-journal", "-wal", "-shm"].map(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        name.into()
    })
}

/// The version of the built-in SQLite.
pub fn version() -> &'static str {
    rusqlite::version()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_their_numbers_are_the_same() {
        assert!(is_same("WAL", "wal") && is_same("NORMAL", "1") && is_same("off", "0"));
        assert!(is_same("4096", "4096") && is_same("memory", "2") && is_same("EXTRA", "3"));
        assert!(!is_same("wal", "delete") && !is_same("full", "0") && !is_same("8192", "4096"));
    }

    #[test]
    fn a_duplicate_key_is_a_conflict_and_other_constraints_are_not() {
        let file = SqliteFile {
            path: ":memory:".into(),
            pragmas: std::collections::BTreeMap::new(),
        };
        let mut connection = SqliteConnection::open(&file, &[], Execution::Text, true).unwrap();
        for sql in [
            "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE, part TEXT NOT NULL)",
            "INSERT INTO t VALUES (1, 'a', 'b')",
        ] {
            connection.query(sql).unwrap();
        }
        for (values, kind) in [
            ("(1, 'b', 'b')", DbErrorKind::Conflict),
            ("(2, 'a', 'b')", DbErrorKind::Conflict),
            ("(2, 'b', NULL)", DbErrorKind::Refused),
        ] {
            let refused = connection.query(&format!("INSERT INTO t VALUES {values}"));
            assert_eq!(refused.unwrap_err().kind, kind, "{values}");
        }
    }
}
