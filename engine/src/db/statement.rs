//! Statements: SQL text with parameters, and its kind.
//!
//! In: text in which each `?` outside quotes and comments is a parameter. Out: the text in the form
//! that a database prepares, or with arguments written into it. Created by `workload::sql`, read by
//! the connections.

use std::fmt::Write;

use super::argument::{Argument, Arguments};

/// The kinds of sysbench's query counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementKind {
    Read,
    Write,
    /// BEGIN, COMMIT and the like.
    Other,
}

impl StatementKind {
    /// Determined by the first word of a statement, after comments and parentheses.
    pub fn of(sql: &str) -> StatementKind {
        let mut remainder = sql;
        loop {
            remainder = remainder
                .trim_start_matches(|letter: char| letter.is_whitespace() || letter == '(');
            remainder = match remainder {
                _ if remainder.starts_with("--") => &remainder[until(remainder, "\n")..],
                _ if remainder.starts_with("/*") => &remainder[until(remainder, "*/")..],
                _ => break,
            };
        }
        let end = remainder.find(|letter: char| !letter.is_ascii_alphabetic());
        match remainder[..end.unwrap_or(remainder.len())]
            .to_ascii_uppercase()
            .as_str()
        {
            "SELECT" | "SHOW" | "VALUES" | "WITH" => StatementKind::Read,
            "BEGIN" | "START" | "COMMIT" | "END" | "ROLLBACK" | "SAVEPOINT" | "RELEASE" | "SET" => {
                StatementKind::Other
            }
            _ => StatementKind::Write,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub kind: StatementKind,
    /// Whether the rows of its answer are needed, and not only their number.
    pub returns_values: bool,
    /// The text around the parameters: one piece more than there are parameters.
    pieces: Vec<String>,
}

impl Statement {
    pub fn new(kind: StatementKind, sql: &str) -> Statement {
        Statement {
            kind,
            returns_values: false,
            pieces: split(sql),
        }
    }

    /// A statement whose rows are needed.
    pub fn with_values(sql: &str) -> Statement {
        Statement {
            returns_values: true,
            ..Statement::new(StatementKind::Read, sql)
        }
    }

    pub fn parameters(&self) -> usize {
        self.pieces.len() - 1
    }

    /// With `?` for each parameter.
    pub fn with_question_marks(&self) -> String {
        self.pieces.join("?")
    }

    /// With `$1`, `$2` and so on.
    pub fn with_numbers(&self) -> String {
        let mut sql = String::new();
        for (number, piece) in self.pieces.iter().enumerate() {
            if number > 0 {
                // Writing to a string cannot fail.
                let _ = write!(sql, "${number}");
            }
            sql.push_str(piece);
        }
        sql
    }

    /// Appends the text with the arguments written into it. Doubles quotes in texts and, for a
    /// server that treats them as escapes, backslashes.
    pub fn write(&self, arguments: Arguments<'_>, escape_backslash: bool, sql: &mut String) {
        let mut pieces = self.pieces.iter();
        sql.extend(pieces.next().map(String::as_str));
        for (argument, piece) in arguments.iter().zip(pieces) {
            // Writing to a string cannot fail.
            let _ = match argument {
                Argument::Null => write!(sql, "NULL"),
                Argument::Int(value) => write!(sql, "{value}"),
                Argument::Float(value) => write!(sql, "{value:?}"),
                Argument::Text(text) => {
                    quote(text, escape_backslash, sql);
                    Ok(())
                }
            };
            sql.push_str(piece);
        }
    }
}

fn quote(text: &str, escape_backslash: bool, sql: &mut String) {
    sql.push('\'');
    for letter in text.chars() {
        if letter == '\'' || (letter == '\\' && escape_backslash) {
            sql.push(letter);
        }
        sql.push(letter);
    }
    sql.push('\'');
}

/// The pieces between parameters; a `?` in quotes or in a comment is no parameter.
fn split(sql: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut remainder = sql;
    while let Some(first) = remainder.chars().next() {
        let length = match first {
            '\'' | '"' | '`' => quoted(remainder, first),
            '-' if remainder.starts_with("--") => until(remainder, "\n"),
            '/' if remainder.starts_with("/*") => until(remainder, "*/"),
            '?' => {
                pieces.push(String::new());
                remainder = &remainder[1..];
                continue;
            }
            _ => first.len_utf8(),
        };
        let (piece, after) = remainder.split_at(length);
        if let Some(last) = pieces.last_mut() {
            last.push_str(piece);
        }
        remainder = after;
    }
    pieces
}

/// The length of a text in quotes; without a closing quote, the whole length.
fn quoted(sql: &str, quote: char) -> usize {
    sql[1..].find(quote).map_or(sql.len(), |end| end + 2)
}

fn until(sql: &str, end: &str) -> usize {
    sql[2..]
        .find(end)
        .map_or(sql.len(), |at| at + 2 + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::argument::ArgumentList;

    #[test]
    fn parameters_are_question_marks_outside_quotes_and_comments() {
        let sql = "SELECT '?', \"?\" /* ? */ FROM `t?` WHERE a = ? AND b = '''?' -- ?\nAND c = ?";
        let statement = Statement::new(StatementKind::Read, sql);
        assert_eq!(statement.parameters(), 2);
        assert_eq!(statement.with_question_marks(), sql);
        assert!(statement.with_numbers().ends_with("AND c = $2"));
        assert_eq!(Statement::new(StatementKind::Read, "a 'b").parameters(), 0);
    }

    #[test]
    fn the_first_word_says_what_it_is() {
        for (sql, kind) in [
            (" select 1", StatementKind::Read),
            ("-- why\n/* x */ (SELECT 1)", StatementKind::Read),
            ("WITH a AS (SELECT 1) SELECT 2", StatementKind::Read),
            ("VALUES(1)", StatementKind::Read),
            ("savepoint a", StatementKind::Other),
            ("DELETE FROM t", StatementKind::Write),
            ("", StatementKind::Write),
        ] {
            assert_eq!(StatementKind::of(sql), kind, "{sql}");
        }
    }

    #[test]
    fn texts_are_quoted() {
        let mut list = ArgumentList::default();
        list.text(|text| text.push_str("it's \\ 1"));
        list.int(-3);
        list.null();
        list.float(2.0);
        let statement = Statement::new(StatementKind::Write, "a ?, ?, ?, ? b");
        let mut sql = String::new();
        statement.write(list.range(0..4), true, &mut sql);
        assert_eq!(sql, "a 'it''s \\\\ 1', -3, NULL, 2.0 b");
        sql.clear();
        statement.write(list.range(0..4), false, &mut sql);
        assert_eq!(sql, "a 'it''s \\ 1', -3, NULL, 2.0 b");
    }
}
