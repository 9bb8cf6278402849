//! Lines of columns, as `COPY` and `LOAD DATA` read them.
//!
//! In: values of columns, one after another. Out: the lines of a chunk. Called by `rows`.

use std::fmt::Write;

use rand_xoshiro::Xoshiro256PlusPlus;

use super::draws::{between, percent, write_digits, write_letters, write_money};
use super::schema::TpccTable;
use crate::workload::fileio::distribution::below;
use crate::workload::sql::chunk::Chunk;

/// A chunk under way.
pub struct Lines(pub Chunk);

impl Lines {
    pub fn of(table: &'static TpccTable, rows: u64, bytes_of_a_row: usize) -> Lines {
        Lines(Chunk {
            name: table.name.to_string(),
            columns: table.columns(),
            rows: 0,
            lines: String::with_capacity(rows as usize * bytes_of_a_row),
        })
    }

    pub fn number(&mut self, value: u64) -> &mut Self {
        self.0.lines.push_str(itoa::Buffer::new().format(value));
        self.next()
    }

    pub fn word(&mut self, text: &str) -> &mut Self {
        self.0.lines.push_str(text);
        self.next()
    }

    pub fn money(&mut self, hundredths: i64) -> &mut Self {
        self.with(|text| write_money(hundredths, text))
    }

    /// A rate from 0 to `most` ten-thousandths.
    pub fn rate(&mut self, most: u64, rng: &mut Xoshiro256PlusPlus) -> &mut Self {
        let rate = between(0, most, rng);
        self.with(|text| {
            // Writing to a string cannot fail.
            let _ = write!(text, "0.{rate:04}");
        })
    }

    pub fn letters(&mut self, least: u64, most: u64, rng: &mut Xoshiro256PlusPlus) -> &mut Self {
        self.with(|text| write_letters(least, most, rng, text))
    }

    /// 26 to 50 letters, with ORIGINAL somewhere in one of ten.
    pub fn data(&mut self, rng: &mut Xoshiro256PlusPlus) -> &mut Self {
        self.with(|text| {
            let start = text.len();
            write_letters(26, 50, rng, text);
            if percent(10, rng) {
                let at = start + below((text.len() - start - 7) as u64, rng) as usize;
                text.replace_range(at..at + 8, "ORIGINAL");
            }
        })
    }

    /// Two streets, a city, a state and a postal code.
    pub fn address(&mut self, rng: &mut Xoshiro256PlusPlus) -> &mut Self {
        self.letters(10, 20, rng)
            .letters(10, 20, rng)
            .letters(10, 20, rng)
            .letters(2, 2, rng)
            .with(|text| {
                write_digits(4, rng, text);
                text.push_str("11111");
            })
    }

    pub fn with(&mut self, write: impl FnOnce(&mut String)) -> &mut Self {
        write(&mut self.0.lines);
        self.next()
    }

    fn next(&mut self) -> &mut Self {
        self.0.lines.push('\t');
        self
    }

    pub fn end(&mut self) {
        self.0.lines.pop();
        self.0.lines.push('\n');
        self.0.rows += 1;
    }
}
