//! Logging in: encryption, the user, and the proof of the password.
//!
//! In: the server's requests. Out: the answers. A password is only sent by a method that keeps it
//! from others on this connection. Called by the connection when it opens.

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};

use super::message::{HEADER, PostgresFields, unknown, whole};
use super::refusal::refusal;
use super::request;
use crate::db::error::{DbError, DbErrorKind, DbResult};
use crate::db::server::{Server, Tls};
use crate::db::stream::{Incoming, Stream};

/// The login, until the server accepts statements.
pub fn log_in(stream: &mut Stream, incoming: &mut Incoming, server: &Server) -> DbResult<()> {
    if server.tls != Tls::Off {
        encrypt(stream, incoming, server)?;
    }
    let mut out = Vec::new();
    request::startup(server, &mut out)?;
    stream.write(&out)?;
    let mut login = PostgresLogin::new(server, stream.is_private());
    loop {
        out.clear();
        let (consumed, is_ready) = login.take(incoming.bytes(), &mut out)?;
        incoming.consume(consumed);
        stream.write(&out)?;
        match consumed {
            _ if is_ready => return Ok(()),
            0 => stream.read_waiting(incoming)?,
            _ => {}
        }
    }
}

fn encrypt(stream: &mut Stream, incoming: &mut Incoming, server: &Server) -> DbResult<()> {
    stream.write(&request::TLS)?;
    stream.read_waiting(incoming)?;
    match incoming.bytes() {
        b"S" => incoming.consume(1),
        [b'N', ..] => return Err(DbError::protocol("the server does not offer TLS")),
        _ => {
            return Err(DbError::protocol(
                "the server does not know the request for TLS",
            ));
        }
    }
    stream.start_tls(server)
}

/// The state of the login.
pub struct PostgresLogin<'a> {
    user: &'a str,
    password: &'a str,
    /// Whether nobody else can read the connection.
    is_private: bool,
    scram: Scram,
    is_in: bool,
}

enum Scram {
    Unasked,
    Asked(Box<ScramSha256>),
    /// The server has proved that it knows the password too.
    Mutual,
}

impl<'a> PostgresLogin<'a> {
    pub fn new(server: &'a Server, is_private: bool) -> PostgresLogin<'a> {
        PostgresLogin {
            user: &server.user,
            password: server.password(),
            is_private,
            scram: Scram::Unasked,
            is_in: false,
        }
    }

    /// Consumes one message, if it is complete, and appends the answer. Returns the consumed bytes,
    /// and whether the server accepts statements now.
    pub fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> DbResult<(usize, bool)> {
        let Some((tag, body)) = whole(bytes)? else {
            return Ok((0, false));
        };
        match tag {
            b'R' if !self.is_in => self.answer(PostgresFields(body), out)?,
            b'E' => return Err(refusal(body)?),
            // A notice, a setting, the key for cancelling.
            b'N' | b'S' | b'K' => {}
            b'Z' if self.is_in => {}
            _ => return Err(unknown(tag)),
        }
        Ok((HEADER + body.len(), tag == b'Z'))
    }

    fn answer(&mut self, mut fields: PostgresFields<'_>, out: &mut Vec<u8>) -> DbResult<()> {
        match fields.int()? {
            0 if matches!(self.scram, Scram::Asked(_)) => Err(unproven(
                "the server has not proved that it knows the password",
            )),
            0 => {
                self.is_in = true;
                Ok(())
            }
            3 => self.cleartext(out),
            5 => self.md5(fields, out),
            10 => self.start_scram(fields, out),
            11 => self.continue_scram(fields.0, out),
            12 => self.finish_scram(fields.0),
            other => Err(denied(format!(
                "the server requires the authentication method {other}, which is not supported"
            ))),
        }
    }

    fn password(&self) -> DbResult<&'a [u8]> {
        if self.password.is_empty() {
            return Err(denied("the server requires a password, and none is given"));
        }
        Ok(self.password.as_bytes())
    }

    fn cleartext(&self, out: &mut Vec<u8>) -> DbResult<()> {
        if !self.is_private {
            return Err(denied(
                "the server requires the password in clear text, which is sent only over TLS or a Unix socket",
            ));
        }
        request::password(self.password()?, out);
        Ok(())
    }

