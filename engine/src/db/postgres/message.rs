//! Messages of the server: their boundaries and fields.
//!
//! In: received bytes. Out: tags, bodies, fields. A length is only accepted where the bytes match
//! it. Called by `login`, `reply` and `refusal`.

use crate::db::error::{DbError, DbResult};

/// A tag and a length.
pub const HEADER: usize = 5;

/// The length limit of a message that is parsed as a whole. Rows are parsed in parts; all other
/// messages are short. A longer one means that this is no PostgreSQL.
const LONGEST: usize = 4 << 20;

/// The tag of the first message, and the length of its body.
#[inline]
pub fn header(bytes: &[u8]) -> DbResult<Option<(u8, usize)>> {
    let Some(&[tag, a, b, c, d]) = bytes.first_chunk() else {
        return Ok(None);
    };
    match i32::from_be_bytes([a, b, c, d]) {
        length @ 4.. => Ok(Some((tag, length as usize - 4))),
        length => Err(DbError::protocol(format!(
            "the server sent a message {} of length {length}",
            tag.escape_ascii()
        ))),
    }
}

/// Tag and body of the first message, once it is complete.
pub fn whole(bytes: &[u8]) -> DbResult<Option<(u8, &[u8])>> {
    let Some((tag, length)) = header(bytes)? else {
        return Ok(None);
    };
    if length > LONGEST && tag != b'D' {
        return Err(DbError::protocol(format!(
            "the server sent a message {} of {length} bytes",
            tag.escape_ascii()
        )));
    }
    let body = bytes.get(HEADER..HEADER + length);
    Ok(body.map(|body| (tag, body)))
}

pub fn unknown(tag: u8) -> DbError {
    DbError::protocol(format!(
        "the server sent a message {}, which is not expected here",
        tag.escape_ascii()
    ))
}

/// The remaining bytes of a body.
#[derive(Debug, Clone, Copy)]
pub struct PostgresFields<'a>(pub &'a [u8]);

impl<'a> PostgresFields<'a> {
    pub fn bytes(&mut self, count: usize) -> DbResult<&'a [u8]> {
        let (first, remainder) = self.0.split_at_checked(count).ok_or_else(too_short)?;
        self.0 = remainder;
        Ok(first)
    }

    pub fn byte(&mut self) -> DbResult<u8> {
        self.bytes(1).map(|bytes| bytes[0])
    }

    pub fn short(&mut self) -> DbResult<i16> {
        let (&first, remainder) = self.0.split_first_chunk().ok_or_else(too_short)?;
        self.0 = remainder;
        Ok(i16::from_be_bytes(first))
    }

    pub fn int(&mut self) -> DbResult<i32> {
        let (&first, remainder) = self.0.split_first_chunk().ok_or_else(too_short)?;
        self.0 = remainder;
        Ok(i32::from_be_bytes(first))
    }

    /// The bytes up to a zero, without it.
    pub fn text(&mut self) -> DbResult<String> {
        let end = self.0.iter().position(|&byte| byte == 0);
        let text = self.bytes(end.ok_or_else(too_short)?)?;
        self.byte()?;
        Ok(String::from_utf8_lossy(text).into_owned())
    }
}

fn too_short() -> DbError {
    DbError::protocol("the server sent a message that ends too early")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::error::DbErrorKind;

    #[test]
    fn a_message_is_whole_when_all_of_it_has_come() {
        let bytes = b"Z\0\0\0\x05IC";
        for end in 0..6 {
            assert_eq!(whole(&bytes[..end]).unwrap(), None);
        }
        assert_eq!(whole(bytes).unwrap(), Some((b'Z', b"I".as_slice())));
    }

    #[test]
    fn what_no_postgres_sends_is_an_error() {
        for bytes in [b"Z\0\0\0\x03", b"Z\xff\xff\xff\xff", b"HTTP/"] {
            assert_eq!(whole(bytes).unwrap_err().kind, DbErrorKind::Protocol);
        }
        assert_eq!(whole(b"D\x7f\xff\xff\xff").unwrap(), None);
    }

    #[test]
    fn fields_end_with_the_body() {
        let mut fields = PostgresFields(b"ab\0\x01\x02\0\0\0\x09z");
        assert_eq!(fields.text().unwrap(), "ab");
        assert_eq!(fields.short().unwrap(), 0x0102);
        assert_eq!(fields.int().unwrap(), 9);
        assert!(fields.clone().text().is_err() && fields.short().is_err());
        assert_eq!(fields.byte().unwrap(), b'z');
        assert!(fields.byte().is_err());
    }
}
