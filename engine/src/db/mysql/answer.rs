//! The answer to one statement, parsed as its bytes arrive: the hot path, which reads as few bytes
//! as possible.
//!
//! In: bytes in pieces of any size. Out: the number of rows, or the refusal. Counts rows by walking
//! from packet header to packet header. Copies nothing, and keeps nothing longer than `WHOLE`. Fed
//! by `Connection::receive`.

use super::collect::{Collected, RowCollector, too_long};
use super::ending::Status;
use super::packet::{self, HEAD, LONGEST};
use super::results::{Progress, Results};
use crate::db::error::{DbError, DbResult};
use crate::db::values::Values;

/// The packet that ends a result is parsed as a whole; servers send far less than this.
const WHOLE: usize = 64 << 10;

#[derive(Debug)]
pub struct MySqlAnswer {
    results: Results,
    collector: RowCollector,
    /// The missing bytes of the packet under way.
    skip: usize,
    /// Whether the next packet continues the last one.
    continued: bool,
}

impl MySqlAnswer {
    pub fn new(short_ends: bool, status: Status) -> MySqlAnswer {
        MySqlAnswer {
            results: Results::new(short_ends, status),
            collector: RowCollector::default(),
            skip: 0,
            continued: false,
        }
    }

    pub fn status(&self) -> Status {
        self.results.status
    }

    pub fn values(&self) -> &Values {
        &self.collector.values
    }

    /// Expects another answer, whose rows are needed in this form.
    #[inline]
    pub fn restart(&mut self, returned: Collected) {
        self.results = Results::new(self.results.short_ends, self.results.status);
        self.collector.restart(returned);
        self.skip = 0;
        self.continued = false;
    }

