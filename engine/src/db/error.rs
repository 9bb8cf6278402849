//! Refusals of a database, and their consequence for a load.
//!
//! In: codes of MySQL, PostgreSQL and SQLite, failed system calls. Out: an error whose kind says
//! whether to repeat the transaction, to connect again, or to give up. Created by the connections.

use std::fmt;

use serde::Serialize;

use crate::error::{Class, EngineError};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DbErrorKind {
    /// A conflict with another transaction: deadlock, serialisation failure, a duplicate key from a
    /// race, a busy database. It can be repeated.
    Conflict,
    /// The wait for a lock was too long. It can be repeated.
    LockTimeout,
    /// The connection is lost.
    Lost,
    /// The server does not admit this user.
    Denied,
    /// A table or a database does not exist.
    Missing,
    /// The server has no space for data.
    Full,
    /// The server has too many connections.
    TooMany,
    /// The connections together have prepared as many statements as the server allows.
    TooManyPrepared,
    /// The server's bytes do not follow the known protocol.
    Protocol,
    /// An unknown setting, or an unsupported value of it.
    Unsupported,
    /// Any other refusal of the server.
    Refused,
}

/// A failure in the words of the server, with its code where it has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DbError {
    pub kind: DbErrorKind,
    /// A number of MySQL or SQLite, an SQLSTATE of PostgreSQL; empty where there is none.
    pub code: String,
    pub message: String,
}

pub type DbResult<T> = std::result::Result<T, DbError>;

impl DbError {
    pub fn new(kind: DbErrorKind, code: impl Into<String>, message: impl Into<String>) -> DbError {
        DbError {
            kind,
            code: code.into(),
            message: message.into(),
        }
    }

    /// The connection is lost; `cause` names the symptom.
    pub fn lost(cause: impl fmt::Display) -> DbError {
        DbError::new(DbErrorKind::Lost, "", cause.to_string())
    }

    pub fn protocol(message: impl Into<String>) -> DbError {
        DbError::new(DbErrorKind::Protocol, "", message)
    }

    /// The connection has no statement of this number.
    #[cold]
    pub fn no_statement(number: usize) -> DbError {
        DbError::protocol(format!("no statement has the number {number}"))
    }

    /// Whether a repetition of the same transaction may succeed.
    pub fn can_retry(&self) -> bool {
        matches!(self.kind, DbErrorKind::Conflict | DbErrorKind::LockTimeout)
    }

    /// As an error of the engine; `where_` names the server or the file.
    pub fn at(&self, where_: &str) -> EngineError {
        let (class, hint) = match self.kind {
            DbErrorKind::Conflict | DbErrorKind::LockTimeout => (
                Class::SqlConflict,
                "use fewer connections or more rows to make conflicts rarer; a duplicate key in every execution is an error in the statements",
            ),
            DbErrorKind::Lost => (
                Class::ConnectionLost,
                "check whether the server still runs; its log shows why it stopped",
            ),
            DbErrorKind::Denied => (
                Class::AccessDenied,
                "name the user, give the password in an environment variable or a file, and check that this user may connect from this host",
            ),
            DbErrorKind::Missing => (
                Class::NotPrepared,
                "run the prepare phase with the same tables",
            ),
            DbErrorKind::Full => (
                Class::DiskFull,
                "free space on the file system of the server's data, or use fewer rows",
            ),
            DbErrorKind::TooMany => (
                Class::TooManyConnections,
                "raise max_connections of the server, or use fewer threads",
            ),
            DbErrorKind::TooManyPrepared => (
                Class::SqlError,
                "raise max_prepared_stmt_count of the server, or write prepared = false",
            ),
            DbErrorKind::Protocol => (
                Class::SqlError,
                "check that this is a server of that kind and of a supported version",
            ),
            DbErrorKind::Unsupported => (
                Class::ConditionRefused,
                "use a value that this version supports",
            ),
            DbErrorKind::Refused => (
                Class::SqlError,
                "look up the code in the server's documentation",
            ),
        };
        EngineError::new(class, format!("{where_}: {self}"), hint)
    }
}

impl fmt::Display for DbError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.code.is_empty() {
            return write!(formatter, "{}", self.message);
        }
        write!(formatter, "{} ({})", self.message, self.code)
    }
}
