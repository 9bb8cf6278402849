//! Answers of the server, from the first message after a statement to ReadyForQuery.
//!
//! In: bytes in pieces of any size. Out: the number of rows, or the error; the rows themselves only
//! on request. Unneeded bytes are skipped without being kept. Called by the connection with every
//! received piece.

use super::message::{HEADER, PostgresFields, header, unknown, whole};
use super::refusal::refusal;
use crate::db::error::{DbError, DbErrorKind, DbResult};
use crate::db::values::Values;
use crate::db::{Answer, Rows};

/// The progress of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyStep {
    More,
    /// The server waits for data to copy.
    CopyIn,
    Done,
}

#[derive(Debug, Default)]
pub struct Reply {
    answer: Answer,
    error: Option<Box<DbError>>,
    /// The missing bytes of a skipped message.
    skipping: usize,
    /// The collected rows; `None` where the caller does not need them.
    pub rows: Option<Rows>,
    /// The values of the rows, where `returns_values` is set.
    pub values: Values,
    pub returns_values: bool,
}

impl Reply {
    /// Consumes whole messages, and parts of skipped ones; returns the number of consumed bytes.
    #[inline]
    pub fn take(&mut self, bytes: &[u8]) -> DbResult<(usize, ReplyStep)> {
        let mut consumed = 0;
        loop {
            let skipped = self.skipping.min(bytes.len() - consumed);
            self.skipping -= skipped;
            consumed += skipped;
            let left = &bytes[consumed..];
            let Some((tag, length)) = header(left)? else {
                return Ok((consumed, ReplyStep::More));
            };
            if self.passes_over(tag)? {
                consumed += HEADER;
                self.skipping = length;
                continue;
            }
            let Some((_, body)) = whole(left)? else {
                return Ok((consumed, ReplyStep::More));
            };
            consumed += HEADER + length;
            match self.understand(tag, body)? {
                ReplyStep::More => {}
                step => return Ok((consumed, step)),
            }
        }
    }

    #[inline]
    fn passes_over(&self, tag: u8) -> DbResult<bool> {
        match tag {
            b'D' => Ok(self.rows.is_none() && !self.returns_values),
            b'T' => Ok(self.rows.is_none()),
            b'C' | b'E' | b'G' | b'H' | b'Z' => Ok(false),
            // ParseComplete, BindComplete, NoData, EmptyQueryResponse; CopyData and CopyDone of a
            // refused copy; notices, settings and notifications.
            b'1' | b'2' | b'n' | b'I' | b'd' | b'c' | b'N' | b'S' | b'A' => Ok(true),
            _ => Err(unknown(tag)),
        }
    }

    #[inline]
    fn understand(&mut self, tag: u8, body: &[u8]) -> DbResult<ReplyStep> {
        match tag {
            b'Z' => return Ok(ReplyStep::Done),
            b'C' => self.answer.rows = counted(body),
            b'T' => self.rows = Some(columns(body)?),
            b'D' if self.returns_values => collect(body, &mut self.values)?,
            b'D' => {
                if let Some(rows) = &mut self.rows {
                    rows.rows.push(row(body)?);
                }
            }
            b'G' => return Ok(ReplyStep::CopyIn),
            b'H' => self.error = Some(Box::new(copies_out())),
            _ => self.error = Some(Box::new(refusal(body)?)),
        }
        Ok(ReplyStep::More)
    }

    /// Returns the result after `Step::Done`, and expects the next answer.
    #[inline]
    pub fn finish(&mut self) -> DbResult<Answer> {
        let answer = std::mem::take(&mut self.answer);
        match self.error.take() {
            None => Ok(answer),
            Some(error) => Err(*error),
        }
    }

    /// The error for a connection that ended with `cause`: the server's last message if there was
    /// one.
    #[cold]
    pub fn ended(&mut self, cause: DbError) -> DbError {
        self.error.take().map_or(cause, |error| DbError {
            kind: DbErrorKind::Lost,
            ..*error
        })
    }
}

fn copies_out() -> DbError {
    DbError::new(
        DbErrorKind::Refused,
        "",
        "COPY TO STDOUT cannot be used in a load",
    )
}

/// The number at the end of a tag such as `INSERT 0 1`; 0 for a tag without one, such as `BEGIN`.
#[inline]
fn counted(tag: &[u8]) -> u64 {
    let tag = tag.strip_suffix(&[0]).unwrap_or(tag);
    let (mut count, mut unit) = (0u64, 1u64);
    for &byte in tag.iter().rev() {
        if !byte.is_ascii_digit() {
            break;
        }
        count = count.wrapping_add(unit.wrapping_mul(u64::from(byte - b'0')));
        unit = unit.wrapping_mul(10);
    }
    count
}

