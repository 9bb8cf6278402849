//! sysbench's tables in the dialects of the databases.
//!
//! In: the job's parameters. Out: statements that create, fill and remove tables. Called by
//! `prepare` and `shared`.

use crate::db::database::Database;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Mysql,
    Postgres,
}

impl Dialect {
    pub fn of(database: &Database) -> Dialect {
        match database {
            Database::Sqlite(_) => Dialect::Sqlite,
            Database::Mysql(_) => Dialect::Mysql,
            Database::Postgres(_) => Dialect::Postgres,
        }
    }
}

/// The marker table: it records that the tables are ours, their description, and the number of
/// runs.
pub const MARKER: &str = "paribus_prepared";

pub fn create_marker() -> String {
    format!(
        "CREATE TABLE {MARKER} (made_of VARCHAR(200) NOT NULL, complete INTEGER NOT NULL, runs INTEGER NOT NULL)"
    )
}

pub fn table(number: u32) -> String {
    format!("sbtest{number}")
}

/// The statements that create an empty table.
pub fn create(dialect: Dialect, number: u32, secondary: bool) -> Vec<String> {
    let name = table(number);
    let id = match (dialect, secondary) {
        (Dialect::Mysql, _) => "INTEGER NOT NULL AUTO_INCREMENT",
        (Dialect::Postgres, _) => "SERIAL",
        (Dialect::Sqlite, false) => "INTEGER PRIMARY KEY",
        (Dialect::Sqlite, true) => "INTEGER NOT NULL",
    };
    let key = match (dialect, secondary) {
        (Dialect::Mysql, true) => ", KEY xid (id)",
        (Dialect::Mysql | Dialect::Postgres, false) => ", PRIMARY KEY (id)",
        _ => "",
    };
    let engine = match dialect {
        Dialect::Mysql => " ENGINE = InnoDB",
        _ => "",
    };
    let mut statements = vec![format!(
        "CREATE TABLE {name} (id {id}, k INTEGER DEFAULT 0 NOT NULL, \
         c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL{key}){engine}"
    )];
    if secondary && dialect != Dialect::Mysql {
        statements.push(format!("CREATE INDEX xid_{number} ON {name} (id)"));
    }
    statements
}

/// Created after all rows are loaded, which is faster.
pub fn create_index(number: u32) -> String {
    format!("CREATE INDEX k_{number} ON {} (k)", table(number))
}

/// After rows with explicit numbers, sets the server's own numbering to continue behind them.
pub fn continue_numbers(dialect: Dialect, number: u32, rows: u64) -> Option<String> {
    let name = table(number);
    (dialect == Dialect::Postgres)
        .then(|| format!("SELECT setval(pg_get_serial_sequence('{name}', 'id'), {rows})"))
}
