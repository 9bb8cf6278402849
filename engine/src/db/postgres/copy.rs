//! Rows in bulk: COPY FROM STDIN.
//!
//! In: chunks of rows, in the form that the statement names. Out: how many rows. Called where tables
//! are prepared; a copy that nobody asked for is refused.

use super::reply::Step;
use super::{Connection, request};
use crate::db::Execution;
use crate::db::error::{DbError, Kind, Result};

/// How much goes in one message, give or take a chunk.
const MESSAGE: usize = 64 << 10;

impl Connection {
    /// Carries out a `COPY … FROM STDIN`. `data` appends the next rows to what it is given, and says
    /// false when there are no more.
    pub fn copy_in(
        &mut self,
        sql: &str,
        data: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64> {
        self.outgoing.clear();
        request::query(sql, &mut self.outgoing);
        self.write()?;
        loop {
            match self.take()? {
                Step::More => self.read_waiting()?,
                Step::CopyIn => return self.feed(data),
                Step::Done => {
                    self.reply.finish()?;
                    let message = format!("the server takes no rows for {sql}");
                    return Err(DbError::new(Kind::Refused, "", message));
                }
            }
        }
    }

    fn feed(&mut self, data: &mut dyn FnMut(&mut Vec<u8>) -> bool) -> Result<u64> {
        let mut chunk = Vec::with_capacity(2 * MESSAGE);
        let mut more = true;
        while more {
            chunk.clear();
            while more && chunk.len() < MESSAGE {
                more = data(&mut chunk);
            }
            self.outgoing.clear();
            request::copy_data(&chunk, &mut self.outgoing);
            if !more {
                self.outgoing.extend_from_slice(request::COPY_DONE);
            }
            self.write()?;
            // A server that refuses says so at once.
            if self.read()? && self.take()? == Step::Done {
                return self.reply.finish().map(|answer| answer.rows);
            }
        }
        self.wait().map(|answer| answer.rows)
    }

    /// The server waits for rows that are not there.
    #[cold]
    pub(super) fn refuse_copy(&mut self, execution: Execution) -> Result<()> {
        self.outgoing.clear();
        request::copy_fail("no rows are at hand", &mut self.outgoing);
        // The server has passed over the Sync that was sent with the statement.
        if execution == Execution::Prepared {
            self.outgoing.extend_from_slice(request::SYNC);
        }
        self.write()
    }
}
