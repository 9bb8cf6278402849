//! PostgreSQL's protocol, version 3.
//!
//! In: a server, statements, arguments. Out: answers. A statement is one write and, while its
//! answer arrives in one piece, one read, without allocation. Called by `workload::sql` and `sql`.

mod copy;
pub mod login;
mod message;
mod refusal;
pub mod reply;
mod request;

use std::os::fd::BorrowedFd;

use super::argument::Arguments;
use super::error::{DbError, DbResult};
use super::server::Server;
use super::statement::Statement;
use super::stream::{Incoming, Stream};
use super::values::Values;
use super::{Answer, Execution, Rows};
use reply::{Reply, ReplyStep};

pub const USUAL_PORT: u16 = 5432;

pub struct PostgresConnection {
    stream: Stream,
    incoming: Incoming,
    outgoing: Vec<u8>,
    reply: Reply,
    /// Used with `Execution::Text` only; the server knows prepared statements by their number.
    statements: Vec<Statement>,
    /// By statement, whether its rows are needed.
    returning: Vec<bool>,
    execution: Execution,
    sql: String,
}

impl super::Connection for PostgresConnection {
    fn open(
        server: &Server,
        statements: &[Statement],
        execution: Execution,
    ) -> DbResult<PostgresConnection> {
        let server = &server.with_login()?;
        let mut connection = PostgresConnection {
            stream: Stream::connect(server, USUAL_PORT)?,
            incoming: Incoming::default(),
            outgoing: Vec::new(),
            reply: Reply::default(),
            statements: Vec::new(),
            returning: statements
                .iter()
                .map(|statement| statement.returns_values)
                .collect(),
            execution,
            sql: String::new(),
        };
        login::log_in(&mut connection.stream, &mut connection.incoming, server)?;
        match execution {
            Execution::Prepared => connection.prepare(statements)?,
            Execution::Text => connection.statements = statements.to_vec(),
        }
        Ok(connection)
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.stream.fd()
    }

    #[inline]
    fn send(&mut self, statement: usize, arguments: Arguments<'_>) -> DbResult<()> {
        self.outgoing.clear();
        self.reply.returns_values = self
            .returning
            .get(statement)
            .is_some_and(|&returns| returns);
        if self.reply.returns_values {
            self.reply.values.clear();
        }
        match self.execution {
            Execution::Prepared => request::execute(statement, arguments, &mut self.outgoing),
            Execution::Text => {
                let Some(statement) = self.statements.get(statement) else {
                    return Err(DbError::no_statement(statement));
                };
                self.sql.clear();
                statement.write(arguments, false, &mut self.sql);
                request::query(&self.sql, &mut self.outgoing);
            }
        }
        self.write()
    }

    #[inline]
    fn receive(&mut self) -> DbResult<Option<Answer>> {
        if !self.read()? {
            return Ok(None);
        }
        self.understand(self.execution)
    }

    fn values(&self) -> &Values {
        &self.reply.values
    }

    fn query(&mut self, sql: &str) -> DbResult<Rows> {
        self.reply.returns_values = false;
        self.outgoing.clear();
        request::query(sql, &mut self.outgoing);
        self.write()?;
        self.reply.rows = Some(Rows::default());
        let answer = self.wait();
        let rows = self.reply.rows.take().unwrap_or_default();
        answer.map(|_| rows)
    }
}

impl PostgresConnection {
    fn prepare(&mut self, statements: &[Statement]) -> DbResult<()> {
        self.outgoing.clear();
        for (number, statement) in statements.iter().enumerate() {
            request::parse(number, &statement.with_numbers(), &mut self.outgoing);
        }
        self.outgoing.extend_from_slice(request::SYNC);
        self.write()?;
        self.wait().map(drop)
    }

    /// Waits for the answer to a simple-protocol message.
    fn wait(&mut self) -> DbResult<Answer> {
        loop {
            if let Some(answer) = self.understand(Execution::Text)? {
                return Ok(answer);
            }
            self.read_waiting()?;
        }
    }

    #[inline]
    fn write(&mut self) -> DbResult<()> {
        match self.stream.write(&self.outgoing) {
            Ok(()) => Ok(()),
            Err(cause) => Err(self.ended(cause)),
        }
    }

    /// The server's last message before it left is more useful than the failed write.
    #[cold]
    fn ended(&mut self, cause: DbError) -> DbError {
        while let Ok(true) = self.stream.read(&mut self.incoming) {
            while let Ok(ReplyStep::Done | ReplyStep::CopyIn) = self.take() {}
        }
        self.reply.ended(cause)
    }

    #[inline]
    fn read(&mut self) -> DbResult<bool> {
        let read = self.stream.read(&mut self.incoming);
        read.map_err(|cause| self.reply.ended(cause))
    }

    fn read_waiting(&mut self) -> DbResult<()> {
        let read = self.stream.read_waiting(&mut self.incoming);
        read.map_err(|cause| self.reply.ended(cause))
    }

    /// Reads the received bytes; refuses a copy that the server waits for.
    #[inline]
    fn understand(&mut self, execution: Execution) -> DbResult<Option<Answer>> {
        loop {
            match self.take()? {
                ReplyStep::More => return Ok(None),
                ReplyStep::Done => return self.reply.finish().map(Some),
                ReplyStep::CopyIn => self.refuse_copy(execution)?,
            }
        }
    }

    #[inline]
    fn take(&mut self) -> DbResult<ReplyStep> {
        let (consumed, step) = self.reply.take(self.incoming.bytes())?;
        self.incoming.consume(consumed);
        Ok(step)
    }
}

impl Drop for PostgresConnection {
    /// Sends Terminate, so that the server does not report a crashed client.
    fn drop(&mut self) {
        let _ = self.stream.write(request::TERMINATE);
    }
}