    /// Parses complete parts of `bytes`; returns the number of consumed bytes first. After an error
    /// it consumes all bytes up to the end of the answer, unless the server is not understood.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8]) -> (usize, DbResult<Progress>) {
        let mut at = 0;
        loop {
            let skipped = self.skip.min(bytes.len() - at);
            at += skipped;
            self.skip -= skipped;
            let unread = &bytes[at..];
            let Some((length, sequence)) = packet::head(unread) else {
                return (at, Ok(Progress::Partial));
            };
            if self.continued {
                self.pass(length);
                at += HEAD;
                continue;
            }
            let payload = &unread[HEAD..unread.len().min(HEAD + length)];
            let Some(&first) = payload.first() else {
                let step = match length {
                    0 => Err(DbError::protocol("the server sends an empty packet")),
                    _ => Ok(Progress::Partial),
                };
                return (at, step);
            };
            if self.collector.form != Collected::Nothing && payload.len() < length {
                if length > WHOLE {
                    return (at, Err(too_long(length)));
                }
                return (at, Ok(Progress::Partial));
            }
            let is_row = self.results.expects_rows();
            if self.results.counts(first, length) {
                if self.collector.form == Collected::Nothing {
                    self.pass(length);
                    at += HEAD;
                    continue;
                }
                at += HEAD + length;
                let taken = match is_row {
                    true => self.collector.row(payload),
                    false => self.collector.column(payload),
                };
                if let Err(error) = taken {
                    return (at, Err(error));
                }
                continue;
            }
            if length > WHOLE {
                let error = format!("the server ends a result with {length} bytes");
                return (at, Err(DbError::protocol(error)));
            }
            if payload.len() < length {
                return (at, Ok(Progress::Partial));
            }
            at += HEAD + length;
            match self.results.decide(first, &payload[1..], sequence) {
                Ok(Progress::Partial) => {}
                step => return (at, step),
            }
        }
    }

    #[inline]
    fn pass(&mut self, length: usize) {
        // The header is not counted.
        self.skip = length;
        self.continued = length == LONGEST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::error::DbErrorKind;

    const COLUMN: &[u8] = b"\x03def and more";
    const OK: &[u8] = &[0, 3, 0, 2, 0, 0, 0];
    const OK_MORE: &[u8] = &[0, 1, 0, 8, 0, 0, 0];
    const END: &[u8] = &[0xfe, 0, 0, 2, 0, 0, 0];
    const OLD_END: &[u8] = &[0xfe, 0, 0, 2, 0];
    const OLD_END_MORE: &[u8] = &[0xfe, 0, 0, 8, 0];
    const REFUSAL: &[u8] = b"\xff\xbd\x04#40001Deadlock";

    fn packets(payloads: &[&[u8]]) -> Vec<u8> {
        let frame = |(payload, sequence): (&&[u8], u8)| {
            let length = u32::try_from(payload.len()).unwrap().to_le_bytes();
            [&length[..3], &[sequence], payload].concat()
        };
        payloads.iter().zip(1..).flat_map(frame).collect()
    }

    /// In pieces of that length, as a stream may deliver them.
    fn fed(short_ends: bool, bytes: &[u8], piece: usize) -> DbResult<Progress> {
        let mut answer = MySqlAnswer::new(short_ends, Status(0));
        let mut buffer = Vec::new();
        for piece in bytes.chunks(piece) {
            buffer.extend_from_slice(piece);
            let (consumed, progress) = answer.feed(&buffer);
            buffer.drain(..consumed);
            assert!(buffer.len() <= WHOLE + HEAD);
            if progress != Ok(Progress::Partial) {
                assert!(buffer.is_empty());
                return progress;
            }
        }
        Ok(Progress::Partial)
    }

    #[track_caller]
    fn comes_to(short_ends: bool, payloads: &[&[u8]], expected: DbResult<Progress>) {
        let bytes = packets(payloads);
        for piece in [bytes.len(), 1, 2, 3, 5, 7, 64] {
            assert_eq!(
                fed(short_ends, &bytes, piece),
                expected,
                "pieces of {piece}"
            );
        }
    }

    fn deadlock() -> DbError {
        DbError::new(DbErrorKind::Conflict, "1213", "Deadlock")
    }

    #[test]
    fn changes_and_rows_are_counted() {
        comes_to(true, &[OK], Ok(Progress::Whole(3)));
        comes_to(
            true,
            &[&[2], COLUMN, COLUMN, b"a", b"\0", b"\xfb", END],
            Ok(Progress::Whole(3)),
        );
        comes_to(true, &[&[1], COLUMN, END], Ok(Progress::Whole(0)));
        comes_to(
            true,
            &[&[0xfc, 1, 0], COLUMN, b"row", END],
            Ok(Progress::Whole(1)),
        );
    }

    #[test]
    fn older_ends_are_understood() {
        let row = b"\xfe much longer than an end";
        comes_to(
            false,
            &[&[1], COLUMN, OLD_END, row, OLD_END],
            Ok(Progress::Whole(1)),
        );
        comes_to(
            false,
            &[&[1], COLUMN, OLD_END, OLD_END],
            Ok(Progress::Whole(0)),
        );
    }

    #[test]
    fn results_add_up() {
        comes_to(true, &[OK_MORE, OK], Ok(Progress::Whole(4)));
        let calls = [&[1], COLUMN, OLD_END, b"row", OLD_END_MORE, OK];
        comes_to(false, &calls, Ok(Progress::Whole(4)));
    }

    #[test]
    fn refusals_may_come_at_every_place() {
        comes_to(true, &[REFUSAL], Err(deadlock()));
        comes_to(true, &[&[1], REFUSAL], Err(deadlock()));
        comes_to(true, &[&[1], COLUMN, b"row", REFUSAL], Err(deadlock()));
        comes_to(false, &[&[1], COLUMN, OLD_END, REFUSAL], Err(deadlock()));
        comes_to(true, &[OK_MORE, REFUSAL], Err(deadlock()));
    }

    #[test]
    fn long_rows_are_passed_over() {
        let (long, remainder) = (vec![0xfe; LONGEST], vec![0xfe; 70_000]);
        for short_ends in [true, false] {
            let end: &[&[u8]] = if short_ends { &[] } else { &[OLD_END] };
            let last = if short_ends { END } else { OLD_END };
            let rows: &[&[u8]] = &[b"row", &long, &remainder, &long, &[], last];
            let bytes = packets(&[&[&[1], COLUMN], end, rows].concat());
            for piece in [bytes.len(), 100_000, 4093] {
                assert_eq!(fed(short_ends, &bytes, piece), Ok(Progress::Whole(3)));
            }
        }
    }

    #[test]
    fn a_file_is_refused_and_the_statement_fails() {
        let mut answer = MySqlAnswer::new(true, Status(0));
        let request = packets(&[b"\xfb/etc/passwd"]);
        assert_eq!(
            answer.feed(&request),
            (request.len(), Ok(Progress::RefuseFile(2)))
        );
        let (_, outcome) = answer.feed(&packets(&[OK]));
        assert_eq!(outcome.unwrap_err().kind, DbErrorKind::Refused);
        answer.restart(Collected::Nothing);
        assert_eq!(answer.feed(&packets(&[OK])).1, Ok(Progress::Whole(3)));
    }

    #[test]
    fn nonsense_is_an_error() {
        let huge = vec![0xff; WHOLE + 1];
        for payloads in [
            &[&[][..]][..],
            &[&[0xfd, 1]],
            &[&huge],
            &[&[0]],
            &[&[1], COLUMN, &[]],
        ] {
            let (_, outcome) = MySqlAnswer::new(true, Status(0)).feed(&packets(payloads));
            assert_eq!(outcome.unwrap_err().kind, DbErrorKind::Protocol);
        }
    }
}