    fn md5(&self, mut fields: PostgresFields<'_>, out: &mut Vec<u8>) -> DbResult<()> {
        let salt = fields.int()?.to_be_bytes();
        let hash = md5_hash(self.user.as_bytes(), self.password()?, salt);
        request::password(hash.as_bytes(), out);
        Ok(())
    }

    fn start_scram(&mut self, mut fields: PostgresFields<'_>, out: &mut Vec<u8>) -> DbResult<()> {
        loop {
            let mechanism = fields.text()?;
            if mechanism == SCRAM_SHA_256 {
                break;
            }
            if mechanism.is_empty() {
                return Err(denied(format!("the server does not offer {SCRAM_SHA_256}")));
            }
        }
        let scram = ScramSha256::new(self.password()?, ChannelBinding::unsupported());
        request::first_proof(SCRAM_SHA_256, scram.message(), out);
        self.scram = Scram::Asked(Box::new(scram));
        Ok(())
    }

    fn continue_scram(&mut self, challenge: &[u8], out: &mut Vec<u8>) -> DbResult<()> {
        let Scram::Asked(scram) = &mut self.scram else {
            return Err(unproven(
                "the server continues an authentication that it has not begun",
            ));
        };
        scram.update(challenge).map_err(unproven)?;
        request::next_proof(scram.message(), out);
        Ok(())
    }

    fn finish_scram(&mut self, proof: &[u8]) -> DbResult<()> {
        let Scram::Asked(scram) = &mut self.scram else {
            return Err(unproven(
                "the server ends an authentication that it has not begun",
            ));
        };
        scram.finish(proof).map_err(unproven)?;
        self.scram = Scram::Mutual;
        Ok(())
    }
}

fn denied(message: impl Into<String>) -> DbError {
    DbError::new(DbErrorKind::Denied, "", message)
}

fn unproven(cause: impl std::fmt::Display) -> DbError {
    DbError::protocol(format!("{SCRAM_SHA_256}: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn server(password: &str) -> Server {
        let server = json!({"user": "u", "database": "d", "password": password});
        serde_json::from_value(server).unwrap()
    }

    fn answers_to(password: &str, is_private: bool, bodies: &[&[u8]]) -> DbResult<Vec<u8>> {
        let server = server(password);
        let mut login = PostgresLogin::new(&server, is_private);
        let mut out = Vec::new();
        for body in bodies {
            let mut bytes = vec![b'R'];
            bytes.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
            bytes.extend_from_slice(body);
            assert_eq!(login.take(&bytes, &mut out)?, (bytes.len(), false));
        }
        Ok(out)
    }

    #[test]
    fn passwords_go_in_clear_only_where_nobody_reads_along() {
        let cleartext = b"\0\0\0\x03";
        let sent = answers_to("geheim", true, &[cleartext]).unwrap();
        assert_eq!(sent, b"p\0\0\0\x0bgeheim\0");
        let error = answers_to("geheim", false, &[cleartext]).unwrap_err();
        assert!(error.kind == DbErrorKind::Denied && !error.message.contains("geheim"));
        let sent = answers_to("geheim", false, &[b"\0\0\0\x05abcd"]).unwrap();
        assert!(sent.starts_with(b"p\0\0\0\x28md5"));
        assert_eq!(
            answers_to("", true, &[cleartext]).unwrap_err().kind,
            DbErrorKind::Denied
        );
    }

    #[test]
    fn scram_is_taken_only_whole_and_in_order() {
        let start: &[u8] = b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";
        let sent = answers_to("geheim", false, &[start]).unwrap();
        assert!(sent.starts_with(b"p") && sent[5..].starts_with(b"SCRAM-SHA-256\0\0\0\0"));
        for bodies in [
            [start, b"\0\0\0\0"],
            [start, b"\0\0\0\x0cv=AAAA"],
            [start, b"\0\0\0\x0br=other,s=AAAA,i=4096"],
            [b"\0\0\0\x0b", b""],
            [b"\0\0\0\x0c", b""],
        ] {
            assert_eq!(
                answers_to("geheim", true, &bodies).unwrap_err().kind,
                DbErrorKind::Protocol
            );
        }
        for unable in [b"\0\0\0\x0aOAUTHBEARER\0\0".as_slice(), b"\0\0\0\x07"] {
            assert_eq!(
                answers_to("geheim", true, &[unable]).unwrap_err().kind,
                DbErrorKind::Denied
            );
        }
    }
}
