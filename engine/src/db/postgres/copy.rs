//! Rows in bulk: COPY FROM STDIN.
//!
//! In: chunks of rows, in the statement's format. Out: the number of rows. Called during
//! preparation; the client refuses any other copy.

use super::reply::ReplyStep;
use super::{PostgresConnection, request};
use crate::db::Execution;
use crate::db::error::{DbError, DbErrorKind, DbResult};

/// The approximate size of one message.
const MESSAGE: usize = 64 << 10;

impl PostgresConnection {
    /// Executes a `COPY … FROM STDIN`. `data` appends the next rows to the given buffer, and
    /// returns false when there are no more.
    pub fn copy_in(
        &mut self,
        sql: &str,
        data: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> DbResult<u64> {
        self.outgoing.clear();
        request::query(sql, &mut self.outgoing);
        self.write()?;
        loop {
            match self.take()? {
                ReplyStep::More => self.read_waiting()?,
                ReplyStep::CopyIn => return self.feed(data),
                ReplyStep::Done => {
                    self.reply.finish()?;
                    let message = format!("the server accepts no rows for {sql}");
                    return Err(DbError::new(DbErrorKind::Refused, "", message));
                }
            }
        }
    }

    fn feed(&mut self, data: &mut dyn FnMut(&mut Vec<u8>) -> bool) -> DbResult<u64> {
        let mut chunk = Vec::with_capacity(2 * MESSAGE);
        let mut has_more = true;
        while has_more {
            chunk.clear();
            while has_more && chunk.len() < MESSAGE {
                has_more = data(&mut chunk);
            }
            self.outgoing.clear();
            request::copy_data(&chunk, &mut self.outgoing);
            if !has_more {
                self.outgoing.extend_from_slice(request::COPY_DONE);
            }
            self.write()?;
            // A refusal of the server arrives at once.
            if self.read()? && self.take()? == ReplyStep::Done {
                return self.reply.finish().map(|answer| answer.rows);
            }
        }
        self.wait().map(|answer| answer.rows)
    }

    /// Refuses a copy: the server waits for rows that do not exist.
    #[cold]
    pub(super) fn refuse_copy(&mut self, execution: Execution) -> DbResult<()> {
        self.outgoing.clear();
        request::copy_fail("there are no rows to copy", &mut self.outgoing);
        // The server has skipped the Sync that was sent with the statement.
        if execution == Execution::Prepared {
            self.outgoing.extend_from_slice(request::SYNC);
        }
        self.write()
    }
}
