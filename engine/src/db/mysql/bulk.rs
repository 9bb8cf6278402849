//! Rows in bulk: LOAD DATA LOCAL INFILE, with rows from memory as the file.
//!
//! In: rows as lines of tab-separated columns. Out: whether they are loaded. Called during
//! preparation. The client refuses to send any other file.

use super::ending::{self, NO_COLUMNS, WANTS_FILE};
use super::rows::Packets;
use super::{MySqlConnection, QUERY, refusal};
use crate::db::error::{DbError, DbErrorKind, DbResult};

/// The refusals of servers that accept no files from clients.
const NOT_ALLOWED: [&str; 3] = ["1148", "3948", "4166"];

/// The size of one packet.
const CHUNK: usize = 256 << 10;

impl MySqlConnection {
    /// Loads `rows` rows into a table. `into` is its name and its column separators. Returns false
    /// where the server accepts no rows in this way.
    pub fn load_data(&mut self, into: &str, lines: &[u8], rows: u64) -> DbResult<bool> {
        let sql = format!("LOAD DATA LOCAL INFILE 'rows' INTO TABLE {into}");
        self.wire.command(QUERY, &sql)?;
        match self.wire.next()?.split_first() {
            Some((&WANTS_FILE, _)) => {}
            Some((&refusal::SIGN, body)) => match refusal::read(body) {
                error if NOT_ALLOWED.contains(&error.code.as_str()) => return Ok(false),
                error => return Err(error),
            },
            _ => return Err(DbError::protocol("the server does not request the rows")),
        }
        for chunk in lines.chunks(CHUNK) {
            self.wire.add(chunk)?;
        }
        self.wire.add(&[])?;
        let loaded = match self.wire.next()?.split_first() {
            Some((&NO_COLUMNS, body)) => ending::changed(body)?.0,
            Some((&refusal::SIGN, body)) => return Err(refusal::read(body)),
            _ => {
                return Err(DbError::protocol(
                    "the server does not report how many rows it has loaded",
                ));
            }
        };
        if loaded != rows {
            // The server silently skips client rows that it cannot load.
            let message = format!("the server has loaded {loaded} of {rows} rows into {into}");
            return Err(DbError::new(DbErrorKind::Refused, "", message));
        }
        Ok(true)
    }
}
