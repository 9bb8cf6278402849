//! Values of returned rows, for statements whose answer decides what comes next.
//!
//! In: cells as the connections decode them, appended to one reused buffer. Out: numbers and texts
//! by row and column. Written by the connections, read by `workload::sql`.

use super::argument::{Argument, ArgumentList};
use super::error::{DbError, DbResult};

#[derive(Debug, Clone, Default)]
pub struct Values {
    columns: usize,
    cells: ArgumentList,
}

impl Values {
    /// Expects the rows of another answer.
    #[inline]
    pub fn clear(&mut self) {
        self.columns = 0;
        self.cells.clear();
    }

    pub fn set_columns(&mut self, columns: usize) {
        self.columns = columns;
    }

    #[inline]
    pub fn null(&mut self) {
        self.cells.null();
    }

    #[inline]
    pub fn int(&mut self, value: i64) {
        self.cells.int(value);
    }

    pub fn float(&mut self, value: f64) {
        self.cells.float(value);
    }

    /// A text of the server; bytes that are no UTF-8 become replacement characters.
    #[inline]
    pub fn text(&mut self, bytes: &[u8]) {
        self.cells
            .text(|text| text.push_str(&String::from_utf8_lossy(bytes)));
    }

    pub fn rows(&self) -> usize {
        self.cells.len().checked_div(self.columns).unwrap_or(0)
    }

    #[inline]
    fn cell(&self, row: usize, column: usize) -> DbResult<Argument<'_>> {
        if column >= self.columns || row >= self.rows() {
            let message = format!("row {row} and column {column} are missing from an answer");
            return Err(DbError::protocol(message));
        }
        let at = row * self.columns + column;
        let mut cells = self.cells.range(at..at + 1).iter();
        cells.next().ok_or_else(|| unreadable("nothing"))
    }

    /// A whole number, also one sent as text.
    #[inline]
    pub fn whole(&self, row: usize, column: usize) -> DbResult<i64> {
        match self.cell(row, column)? {
            Argument::Int(value) => Ok(value),
            Argument::Text(text) => text.trim().parse().map_err(|_| unreadable(text)),
            other => Err(unreadable(&format!("{other:?}"))),
        }
    }

    /// A decimal number with two places, in hundredths: money.
    #[inline]
    pub fn hundredths(&self, row: usize, column: usize) -> DbResult<i64> {
        match self.cell(row, column)? {
            Argument::Int(value) => Ok(value * 100),
            Argument::Float(value) => Ok((value * 100.0).round() as i64),
            Argument::Text(text) => hundredths(text).ok_or_else(|| unreadable(text)),
            Argument::Null => Err(unreadable("null")),
        }
    }

    /// A text; empty for null.
    #[inline]
    pub fn text_at(&self, row: usize, column: usize) -> DbResult<&str> {
        match self.cell(row, column)? {
            Argument::Text(text) => Ok(text),
            Argument::Null => Ok(""),
            other => Err(unreadable(&format!("{other:?}"))),
        }
    }
}

fn hundredths(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let mut part = part.bytes().take(2);
    let mut digit = || match part.next() {
        None => Some(0),
        Some(byte) if byte.is_ascii_digit() => Some(i64::from(byte - b'0')),
        Some(_) => None,
    };
    let places = 10 * digit()? + digit()?;
    let whole: i64 = whole.parse().ok()?;
    Some(sign * (whole.checked_mul(100)? + places))
}

#[cold]
fn unreadable(text: &str) -> DbError {
    DbError::protocol(format!("the server sends {text:?} for a number or a text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_found_by_row_and_column() {
        let mut values = Values::default();
        assert_eq!(values.rows(), 0);
        values.set_columns(2);
        values.int(7);
        values.text(b"ab");
        values.text(b"-8");
        values.null();
        assert_eq!(values.rows(), 2);
        assert_eq!((values.whole(0, 0), values.whole(1, 0)), (Ok(7), Ok(-8)));
        assert_eq!(
            (values.text_at(0, 1), values.text_at(1, 1)),
            (Ok("ab"), Ok(""))
        );
        assert!(values.whole(2, 0).is_err() && values.whole(0, 1).is_err());
        assert!(values.text_at(0, 2).is_err() && values.hundredths(1, 1).is_err());
        values.clear();
        assert_eq!(values.rows(), 0);
    }

    #[test]
    fn money_is_in_hundredths() {
        for (text, cents) in [
            ("12.34", 1234),
            ("-0.5", -50),
            ("7", 700),
            ("-10.00", -1000),
        ] {
            assert_eq!(hundredths(text), Some(cents), "{text}");
        }
        for text in ["", "a", "1.x", "99999999999999999999"] {
            assert_eq!(hundredths(text), None, "{text}");
        }
    }
}
