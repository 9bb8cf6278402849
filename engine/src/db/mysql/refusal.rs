//! The server's refusals, and their kinds.
//!
//! In: a packet that begins with 0xff. Out: an error with the server's number and words. Called by
//! all packet readers.

use super::fields::Fields;
use crate::db::error::{DbError, Kind};

/// The first byte of a refusal.
pub const SIGN: u8 = 0xff;

/// `packet` without its first byte.
#[cold]
pub fn read(packet: &[u8]) -> DbError {
    let mut fields = Fields(packet);
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

fn kind(code: u16, message: &str) -> Kind {
    match code {
        // Deadlock; a row has changed since it was read; duplicate key, as where another connection
        // inserts a row between this one's DELETE and INSERT.
        1213 | 1020 | 1062 => Kind::Conflict,
        1205 => Kind::LockTimeout,
        // The server shuts down, or somebody has killed the connection, or it was idle too long.
        1053 | 1158..=1161 | 1927 | 2006 | 2013 | 4031 => Kind::Lost,
        // Wrong password or database; refused host; no right to the table; account locked, password
        // expired.
        1044 | 1045 | 1129 | 1130 | 1142 | 1143 | 1227 | 1251 | 1698 | 1820 | 1862 | 3118
        | 4151 => Kind::Denied,
        1049 | 1146 => Kind::Missing,
        1021 | 1041 | 1114 => Kind::Full,
        // A failed write or storage engine, with this reason.
        3 | 1026 | 1030
            if message.contains("No space left on device") || message.contains("error 28") =>
        {
            Kind::Full
        }
        1040 | 1203 => Kind::TooMany,
        _ => Kind::Refused,
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
            DbError::new(Kind::Conflict, "1213", "Deadlock found")
        );
        let early = read(b"\x10\x04Too many connections");
        assert_eq!(
            early,
            DbError::new(Kind::TooMany, "1040", "Too many connections")
        );
        assert_eq!(read(b"\x10").kind, Kind::Protocol);
    }

    #[test]
    fn numbers_have_meanings() {
        assert_eq!(kind(1062, "Duplicate entry"), Kind::Conflict);
        assert_eq!(kind(1698, ""), Kind::Denied);
        assert_eq!(kind(1030, "Got error 28 from storage engine"), Kind::Full);
        assert_eq!(
            kind(1030, "Got error 122 from storage engine"),
            Kind::Refused
        );
    }
}
