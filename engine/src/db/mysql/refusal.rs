//! The server's refusals, and their kinds.
//!
//! In: a packet that begins with 0xff. Out: an error with the server's number and words. Called by
//! all packet readers.

use super::fields::MySqlFields;
use crate::db::error::{DbError, DbErrorKind};

/// The first byte of a refusal.
pub const SIGN: u8 = 0xff;

/// `packet` without its first byte.
#[cold]
pub fn read(packet: &[u8]) -> DbError {
    let mut fields = MySqlFields(packet);
    let code = match fields.u16() {
        Ok(code) => code,
        Err(error) => return error,
    };
    // Before the capabilities are negotiated there is no SQLSTATE.
    let text = match fields.0 {
        [b'#', _, _, _, _, _, text @ ..] => text,
        text => text,
    };
    let message = String::from_utf8_lossy(text);
    DbError::new(kind(code, &message), code.to_string(), message)
}

fn kind(code: u16, message: &str) -> DbErrorKind {
    match code {
        // Deadlock; a row has changed since it was read; duplicate key, as where another connection
        // inserts a row between this one's DELETE and INSERT.
        1213 | 1020 | 1062 => DbErrorKind::Conflict,
        1205 => DbErrorKind::LockTimeout,
        // The server shuts down, or somebody has killed the connection, or it was idle too long.
        1053 | 1158..=1161 | 1927 | 2006 | 2013 | 4031 => DbErrorKind::Lost,
        // Wrong password or database; refused host; no right to the table; account locked, password
        // expired.
        1044 | 1045 | 1129 | 1130 | 1142 | 1143 | 1227 | 1251 | 1698 | 1820 | 1862 | 3118
        | 4151 => DbErrorKind::Denied,
        1049 | 1146 => DbErrorKind::Missing,
        1021 | 1041 | 1114 => DbErrorKind::Full,
        // A failed write or storage engine, with this reason.
        3 | 1026 | 1030
            if message.contains("No space left on device") || message.contains("error 28") =>
        {
            DbErrorKind::Full
        }
        1040 | 1203 => DbErrorKind::TooMany,
        1461 => DbErrorKind::TooManyPrepared,
        _ => DbErrorKind::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_and_the_number_of_the_server_are_kept() {
        let error = read(b"\xbd\x04#40001Deadlock found");
        assert_eq!(
            error,
            DbError::new(DbErrorKind::Conflict, "1213", "Deadlock found")
        );
        let early = read(b"\x10\x04Too many connections");
        assert_eq!(
            early,
            DbError::new(DbErrorKind::TooMany, "1040", "Too many connections")
        );
        assert_eq!(read(b"\x10").kind, DbErrorKind::Protocol);
    }

    #[test]
    fn numbers_have_meanings() {
        assert_eq!(kind(1062, "Duplicate entry"), DbErrorKind::Conflict);
        assert_eq!(kind(1698, ""), DbErrorKind::Denied);
        assert_eq!(kind(1461, ""), DbErrorKind::TooManyPrepared);
        assert_eq!(
            kind(1030, "Got error 28 from storage engine"),
            DbErrorKind::Full
        );
        assert_eq!(
            kind(1030, "Got error 122 from storage engine"),
            DbErrorKind::Refused
        );
    }
}
