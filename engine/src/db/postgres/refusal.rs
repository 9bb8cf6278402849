//! The server's refusals.
//!
//! In: bodies of ErrorResponse. Out: errors, of a kind that follows from the SQLSTATE. Called by
//! `login` and `reply`.

use super::message::Fields;
use crate::db::error::{DbError, Kind, Result};

pub fn refusal(body: &[u8]) -> Result<DbError> {
    let mut fields = Fields(body);
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

fn kind(code: &str) -> Kind {
    match code {
        // Deadlock, serialisation failure, duplicate key.
        "40P01" | "40001" | "23505" => Kind::Conflict,
        "55P03" => Kind::LockTimeout,
        // The only code of class 08 that a connection survives.
        "08P01" => Kind::Protocol,
        // Shut down, crashed, cannot connect now.
        "57P01" | "57P02" | "57P03" => Kind::Lost,
        "42P01" | "3D000" => Kind::Missing,
        "53100" => Kind::Full,
        "53300" => Kind::TooMany,
        _ if code.starts_with("08") => Kind::Lost,
        _ if code.starts_with("28") => Kind::Denied,
        _ => Kind::Refused,
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
            DbError::new(Kind::Conflict, "40P01", "deadlock detected")
        );
        for (code, expected) in [
            ("23505", Kind::Conflict),
            ("55P03", Kind::LockTimeout),
            ("08006", Kind::Lost),
            ("08P01", Kind::Protocol),
            ("57P01", Kind::Lost),
            ("57014", Kind::Refused),
            ("28P01", Kind::Denied),
            ("3D000", Kind::Missing),
            ("53100", Kind::Full),
            ("53300", Kind::TooMany),
            ("", Kind::Refused),
        ] {
            assert_eq!(kind(code), expected, "{code}");
        }
    }

    #[test]
    fn one_that_never_ends_is_an_error() {
        for body in [b"".as_slice(), b"C40P01", b"C40P01\0", b"M"] {
            assert_eq!(refusal(body).unwrap_err().kind, Kind::Protocol);
        }
    }
}