fn columns(body: &[u8]) -> DbResult<Rows> {
    let mut fields = PostgresFields(body);
    let mut columns = Vec::new();
    for _ in 0..fields.short()? {
        columns.push(fields.text()?);
        // Table, column, type, its size, its modifier, format.
        fields.bytes(4 + 2 + 4 + 2 + 4 + 2)?;
    }
    Ok(Rows {
        columns,
        rows: Vec::new(),
    })
}

fn row(body: &[u8]) -> DbResult<Vec<Option<String>>> {
    let mut fields = PostgresFields(body);
    let mut row = Vec::new();
    for _ in 0..fields.short()? {
        row.push(match usize::try_from(fields.int()?) {
            Ok(length) => {
                let text = fields.bytes(length)?;
                Some(String::from_utf8_lossy(text).into_owned())
            }
            Err(_) => None,
        });
    }
    Ok(row)
}

/// The cells of a row, which come as text.
#[inline]
fn collect(body: &[u8], values: &mut Values) -> DbResult<()> {
    let mut fields = PostgresFields(body);
    let columns = fields.short()?;
    values.set_columns(usize::try_from(columns).unwrap_or(0));
    for _ in 0..columns {
        match usize::try_from(fields.int()?) {
            Ok(length) => values.text(fields.bytes(length)?),
            Err(_) => values.null(),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SELECT: &[u8] = b"T\0\0\0\x1a\0\x01c\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0\
        D\0\0\0\x0c\0\x01\0\0\0\x02\xc3\xa4N\0\0\0\x05\0D\0\0\0\x0a\0\x01\xff\xff\xff\xff\
        C\0\0\0\x0dSELECT 2\0Z\0\0\0\x05I";
    const REFUSED: &[u8] = b"2\0\0\0\x04E\0\0\0\x11C23505\0Mtwo\0\0Z\0\0\0\x05E";

    /// In pieces of that size, as they arrive in a buffer.
    fn fed(reply: &mut Reply, bytes: &[u8], size: usize) -> DbResult<Option<Answer>> {
        let (mut start, mut end) = (0, 0);
        while end < bytes.len() {
            end = (end + size).min(bytes.len());
            let (consumed, step) = reply.take(&bytes[start..end])?;
            start += consumed;
            if step == ReplyStep::Done {
                assert_eq!(start, bytes.len());
                return reply.finish().map(Some);
            }
        }
        Ok(None)
    }

    #[test]
    fn an_answer_may_come_in_any_pieces() {
        for size in 1..=SELECT.len() {
            let mut reply = Reply::default();
            let answer = fed(&mut reply, SELECT, size).unwrap();
            assert_eq!(answer, Some(Answer { rows: 2 }));
            reply.rows = Some(Rows::default());
            fed(&mut reply, SELECT, size).unwrap();
            let rows = reply.rows.take().unwrap();
            assert_eq!(rows.columns, ["c"]);
            assert_eq!(rows.rows, [[Some("ä".to_string())], [None]]);
            let error = fed(&mut reply, REFUSED, size).unwrap_err();
            assert_eq!(
                (error.kind, error.message.as_str()),
                (DbErrorKind::Conflict, "two")
            );
            assert!(fed(&mut reply, SELECT, size).is_ok());
        }
    }

    #[test]
    fn rows_are_counted_by_the_tag() {
        for (tag, rows) in [
            ("INSERT 0 1\0", 1),
            ("SELECT 1200\0", 1200),
            ("BEGIN\0", 0),
            ("", 0),
            ("UPDATE 18446744073709551615", u64::MAX),
        ] {
            assert_eq!(counted(tag.as_bytes()), rows, "{tag}");
        }
        counted(&[b'9'; 100]);
    }

    #[test]
    fn the_last_words_of_a_server_say_why_it_left() {
        let mut reply = Reply::default();
        let (_, step) = reply.take(&REFUSED[..23]).unwrap();
        assert_eq!(step, ReplyStep::More);
        let error = reply.ended(DbError::lost("closed"));
        assert_eq!(
            (error.kind, error.code.as_str()),
            (DbErrorKind::Lost, "23505")
        );
        assert_eq!(reply.ended(DbError::lost("closed")).message, "closed");
    }

    #[test]
    fn what_is_not_known_is_an_error() {
        for bytes in [b"J\0\0\0\x04".as_slice(), b"D\0\0\0\x03", b"E\x7f\0\0\0"] {
            let error = Reply::default().take(bytes).unwrap_err();
            assert_eq!(error.kind, DbErrorKind::Protocol);
        }
        let mut reply = Reply {
            rows: Some(Rows::default()),
            ..Reply::default()
        };
        for bytes in [b"D\0\0\0\x06\x7f\xff".as_slice(), b"T\0\0\0\x06\0\x01"] {
            assert!(reply.take(bytes).is_err());
        }
    }
}
