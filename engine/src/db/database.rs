//! A database and its address: a file, or a server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::server::Server;
use super::{mysql, postgres};

/// A day.
const LONGEST_S: f64 = 86_400.0;

/// A database and its address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "driver", rename_all = "lowercase")]
pub enum Database {
    Sqlite(SqliteFile),
    Mysql(Server),
    Postgres(Server),
}

/// A database file, opened by the engine itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqliteFile {
    pub path: PathBuf,
    /// Set on every connection, in this order after `page_size` and `journal_mode`; each is read
    /// back.
    #[serde(default)]
    pub pragmas: BTreeMap<String, String>,
}

impl Database {
    /// The file or the server, for messages.
    pub fn address(&self) -> String {
        match self {
            Database::Sqlite(file) => file.path.display().to_string(),
            Database::Mysql(server) => server.address(mysql::USUAL_PORT),
            Database::Postgres(server) => server.address(postgres::USUAL_PORT),
        }
    }

    /// The same database, for statements that may take hours, such as those on whole tables.
    pub fn patient(&self) -> Database {
        let mut database = self.clone();
        if let Database::Mysql(server) | Database::Postgres(server) = &mut database {
            server.timeout_s = LONGEST_S;
        }
        database
    }

    /// The same database, with at most `seconds` for each answer.
    pub fn within(&self, timeout_s: f64) -> Database {
        let mut database = self.clone();
        if let Database::Mysql(server) | Database::Postgres(server) = &mut database {
            server.timeout_s = server.timeout_s.min(timeout_s);
        }
        database
    }
}
