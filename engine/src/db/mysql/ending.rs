//! The ends of a statement's results.
//!
//! In: packets that are no column and no row, without their first byte. Out: their fields. Called
//! by `answer` and `rows`.

use super::fields::MySqlFields;
use super::packet::LONGEST;
use crate::db::error::{DbError, DbErrorKind, DbResult};

/// In place of a number of columns: no rows are returned.
pub const NO_COLUMNS: u8 = 0;

/// In place of a number of columns: the server requests a file of the client.
pub const WANTS_FILE: u8 = 0xfb;

/// In place of a row, or after the columns: there are no more.
pub const NO_MORE: u8 = 0xfe;

/// The server's status, as sent with each result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status(pub u16);

impl Status {
    /// Whether another result follows.
    pub fn more_follow(self) -> bool {
        self.0 & 0x0008 != 0
    }

    /// Whether a backslash in a quoted text is an escape.
    pub fn backslash_escapes(self) -> bool {
        self.0 & 0x0200 == 0
    }
}

/// Whether a packet is no row. A row may begin with the same byte, before a text so long that its
/// packet has the maximum length.
#[inline]
pub fn is_end(first: u8, length: usize, short_ends: bool) -> bool {
    first == NO_MORE && length < if short_ends { LONGEST } else { 9 }
}

/// The number of changed rows of a statement that returns none.
#[inline]
pub fn changed(packet: &[u8]) -> DbResult<(u64, Status)> {
    let mut fields = MySqlFields(packet);
    let changed = fields.number()?;
    fields.number()?;
    Ok((changed, Status(fields.u16()?)))
}

/// The status after the last row.
#[inline]
pub fn after_rows(packet: &[u8], short_ends: bool) -> DbResult<Status> {
    if short_ends {
        return changed(packet).map(|(_, status)| status);
    }
    let mut fields = MySqlFields(packet);
    fields.u16()?;
    fields.u16().map(Status)
}

#[cold]
pub fn file_refused() -> DbError {
    let message = "the statement reads a file of the client, which is refused";
    DbError::new(DbErrorKind::Refused, "", message)
}
