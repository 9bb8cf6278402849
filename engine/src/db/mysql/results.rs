//! The meaning of an answer's packets, one after another.
//!
//! In: the first byte and the length of a packet, and the whole packet where it is no column and no
//! row. Out: the progress of the answer. Called by `answer`, which finds the packets.

use super::ending::{self, NO_COLUMNS, NO_MORE, Status, WANTS_FILE, is_end};
use super::fields::MySqlFields;
use super::refusal;
use crate::db::error::{DbError, DbResult};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Result,
    Columns(u16),
    /// The end of the columns, from a server that sends it.
    EndOfColumns,
    Rows,
}

/// The progress of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Incomplete.
    Partial,
    /// The number of rows, returned or changed.
    Whole(u64),
    /// The server waits for an empty packet with this number, which refuses the file.
    RefuseFile(u8),
}

/// The results of one statement.
#[derive(Debug)]
pub struct Results {
    /// Whether the server omits optional end packets, as it has offered.
    pub short_ends: bool,
    /// The server's status, as of the last result.
    pub status: Status,
    next: Next,
    rows: u64,
    file_wanted: bool,
}

impl Results {
    pub fn new(short_ends: bool, status: Status) -> Results {
        Results {
            short_ends,
            status,
            next: Next::Result,
            rows: 0,
            file_wanted: false,
        }
    }

    /// Whether the next packet is a row, if it is no end.
    #[inline]
    pub fn expects_rows(&self) -> bool {
        self.next == Next::Rows
    }

    /// Whether the packet is a column or a row, which is only counted.
    #[inline]
    pub fn counts(&mut self, first: u8, length: usize) -> bool {
        match self.next {
            _ if first == refusal::SIGN => return false,
            Next::Rows if !is_end(first, length, self.short_ends) => self.rows += 1,
            Next::Columns(left @ 2..) => self.next = Next::Columns(left - 1),
            Next::Columns(_) if self.short_ends => self.next = Next::Rows,
            Next::Columns(_) => self.next = Next::EndOfColumns,
            _ => return false,
        }
        true
    }

    /// Handles a packet that is no column and no row.
    #[inline]
    pub fn decide(&mut self, first: u8, body: &[u8], sequence: u8) -> DbResult<Progress> {
        match (self.next, first) {
            (_, refusal::SIGN) => return Err(refusal::read(body)),
            (Next::Result, NO_COLUMNS) => {
                let (changed, status) = ending::changed(body)?;
                self.rows = self.rows.saturating_add(changed);
                return self.end(status);
            }
            (Next::Result, WANTS_FILE) => {
                self.file_wanted = true;
                return Ok(Progress::RefuseFile(sequence.wrapping_add(1)));
            }
            (Next::Result, 0xfc) => self.next = Next::Columns(MySqlFields(body).u16()?),
            (Next::Result, columns) if columns < WANTS_FILE => {
                self.next = Next::Columns(columns.into())
            }
            (Next::EndOfColumns, NO_MORE) => self.next = Next::Rows,
            (Next::Rows, _) => return self.end(ending::after_rows(body, self.short_ends)?),
            (_, other) => {
                let message = format!("the server begins a packet with {other:#04x}");
                return Err(DbError::protocol(message));
            }
        }
        Ok(Progress::Partial)
    }

    fn end(&mut self, status: Status) -> DbResult<Progress> {
        self.status = status;
        if status.more_follow() {
            self.next = Next::Result;
            return Ok(Progress::Partial);
        }
        if self.file_wanted {
            return Err(ending::file_refused());
        }
        Ok(Progress::Whole(self.rows))
    }
}
