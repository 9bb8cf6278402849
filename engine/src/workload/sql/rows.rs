//! The rows of sysbench's tables: the choice of rows, and their content.
//!
//! In: the job's distribution, a random generator. Out: row numbers from 1, and texts. Called by
//! `oltp` and `prepare`.

use std::f64::consts::LOG10_2;

use rand_core::RngCore;

use crate::job::sql::{Oltp, RowDistribution};
use crate::workload::fileio::distribution::{BlockDistribution, Shape, below, unit};

/// Bytes of the values of a row: two numbers, and texts of 120 and 60.
pub const ROW_BYTES: u64 = 4 + 4 + 120 + 60;

const C_GROUPS: usize = 10;
const PAD_GROUPS: usize = 5;
const DIGITS: usize = 11;

/// Draws the numbers of rows, from 1 to the size of a table.
#[derive(Debug, Clone)]
pub enum RowNumbers {
    Special { rows: u64 },
    Other(BlockDistribution),
}

impl RowNumbers {
    pub fn of(oltp: &Oltp) -> RowNumbers {
        let shape = match oltp.distribution {
            RowDistribution::Special => {
                return RowNumbers::Special {
                    rows: oltp.table_size,
                };
            }
            RowDistribution::Uniform => Shape::Uniform,
            RowDistribution::Pareto => Shape::Pareto { h: oltp.pareto_h },
            RowDistribution::Zipf => Shape::Zipf {
                exponent: oltp.zipf_exponent,
            },
        };
        RowNumbers::Other(BlockDistribution::new(shape, oltp.table_size))
    }

    #[inline]
    pub fn draw(&self, rng: &mut impl RngCore) -> u64 {
        match self {
            RowNumbers::Special { rows } => special(*rows, rng),
            RowNumbers::Other(distribution) => 1 + distribution.draw(rng),
        }
    }
}

/// sysbench's special distribution. One draw of four is the mean of twelve uniform draws, which is
/// nearly normal. Three of four are uniform over the hundredth of the rows in the middle.
fn special(rows: u64, rng: &mut impl RngCore) -> u64 {
    const NORMAL_OF: u32 = 12;
    let drawn = below(4 * rows, rng);
    let row = if drawn < rows {
        let sum: f64 = (0..NORMAL_OF).map(|_| unit(rng)).sum();
        (sum / f64::from(NORMAL_OF) * rows as f64) as u64
    } else {
        let middle_rows = (rows / 100).max(1);
        rows / 2 - middle_rows / 2 + (drawn - rows) % middle_rows
    };
    1 + row.min(rows - 1)
}

/// Appends the content of column `c`: ten groups of eleven digits.
#[inline]
pub fn write_c(text: &mut String, rng: &mut impl RngCore) {
    write_groups(C_GROUPS, text, rng);
}

/// Appends the content of column `pad`: five groups of eleven digits.
#[inline]
pub fn write_pad(text: &mut String, rng: &mut impl RngCore) {
    write_groups(PAD_GROUPS, text, rng);
}

fn write_groups(groups: usize, text: &mut String, rng: &mut impl RngCore) {
    for group in 0..groups {
        if group > 0 {
            text.push('-');
        }
        let mut digits = [b'0'; DIGITS];
        write_digits(&mut digits, rng);
        for digit in digits {
            text.push(char::from(digit));
        }
    }
}

/// Uniform digits: 64 random bits give 19 good digits, of which eleven are used.
fn write_digits(digits: &mut [u8; DIGITS], rng: &mut impl RngCore) {
    const _: () = assert!((DIGITS as f64) < 60.0 * LOG10_2);
    let mut number = below(10u64.pow(DIGITS as u32), rng);
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn rng() -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(1)
    }

    #[test]
    fn texts_have_the_form_and_length_of_sysbench() {
        let mut text = String::new();
        write_c(&mut text, &mut rng());
        assert_eq!(text.len(), 119);
        assert!(
            text.split('-')
                .all(|group| group.len() == 11 && group.bytes().all(|b| b.is_ascii_digit()))
        );
        text.clear();
        write_pad(&mut text, &mut rng());
        assert_eq!((text.len(), text.split('-').count()), (59, 5));
    }

    #[test]
    fn special_asks_three_of_four_times_for_the_hundredth_in_the_middle() {
        let (rows, draws) = (10_000, 100_000);
        let mut rng = rng();
        let drawn: Vec<u64> = (0..draws).map(|_| special(rows, &mut rng)).collect();
        assert!(drawn.iter().all(|&row| (1..=rows).contains(&row)));
        let middle = drawn.iter().filter(|&&row| (4951..=5050).contains(&row));
        let share = middle.count() as f64 / f64::from(draws);
        // A quarter is normal around the middle too, with a deviation of 1/12 of the rows: 1.2 % of
        // it.
        assert!((share - 0.7621).abs() < 0.006, "{share}");
        for rows in [1, 2, 50] {
            assert!((0..1000).all(|_| (1..=rows).contains(&special(rows, &mut rng))));
        }
    }
}
