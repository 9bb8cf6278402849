//! A user's own tables, created and filled by the user's statements.
//!
//! In: the job's parameters. Out: tables and rows. Called by `prepare`.

use ring::digest::{SHA256, digest};

use super::{TableSet, Task};
use crate::db;
use crate::db::argument::ArgumentList;
use crate::db::database::Database;
use crate::db::error::{DbError, DbErrorKind};
use crate::db::session::{Session, try_to_prepare};
use crate::db::statement::{Statement, StatementKind};
use crate::job::sqlmix::{Filling, SqlMix};
use crate::random::generator;
use crate::workload::sql::generate::{Draws, Generators};

/// Rows of a transaction.
const BATCH: u64 = 2_000;

impl TableSet for SqlMix {
    fn made_of(&self) -> String {
        // Plain data: turning it into JSON cannot fail.
        let parts = serde_json::to_vec(&(&self.schema, &self.rows)).unwrap_or_default();
        let hash = digest(&SHA256, &parts);
        let hash: String = hash.as_ref()[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("schema and rows {hash}")
    }

    fn tables(&self) -> Vec<String> {
        self.schema
            .iter()
            .filter_map(|sql| created(sql))
            .map(String::from)
            .collect()
    }

    fn rows_of_each(&self) -> Option<u64> {
        None
    }

    fn make(&self, session: &mut Session, task: &Task<'_>) -> db::error::DbResult<bool> {
        for (number, sql) in self.schema.iter().enumerate() {
            session
                .query(sql)
                .map_err(|error| at(error, &format!("schema[{number}]")))?;
        }
        let bytes = |filling: &Filling| filling.count * filling.row_bytes();
        let total = self.rows.iter().map(bytes).sum();
        let mut before = 0;
        for (number, filling) in self.rows.iter().enumerate() {
            let report_rows =
                |rows: u64| task.report_bytes(before + rows * filling.row_bytes(), total);
            let escapes = matches!(self.database, Database::Mysql(_));
            let whole = fill(session, filling, number as u64, escapes, task, &report_rows)
                .map_err(|error| at(error, &format!("rows[{number}]")))?;
            if !whole {
                return Ok(false);
            }
            before += bytes(filling);
        }
        self.try_statements()?;
        Ok(true)
    }

    fn reading(&self, table: &str) -> Vec<String> {
        vec![format!("SELECT COUNT(*) FROM {table}")]
    }

    /// Reverse order, since a table may refer only to tables created before it.
    fn to_drop(&self, _session: &mut Session) -> Vec<String> {
        self.tables().into_iter().rev().collect()
    }
}

impl SqlMix {
    /// Finds before the load the errors that it would repeat for every operation.
    fn try_statements(&self) -> db::error::DbResult<()> {
        // Some statements can only be sent to a server as text.
        if !self.prepared && !matches!(self.database, Database::Sqlite(_)) {
            return Ok(());
        }
        for transaction in &self.transactions {
            for (number, step) in transaction.statements.iter().enumerate() {
                let statement = Statement::new(StatementKind::of(&step.sql), &step.sql);
                let position = format!(
                    "transaction `{}`, statement {}",
                    transaction.name,
                    number + 1
                );
                try_to_prepare(&self.database, &statement).map_err(|error| at(error, &position))?;
            }
        }
        Ok(())
    }
}

/// Adds the rows, in transactions; returns false where it was stopped.
fn fill(
    session: &mut Session,
    filling: &Filling,
    number: u64,
    escapes: bool,
    task: &Task<'_>,
    report_rows: &dyn Fn(u64),
) -> db::error::DbResult<bool> {
    let statement = Statement::new(StatementKind::Write, &filling.insert);
    let generators = Generators::new(&filling.arguments, 0);
    // The sequences of a row all have its number.
    let mut draws = Draws::new(generator(task.seed, number), 0, 0);
    let (mut arguments, mut sql) = (ArgumentList::default(), String::new());
    for row in 0..filling.count {
        if row % BATCH == 0 {
            report_rows(row);
            if task.stop.is_asked() {
                return Ok(false);
            }
            session.query("BEGIN")?;
        }
        draws.next = row as i64;
        arguments.clear();
        sql.clear();
        generators.draw(&mut draws, &mut arguments);
        statement.write(arguments.range(0..arguments.len()), escapes, &mut sql);
        session.query(&sql)?;
        if (row + 1) % BATCH == 0 || row + 1 == filling.count {
            session.query("COMMIT")?;
        }
    }
    report_rows(filling.count);
    Ok(true)
}

/// The error with its position in the plan. After preparation, a missing table is an error of the
/// plan.
fn at(error: DbError, position: &str) -> DbError {
    let kind = match error.kind {
        DbErrorKind::Missing => DbErrorKind::Refused,
        other => other,
    };
    DbError::new(kind, error.code, format!("{position}: {}", error.message))
}

/// The name of the table that a statement creates, as written in the statement.
fn created(sql: &str) -> Option<&str> {
    let mut remainder = after(sql, "CREATE")?;
    for optional in ["OR", "REPLACE", "UNLOGGED"] {
        remainder = after(remainder, optional).unwrap_or(remainder);
    }
    remainder = after(remainder, "TABLE")?;
    for optional in ["IF", "NOT", "EXISTS"] {
        remainder = after(remainder, optional).unwrap_or(remainder);
    }
    let mut quote = None;
    let end = remainder.find(|letter: char| match quote {
        Some(closing) => {
            if letter == closing {
                quote = None;
            }
            false
        }
        None if "\"`".contains(letter) => {
            quote = Some(letter);
            false
        }
        None => letter.is_whitespace() || letter == '(',
    });
    Some(&remainder[..end.unwrap_or(remainder.len())]).filter(|name| !name.is_empty())
}

/// The text after a word and the following space; `None` where the next word is another.
fn after<'a>(sql: &'a str, word: &str) -> Option<&'a str> {
    let sql = sql.trim_start();
    let (first, remainder) = sql.split_at_checked(word.len())?;
    (first.eq_ignore_ascii_case(word) && remainder.starts_with(char::is_whitespace))
        .then(|| remainder.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_tables_are_read_as_they_are_written() {
        for (sql, name) in [
            ("CREATE TABLE a (b INT)", Some("a")),
            ("\n create  table if not exists a(b INT)", Some("a")),
            (
                "CREATE UNLOGGED TABLE \"a (b\".c (d INT)",
                Some("\"a (b\".c"),
            ),
            ("CREATE OR REPLACE TABLE `order` LIKE b", Some("`order`")),
            ("CREATE TABLE orders (b INT)", Some("orders")),
            ("CREATE TEMPORARY TABLE a (b INT)", None),
            ("CREATE INDEX a ON table_a (b)", None),
            ("ä", None),
        ] {
            assert_eq!(created(sql), name, "{sql}");
        }
    }
}
