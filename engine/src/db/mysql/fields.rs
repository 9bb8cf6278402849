//! Fields of a packet, one after another.
//!
//! In: untrusted bytes of the other side. Out: numbers and parts of these bytes, or an error that
//! the packet is too short. Used by all packet readers.

use crate::db::error::{DbError, DbResult};

#[derive(Debug, Clone, Copy)]
pub struct MySqlFields<'a>(pub &'a [u8]);

impl<'a> MySqlFields<'a> {
    pub fn take(&mut self, count: usize) -> DbResult<&'a [u8]> {
        let (field, remainder) = self.0.split_at_checked(count).ok_or_else(too_short)?;
        self.0 = remainder;
        Ok(field)
    }

    fn array<const N: usize>(&mut self) -> DbResult<[u8; N]> {
        let (field, remainder) = self.0.split_first_chunk().ok_or_else(too_short)?;
        self.0 = remainder;
        Ok(*field)
    }

    pub fn u8(&mut self) -> DbResult<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> DbResult<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> DbResult<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number whose first byte gives its length.
    pub fn number(&mut self) -> DbResult<u64> {
        match self.u8()? {
            short @ 0..=0xfa => Ok(short.into()),
            0xfc => self.u16().map(u64::from),
            0xfd => {
                let [low, middle, high] = self.array()?;
                Ok(u32::from_le_bytes([low, middle, high, 0]).into())
            }
            0xfe => self.array().map(u64::from_le_bytes),
            other => Err(DbError::protocol(format!(
                "the server sends {other:#04x} where a length should be"
            ))),
        }
    }

    /// Bytes preceded by their number.
    pub fn counted(&mut self) -> DbResult<&'a [u8]> {
        let count = usize::try_from(self.number()?).map_err(|_| too_short())?;
        self.take(count)
    }

    /// The same, or the sign for null.
    pub fn counted_or_null(&mut self) -> DbResult<Option<&'a [u8]>> {
        if self.0.first() == Some(&0xfb) {
            self.0 = &self.0[1..];
            return Ok(None);
        }
        self.counted().map(Some)
    }

    /// The bytes up to a zero byte, or all remaining ones.
    pub fn until_zero(&mut self) -> &'a [u8] {
        let mut parts = self.0.splitn(2, |&byte| byte == 0);
        let text = parts.next().unwrap_or_default();
        self.0 = parts.next().unwrap_or_default();
        text
    }
}

fn too_short() -> DbError {
    DbError::protocol("the server sends a packet that ends too early")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_long_as_they_say() {
        let bytes = [
            0xfa, 0xfc, 1, 2, 0xfd, 1, 2, 3, 0xfe, 1, 0, 0, 0, 0, 0, 0, 0x80,
        ];
        let mut fields = MySqlFields(&bytes);
        let numbers: Vec<_> = std::iter::from_fn(|| fields.number().ok()).collect();
        assert_eq!(numbers, [0xfa, 0x0201, 0x03_0201, 0x8000_0000_0000_0001]);
        assert!(fields.0.is_empty());
        assert!(MySqlFields(&[0xff]).number().is_err());
    }

    #[test]
    fn no_length_is_believed() {
        let claimed = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert!(MySqlFields(&claimed).counted().is_err());
        assert!(MySqlFields(&[3, 1, 2]).counted().is_err());
        assert_eq!(MySqlFields(&[0xfb, 1]).counted_or_null().unwrap(), None);
    }

    #[test]
    fn texts_end_with_a_zero_or_the_packet() {
        let mut fields = MySqlFields(b"ab\0cd");
        assert_eq!(
            (fields.until_zero(), fields.until_zero()),
            (&b"ab"[..], &b"cd"[..])
        );
        assert_eq!(fields.until_zero(), b"");
    }
}
