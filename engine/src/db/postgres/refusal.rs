//! The server's refusals.
//!
//! In: bodies of ErrorResponse. Out: errors, of a kind that follows from the SQLSTATE. Called by
//! `login` and `reply`.

use super::message::PostgresFields;
use crate::db::error::{DbError, DbErrorKind, DbResult};

pub fn refusal(body: &[u8]) -> DbResult<DbError> {
    let mut fields = PostgresFields(body);
    let (mut code, mut message) = (String::new(), String::new());
    loop {
        match fields.byte()? {
            0 => return Ok(DbError::new(kind(&code), code, message)),
            b'C' => code = fields.text()?,
            b'M' => message = fields.text()?,
            _ => drop(fields.text()?),
        }
    }
}

fn kind(code: &str) -> DbErrorKind {
    match code {
        // Deadlock, serialisation failure, duplicate key.
        "40P01" | "40001" | "23505" => DbErrorKind::Conflict,
        "55P03" => DbErrorKind::LockTimeout,
        // The only code of class 08 that a connection survives.
        "08P01" => DbErrorKind::Protocol,
        // Shut down, crashed, cannot connect now.
        "57P01" | "57P02" | "57P03" => DbErrorKind::Lost,
        "42P01" | "3D000" => DbErrorKind::Missing,
        "53100" => DbErrorKind::Full,
        "53300" => DbErrorKind::TooMany,
        _ if code.starts_with("08") => DbErrorKind::Lost,
        _ if code.starts_with("28") => DbErrorKind::Denied,
        _ => DbErrorKind::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_says_of_which_kind() {
        let body = b"SFEHLER\0VERROR\0C40P01\0Mdeadlock detected\0Dof two\0\0";
        let error = refusal(body).unwrap();
        assert_eq!(
            error,
            DbError::new(DbErrorKind::Conflict, "40P01", "deadlock detected")
        );
        for (code, expected) in [
            ("23505", DbErrorKind::Conflict),
            ("55P03", DbErrorKind::LockTimeout),
            ("08006", DbErrorKind::Lost),
            ("08P01", DbErrorKind::Protocol),
            ("57P01", DbErrorKind::Lost),
            ("57014", DbErrorKind::Refused),
            ("28P01", DbErrorKind::Denied),
            ("3D000", DbErrorKind::Missing),
            ("53100", DbErrorKind::Full),
            ("53300", DbErrorKind::TooMany),
            ("", DbErrorKind::Refused),
        ] {
            assert_eq!(kind(code), expected, "{code}");
        }
    }

    #[test]
    fn one_that_never_ends_is_an_error() {
        for body in [b"".as_slice(), b"C40P01", b"C40P01\0", b"M"] {
            assert_eq!(refusal(body).unwrap_err().kind, DbErrorKind::Protocol);
        }
    }
}
