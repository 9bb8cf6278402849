//! The answer to one statement, as its bytes come in: the hot way, which looks at as few of them as it can.
//!
//! In: bytes, cut anywhere. Out: how many rows they tell of, or the refusal. Rows are counted by walking
//! from head to head; nothing is copied, and nothing kept that is longer than `WHOLE`. Fed by
//! `Connection::receive`.

use super::ending::{self, NO_COLUMNS, NO_MORE, Status, WANTS_FILE, is_end};
use super::fields::Fields;
use super::packet::{self, HEAD, LONGEST};
use super::refusal;
use crate::db::error::{DbError, Result};

/// What ends a result is waited for as a whole; servers send far less than this.
const WHOLE: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Result,
    Columns(u16),
    /// What ends the columns, of a server that ends them.
    EndOfColumns,
    Rows,
}

/// How far the answer has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Not whole yet.
    Partial,
    /// Rows, returned or changed.
    Whole(u64),
    /// The server waits for an empty packet with this number, which says that it gets no file.
    RefuseFile(u8),
}

#[derive(Debug)]
pub struct Answer {
    /// Whether the server says less of ends, as it does where it has offered that.
    short_ends: bool,
    next: Next,
    rows: u64,
    /// What of the packet under way has not come.
    skip: usize,
    /// Whether the next packet continues the last.
    continued: bool,
    file_wanted: bool,
    /// Of the server, as of the last result.
    status: Status,
}

impl Answer {
    pub fn new(short_ends: bool, status: Status) -> Answer {
        Answer {
            short_ends,
            next: Next::Result,
            rows: 0,
            skip: 0,
            continued: false,
            file_wanted: false,
            status,
        }
    }

    pub fn status(&self) -> Status {
        self.status
    }

    /// Expects another answer.
    #[inline]
    pub fn restart(&mut self) {
        *self = Answer::new(self.short_ends, self.status);
    }

    /// Takes what is understood of `bytes`; the number taken comes first. After an error everything
    /// up to the end of the answer is taken, unless the server is not understood.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8]) -> (usize, Result<Progress>) {
        let mut at = 0;
        loop {
            let skipped = self.skip.min(bytes.len() - at);
            at += skipped;
            self.skip -= skipped;
            let rest = &bytes[at..];
            let Some((length, sequence)) = packet::head(rest) else {
                return (at, Ok(Progress::Partial));
            };
            if self.continued {
                self.pass(length);
                at += HEAD;
                continue;
            }
            let payload = &rest[HEAD..rest.len().min(HEAD + length)];
            let Some(&first) = payload.first() else {
                let step = match length {
                    0 => Err(DbError::protocol("the server sends an empty packet")),
                    _ => Ok(Progress::Partial),
                };
                return (at, step);
            };
            match (self.next, first) {
                (Next::Columns(left), first) if first != refusal::SIGN => {
                    self.next = match (left, self.short_ends) {
                        (2.., _) => Next::Columns(left - 1),
                        (_, true) => Next::Rows,
                        (_, false) => Next::EndOfColumns,
                    };
                    self.pass(length);
                    at += HEAD;
                }
                (Next::Rows, first)
                    if first != refusal::SIGN && !is_end(first, length, self.short_ends) =>
                {
                    self.rows += 1;
                    self.pass(length);
                    at += HEAD;
                }
                _ if length > WHOLE => {
                    let error = format!("the server ends a result with {length} bytes");
                    return (at, Err(DbError::protocol(error)));
                }
                _ if payload.len() < length => return (at, Ok(Progress::Partial)),
                (_, first) => {
                    at += HEAD + length;
                    match self.decide(first, &payload[1..], sequence) {
                        Ok(Progress::Partial) => {}
                        step => return (at, step),
                    }
                }
            }
        }
    }

    #[inline]
    fn pass(&mut self, length: usize) {
        // The head is not counted.
        self.skip = length;
        self.continued = length == LONGEST;
    }

    /// A packet that is no column and no row.
    #[inline]
    fn decide(&mut self, first: u8, rest: &[u8], sequence: u8) -> Result<Progress> {
        match (self.next, first) {
            (_, refusal::SIGN) => return Err(refusal::read(rest)),
            (Next::Result, NO_COLUMNS) => {
                let (changed, status) = ending::changed(rest)?;
                self.rows = self.rows.saturating_add(changed);
                return self.end(status);
            }
            (Next::Result, WANTS_FILE) => {
                self.file_wanted = true;
                return Ok(Progress::RefuseFile(sequence.wrapping_add(1)));
            }
            (Next::Result, 0xfc) => self.next = Next::Columns(Fields(rest).u16()?),
            (Next::Result, columns) if columns < WANTS_FILE => {
                self.next = Next::Columns(columns.into())
            }
            (Next::EndOfColumns, NO_MORE) => self.next = Next::Rows,
            (Next::Rows, _) => return self.end(ending::after_rows(rest, self.short_ends)?),
            (_, other) => {
                let message = format!("the server begins a packet with {other:#04x}");
                return Err(DbError::protocol(message));
            }
        }
        Ok(Progress::Partial)
    }

    fn end(&mut self, status: Status) -> Result<Progress> {
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
