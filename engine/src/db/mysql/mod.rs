//! MySQL's protocol, as MySQL and MariaDB speak it.
//!
//! In: statements and arguments. Out: packets to a server, and its answers. `send` and `receive`
//! are the path of measured operations: one write, one read, no allocation. Called by
//! `workload::sql` and `sql`.

pub mod answer;
mod bulk;
mod caching_sha2;
pub mod collect;
pub mod ending;
mod fields;
mod greeting;
pub mod login;
mod packet;
mod parsec;
mod password;
mod prepared;
mod refusal;
pub mod results;
pub mod rows;
mod rsa;
mod wire;

use std::os::fd::BorrowedFd;

use super::argument::Arguments;
use super::error::{DbError, DbResult};
use super::server::Server;
use super::statement::Statement;
use super::stream::Stream;
use super::values::Values;
use super::{Execution, Rows};
use answer::MySqlAnswer;
use collect::Collected;
use ending::Status;
use login::{LoginStep, MySqlLogin};
use prepared::{PREPARE, PrepareResponse, Prepared};
use results::Progress;
use rows::Packets;
use wire::Wire;

pub const USUAL_PORT: u16 = 3306;

const QUERY: u8 = 3;

/// The error number for a statement that the server cannot prepare.
const NOT_PREPARABLE: &str = "1295";

enum Form {
    Prepared(Prepared),
    Text(Statement),
}

pub struct MySqlConnection {
    wire: Wire,
    statements: Vec<Form>,
    /// By statement, whether its rows are needed.
    returning: Vec<bool>,
    /// The statement of the answer under way.
    sent: usize,
    answer: MySqlAnswer,
    short_ends: bool,
    /// The packet to send, in reused memory.
    out: Vec<u8>,
    text: String,
}

impl super::Connection for MySqlConnection {
    fn open(
        server: &Server,
        statements: &[Statement],
        execution: Execution,
    ) -> DbResult<MySqlConnection> {
        let server = &server.with_login()?;
        let mut wire = Wire::new(Stream::connect(server, USUAL_PORT)?);
        let (short_ends, status) = log_in(&mut wire, server)?;
        let mut connection = MySqlConnection {
            wire,
            statements: Vec::with_capacity(statements.len()),
            returning: statements
                .iter()
                .map(|statement| statement.returns_values)
                .collect(),
            sent: 0,
            answer: MySqlAnswer::new(short_ends, status),
            short_ends,
            out: Vec::new(),
            text: String::new(),
        };
        for statement in statements {
            let form = match execution {
                Execution::Prepared => connection.prepare(statement)?,
                Execution::Text => Form::Text(statement.clone()),
            };
            connection.statements.push(form);
        }
        Ok(connection)
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.wire.stream.fd()
    }

    #[inline]
    fn send(&mut self, statement: usize, arguments: Arguments<'_>) -> DbResult<()> {
        let returned = match self.statements.get_mut(statement) {
            None => return Err(DbError::no_statement(statement)),
            Some(Form::Prepared(prepared)) => {
                prepared.write(arguments, &mut self.out)?;
                Collected::Binary
            }
            Some(Form::Text(statement)) => {
                self.text.clear();
                let escape = self.answer.status().backslash_escapes();
                statement.write(arguments, escape, &mut self.text);
                packet::begin(&mut self.out);
                self.out.push(QUERY);
                self.out.extend_from_slice(self.text.as_bytes());
                packet::finish(&mut self.out, 0);
                Collected::Text
            }
        };
        self.sent = statement;
        let is_needed = self.returning[statement];
        self.answer.restart(if is_needed {
            returned
        } else {
            Collected::Nothing
        });
        self.wire.stream.write(&self.out)
    }

    #[inline]
    fn receive(&mut self) -> DbResult<Option<super::Answer>> {
        let incoming = &mut self.wire.incoming;
        if !self.wire.stream.read(incoming)? {
            return Ok(None);
        }
        loop {
            let (consumed, progress) = self.answer.feed(incoming.bytes());
            incoming.consume(consumed);
            match progress {
                Ok(Progress::Whole(rows)) => return Ok(Some(super::Answer { rows })),
                Ok(Progress::Partial) => return Ok(None),
                Ok(Progress::RefuseFile(sequence)) => {
                    packet::begin(&mut self.out);
                    packet::finish(&mut self.out, sequence);
                    self.wire.stream.write(&self.out)?;
                }
                Err(error) => {
                    // There is no sent statement where the server closes the connection on its own.
                    if let Some(Form::Prepared(prepared)) = self.statements.get_mut(self.sent) {
                        prepared.forget_types();
                    }
                    return Err(error);
                }
            }
        }
    }

    fn values(&self) -> &Values {
        self.answer.values()
    }

    fn query(&mut self, sql: &str) -> DbResult<Rows> {
        self.wire.command(QUERY, sql)?;
        let (rows, status) = rows::read(&mut self.wire, self.short_ends)?;
        self.answer = MySqlAnswer::new(self.short_ends, status);
        Ok(rows)
    }
}

impl MySqlConnection {
    fn prepare(&mut self, statement: &Statement) -> DbResult<Form> {
        let sql = statement.with_question_marks();
        self.wire.command(PREPARE, &sql)?;
        let packet = self.wire.next()?;
        let response = match packet.split_first() {
            Some((&refusal::SIGN, body)) => match refusal::read(body) {
                error if error.code == NOT_PREPARABLE => return Ok(Form::Text(statement.clone())),
                error => return Err(error),
            },
            Some((0, body)) => PrepareResponse::read(body)?,
            _ => {
                return Err(DbError::protocol(
                    "the server does not describe the statement that it has prepared",
                ));
            }
        };
        for described in [response.parameters, response.columns] {
            let end = u16::from(described > 0 && !self.short_ends);
            for _ in 0..described + end {
                self.wire.next()?;
            }
        }
        let (ours, theirs) = (statement.parameters(), usize::from(response.parameters));
        if ours != theirs {
            let message = format!("the server counts {theirs} parameters, not {ours}, in: {sql}");
            return Err(DbError::protocol(message));
        }
        Ok(Form::Prepared(Prepared::new(response)))
    }
}

/// Whether the server omits optional end packets, and its status.
fn log_in(wire: &mut Wire, server: &Server) -> DbResult<(bool, Status)> {
    let mut login = MySqlLogin::new(server);
    loop {
        let packet = wire.next()?;
        match login.take(&packet, wire.stream.is_private())? {
            LoginStep::Listen => {}
            LoginStep::Send(answer) => wire.reply(&answer)?,
            LoginStep::Encrypt(request) => {
                wire.reply(&request)?;
                wire.encrypt(server)?;
                let introduction = login.introduce(wire.stream.is_private())?;
                wire.reply(&introduction)?;
            }
            LoginStep::In(status) => return Ok((login.short_ends(), status)),
        }
    }
}
