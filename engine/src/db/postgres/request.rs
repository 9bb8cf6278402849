//! Messages to the server.
//!
//! In: the request. Out: bytes, appended to a reused buffer. Called by the connection and by
//! `login`.

use std::io::Write;

use crate::db::argument::{Argument, Arguments};
use crate::db::error::{DbError, DbErrorKind, DbResult};
use crate::db::server::Server;

pub const TLS: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];
pub const SYNC: &[u8] = b"S\0\0\0\x04";
pub const TERMINATE: &[u8] = b"X\0\0\0\x04";
pub const COPY_DONE: &[u8] = b"c\0\0\0\x04";
const VERSION_3: [u8; 4] = [0, 3, 0, 0];
/// Of the unnamed portal, without a limit of rows.
const EXECUTE_AND_SYNC: &[u8] = b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";

pub fn startup(server: &Server, out: &mut Vec<u8>) -> DbResult<()> {
    let settings = [
        ("user", server.user.as_str()),
        ("database", server.database.as_str()),
        ("client_encoding", "UTF8"),
        ("application_name", "paribus"),
        // `Statement::write` leaves backslashes unchanged.
        ("standard_conforming_strings", "on"),
    ];
    if settings.iter().any(|(_, value)| value.contains('\0')) {
        let message = "the name of a user or a database cannot contain a zero byte";
        return Err(DbError::new(DbErrorKind::Refused, "", message));
    }
    sized(out, |out| {
        out.extend_from_slice(&VERSION_3);
        for (name, value) in settings {
            text(name, out);
            text(value, out);
        }
        out.push(0);
    });
    Ok(())
}

pub fn password(secret: &[u8], out: &mut Vec<u8>) {
    message(b'p', out, |out| {
        out.extend_from_slice(secret);
        out.push(0);
    });
}

pub fn first_proof(mechanism: &str, proof: &[u8], out: &mut Vec<u8>) {
    message(b'p', out, |out| {
        text(mechanism, out);
        out.extend_from_slice(&length(proof.len()));
        out.extend_from_slice(proof);
    });
}

pub fn next_proof(proof: &[u8], out: &mut Vec<u8>) {
    message(b'p', out, |out| out.extend_from_slice(proof));
}

#[inline]
pub fn query(sql: &str, out: &mut Vec<u8>) {
    message(b'Q', out, |out| text(sql, out));
}

/// Prepares a statement under its number; the server infers the types of its parameters.
pub fn parse(number: usize, sql: &str, out: &mut Vec<u8>) {
    message(b'P', out, |out| {
        name(number, out);
        text(sql, out);
        out.extend_from_slice(&[0, 0]);
    });
}

/// Binds, executes and closes a statement prepared under that number. Values are transferred as
/// text.
#[inline]
pub fn execute(number: usize, arguments: Arguments<'_>, out: &mut Vec<u8>) {
    message(b'B', out, |out| {
        out.push(0);
        name(number, out);
        out.extend_from_slice(&[0, 0]);
        // Too many values saturate the count, which the server refuses.
        let count = u16::try_from(arguments.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&count.to_be_bytes());
        for argument in arguments.iter() {
            bind(argument, out);
        }
        out.extend_from_slice(&[0, 0]);
    });
    out.extend_from_slice(EXECUTE_AND_SYNC);
}

#[inline]
fn bind(argument: Argument<'_>, out: &mut Vec<u8>) {
    match argument {
        Argument::Null => out.extend_from_slice(&(-1i32).to_be_bytes()),
        Argument::Int(value) => bound(itoa::Buffer::new().format(value), out),
        Argument::Float(value) => {
            let start = out.len();
            out.extend_from_slice(&[0; 4]);
            // Writing to a vector cannot fail.
            let _ = write!(out, "{value:?}");
            let length = length(out.len() - start - 4);
            out[start..start + 4].copy_from_slice(&length);
        }
        Argument::Text(text) => bound(text, out),
    }
}

#[inline]
fn bound(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&length(text.len()));
    out.extend_from_slice(text.as_bytes());
}

pub fn copy_data(data: &[u8], out: &mut Vec<u8>) {
    message(b'd', out, |out| out.extend_from_slice(data));
}

pub fn copy_fail(why: &str, out: &mut Vec<u8>) {
    message(b'f', out, |out| text(why, out));
}

#[inline]
fn message(tag: u8, out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    sized(out, body);
}

/// Appends a length that includes itself, and the bytes it counts.
#[inline]
fn sized(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = length(out.len() - start);
    out[start..start + 4].copy_from_slice(&length);
}

/// A length too large for the field saturates, which the server refuses.
#[inline]
fn length(bytes: usize) -> [u8; 4] {
    u32::try_from(bytes).unwrap_or(u32::MAX).to_be_bytes()
}

#[inline]
fn name(number: usize, out: &mut Vec<u8>) {
    out.push(b's');
    text(itoa::Buffer::new().format(number), out);
}

#[inline]
fn text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::argument::ArgumentList;

    #[test]
    fn an_execution_is_three_messages() {
        let mut list = ArgumentList::default();
        list.int(-42);
        list.null();
        list.text(|text| text.push('ä'));
        list.float(1e300);
        let mut out = Vec::new();
        execute(7, list.range(0..3), &mut out);
        let expected = b"B\0\0\0\x1f\0s7\0\0\0\0\x03\0\0\0\x03-42\xff\xff\xff\xff\
            \0\0\0\x02\xc3\xa4\0\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";
        assert_eq!(
            out.escape_ascii().to_string(),
            expected.escape_ascii().to_string()
        );
        out.clear();
        execute(0, list.range(3..4), &mut out);
        assert!(out.starts_with(b"B\0\0\0\x17\0s0\0\0\0\0\x01\0\0\0\x051e300"));
    }

    #[test]
    fn statements_are_named_by_their_number() {
        let mut out = Vec::new();
        parse(12, "SELECT $1", &mut out);
        query("SELECT 1", &mut out);
        assert_eq!(out, b"P\0\0\0\x14s12\0SELECT $1\0\0\0Q\0\0\0\x0dSELECT 1\0");
    }
}
