//! Rows of an answer as values, in the binary form of prepared statements or as text.
//!
//! In: whole packets of columns and rows. Out: values. Called by `answer` for statements whose rows
//! are needed.

use super::fields::MySqlFields;
use crate::db::error::{DbError, DbResult};
use crate::db::values::Values;

// Types of columns, as the protocol numbers them.
const TINY: u8 = 1;
const SHORT: u8 = 2;
const LONG: u8 = 3;
const FLOAT: u8 = 4;
const DOUBLE: u8 = 5;
const TIMESTAMP: u8 = 7;
const LONGLONG: u8 = 8;
const INT24: u8 = 9;
const DATE: u8 = 10;
const TIME: u8 = 11;
const DATETIME: u8 = 12;
const YEAR: u8 = 13;

/// What to do with the rows of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Collected {
    /// They are only counted.
    #[default]
    Nothing,
    Binary,
    Text,
}

#[derive(Debug, Default)]
pub struct RowCollector {
    pub form: Collected,
    pub values: Values,
    types: Vec<u8>,
}

impl RowCollector {
    #[inline]
    pub fn restart(&mut self, form: Collected) {
        self.form = form;
        if form != Collected::Nothing {
            self.values.clear();
            self.types.clear();
        }
    }

    /// A packet that describes a column.
    #[inline]
    pub fn column(&mut self, packet: &[u8]) -> DbResult<()> {
        let mut fields = MySqlFields(packet);
        for _ in 0..6 {
            fields.counted()?; // catalogue, database, and names
        }
        fields.take(1 + 2 + 4)?; // length of what follows, character set, width
        self.types.push(fields.u8()?);
        self.values.set_columns(self.types.len());
        Ok(())
    }

    #[inline]
    pub fn row(&mut self, packet: &[u8]) -> DbResult<()> {
        if self.form == Collected::Binary {
            return self.binary_row(packet);
        }
        let mut fields = MySqlFields(packet);
        for _ in 0..self.types.len() {
            match fields.counted_or_null()? {
                Some(bytes) => self.values.text(bytes),
                None => self.values.null(),
            }
        }
        Ok(())
    }

    fn binary_row(&mut self, packet: &[u8]) -> DbResult<()> {
        let mut fields = MySqlFields(packet);
        fields.take(1)?;
        // Two bits are reserved in front.
        let nulls = fields.take((self.types.len() + 2).div_ceil(8))?;
        for (index, &kind) in self.types.iter().enumerate() {
            if nulls[(index + 2) / 8] & (1 << ((index + 2) % 8)) != 0 {
                self.values.null();
                continue;
            }
            match kind {
                TINY => self.values.int(i64::from(fields.u8()? as i8)),
                SHORT | YEAR => self.values.int(i64::from(fields.u16()? as i16)),
                LONG | INT24 => self.values.int(i64::from(fields.u32()? as i32)),
                LONGLONG => {
                    let (low, high) = (fields.u32()?, fields.u32()?);
                    self.values
                        .int((u64::from(high) << 32 | u64::from(low)) as i64);
                }
                FLOAT => self.values.float(f64::from(f32::from_bits(fields.u32()?))),
                DOUBLE => {
                    let (low, high) = (fields.u32()?, fields.u32()?);
                    let bits = u64::from(high) << 32 | u64::from(low);
                    self.values.float(f64::from_bits(bits));
                }
                // No transaction computes with times.
                TIMESTAMP | DATE | TIME | DATETIME => {
                    let length = fields.u8()?;
                    fields.take(length.into())?;
                    self.values.null();
                }
                _ => self.values.text(fields.counted()?),
            }
        }
        Ok(())
    }
}

/// An answer whose rows are needed has small packets.
#[cold]
pub fn too_long(length: usize) -> DbError {
    DbError::protocol(format!("the server sends a row of {length} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: u8) -> Vec<u8> {
        let mut packet = b"\x03def\x01d\x01t\x01t\x01a\x01a\x0c\x21\0\x0b\0\0\0".to_vec();
        packet.extend([kind, 0, 0, 0, 0, 0]);
        packet
    }

    #[test]
    fn binary_rows_become_values() {
        let mut collector = RowCollector::default();
        collector.restart(Collected::Binary);
        for kind in [TINY, SHORT, LONG, LONGLONG, DOUBLE, DATETIME, 246, 253] {
            collector.column(&column(kind)).unwrap();
        }
        // The last column is null: bit 9 of the map.
        let mut row = vec![0, 0, 0b10, 0xff, 0xfe, 0xff, 0xfd, 0xff, 0xff, 0xff];
        row.extend((-4i64).to_le_bytes());
        row.extend(2.5f64.to_le_bytes());
        row.extend(b"\x04\xe8\x07\x01\x02\x0512.34");
        collector.row(&row).unwrap();
        let values = &collector.values;
        let wholes: Vec<_> = (0..4).map(|at| values.whole(0, at).unwrap()).collect();
        assert_eq!(wholes, [-1, -2, -3, -4]);
        assert_eq!(values.hundredths(0, 4), Ok(250));
        assert_eq!(values.text_at(0, 5), Ok(""));
        assert_eq!(values.hundredths(0, 6), Ok(1234));
        assert_eq!(values.text_at(0, 7), Ok(""));
    }

    #[test]
    fn text_rows_become_values_and_short_ones_are_refused() {
        let mut collector = RowCollector::default();
        collector.restart(Collected::Text);
        collector.column(&column(LONG)).unwrap();
        collector.column(&column(253)).unwrap();
        collector.row(b"\x0242\xfb").unwrap();
        assert_eq!(collector.values.whole(0, 0), Ok(42));
        assert_eq!(collector.values.text_at(0, 1), Ok(""));
        assert!(collector.row(b"\x0542").is_err());
        assert!(collector.column(b"\x03def").is_err());
        collector.restart(Collected::Binary);
        assert_eq!(collector.values.rows(), 0);
        collector.column(&column(LONGLONG)).unwrap();
        assert!(collector.row(&[0, 0, 1, 2, 3]).is_err());
    }
}
