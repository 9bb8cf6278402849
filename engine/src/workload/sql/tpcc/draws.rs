//! The random values of TPC-C: numbers, names and texts. Clauses are those of revision 5.11.
//!
//! In: a random generator. Out: values. Called by `script` and `rows`.

use rand_core::RngCore;

use crate::workload::fileio::distribution::below;

pub const DISTRICTS: u64 = 10;
pub const CUSTOMERS: u64 = 3_000;
pub const ITEMS: u64 = 100_000;
/// Orders of a district that are loaded; those from `FIRST_UNDELIVERED` on are new.
pub const ORDERS: u64 = 3_000;
pub const FIRST_UNDELIVERED: u64 = 2_101;
pub const LAST_NAMES: u64 = 1_000;

/// The constants C of clause 2.1.6. That of last names differs between load and run by 69, which
/// clause 2.1.6.1 allows: 65 to 119, except for 96 and 112.
const C_LAST_LOADED: u64 = 157;
const C_LAST: u64 = 226;
const C_CUSTOMER: u64 = 259;
const C_ITEM: u64 = 7_911;

const SYLLABLES: [&str; 10] = [
    "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING",
];
const LETTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// A whole number from `low` to `high`, uniform.
#[inline]
pub fn between(low: u64, high: u64, rng: &mut impl RngCore) -> u64 {
    low + below(high - low + 1, rng)
}

/// Whether something of this share in percent happens.
#[inline]
pub fn percent(share: u64, rng: &mut impl RngCore) -> bool {
    below(100, rng) < share
}

/// NURand of clause 2.1.6.
#[inline]
fn non_uniform(a: u64, c: u64, low: u64, high: u64, rng: &mut impl RngCore) -> u64 {
    let drawn = between(0, a, rng) | between(low, high, rng);
    (drawn + c) % (high - low + 1) + low
}

pub fn customer(rng: &mut impl RngCore) -> u64 {
    non_uniform(1_023, C_CUSTOMER, 1, CUSTOMERS, rng)
}

pub fn item(rng: &mut impl RngCore) -> u64 {
    non_uniform(8_191, C_ITEM, 1, ITEMS, rng)
}

/// The number of a last name, as transactions draw it.
pub fn last_name(rng: &mut impl RngCore) -> u64 {
    non_uniform(255, C_LAST, 0, LAST_NAMES - 1, rng)
}

/// The number of the last name of a customer that is loaded: the first have one of each.
pub fn loaded_last_name(customer: u64, rng: &mut impl RngCore) -> u64 {
    match customer {
        1..=LAST_NAMES => customer - 1,
        _ => non_uniform(255, C_LAST_LOADED, 0, LAST_NAMES - 1, rng),
    }
}

/// Three syllables for the three digits of a number (clause 4.3.2.3).
pub fn write_last_name(number: u64, text: &mut String) {
    for digit in [number / 100, number / 10 % 10, number % 10] {
        text.push_str(SYLLABLES[digit as usize]);
    }
}

/// Letters and digits, `least` to `most` of them.
pub fn write_letters(least: u64, most: u64, rng: &mut impl RngCore, text: &mut String) {
    write_some(LETTERS, between(least, most, rng), rng, text);
}

pub fn write_digits(count: u64, rng: &mut impl RngCore, text: &mut String) {
    write_some(&LETTERS[52..], count, rng, text);
}

/// Ten letters from each random word, whose remainders are uniform to within 10^-17.
fn write_some(letters: &[u8], count: u64, rng: &mut impl RngCore, text: &mut String) {
    let of = letters.len() as u64;
    let mut left = count;
    while left > 0 {
        let mut word = rng.next_u64();
        for _ in 0..left.min(4) {
            // The upper part of a product is uniform, and the lower part is a new word.
            let product = u128::from(word) * u128::from(of);
            text.push(letters[(product >> 64) as usize] as char);
            word = product as u64;
        }
        left -= left.min(4);
    }
}

/// An amount in hundredths, with two places.
pub fn write_money(hundredths: i64, text: &mut String) {
    let sign = if hundredths < 0 { "-" } else { "" };
    let amount = hundredths.unsigned_abs();
    // Writing to a string cannot fail.
    let _ = std::fmt::Write::write_fmt(
        text,
        format_args!("{sign}{}.{:02}", amount / 100, amount % 100),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::generator;

    /// The probability of each value of NURand(a, low, high) before the constant is added, by its
    /// definition: both numbers are uniform.
    fn shares(a: u64, low: u64, high: u64) -> Vec<f64> {
        let mut shares = vec![0.0; (high - low + 1) as usize];
        let each = 1.0 / ((a + 1) * (high - low + 1)) as f64;
        for first in 0..=a {
            for second in low..=high {
                shares[((first | second) % (high - low + 1)) as usize] += each;
            }
        }
        shares
    }

    /// Pearson's chi-square against the specification's formula, in standard deviations from its
    /// mean; values that are rare are counted together.
    fn distance(
        drawn: impl Fn(&mut rand_xoshiro::Xoshiro256PlusPlus) -> u64,
        shares: &[f64],
    ) -> f64 {
        let draws = 1_000_000;
        let mut counts = vec![0u64; shares.len()];
        let mut rng = generator(11, 3);
        for _ in 0..draws {
            counts[drawn(&mut rng) as usize] += 1;
        }
        let (mut sum, mut cells) = (0.0, 0.0);
        let (mut rare, mut rare_expected) = (0.0, 0.0);
        for (&count, share) in counts.iter().zip(shares) {
            let expected = share * f64::from(draws);
            if expected < 10.0 {
                rare += count as f64;
                rare_expected += expected;
                continue;
            }
            sum += (count as f64 - expected).powi(2) / expected;
            cells += 1.0;
        }
        if rare_expected > 0.0 {
            sum += (rare - rare_expected).powi(2) / rare_expected;
            cells += 1.0;
        }
        let freedom = cells - 1.0;
        (sum - freedom) / (2.0 * freedom).sqrt()
    }

    #[test]
    fn numbers_are_distributed_as_specified() {
        let of_names = shares(255, 0, 999);
        let names = distance(|rng| (last_name(rng) + 1_000 - C_LAST) % 1_000, &of_names);
        let loaded = distance(
            |rng| (loaded_last_name(2_000, rng) + 1_000 - C_LAST_LOADED) % 1_000,
            &of_names,
        );
        let customers = distance(
            |rng| (customer(rng) - 1 + CUSTOMERS - C_CUSTOMER) % CUSTOMERS,
            &shares(1_023, 1, CUSTOMERS),
        );
        for distance in [names, loaded, customers] {
            assert!(distance.abs() < 5.0, "{names} {loaded} {customers}");
        }
    }

    #[test]
    fn constants_keep_the_distance_that_is_asked() {
        let difference = C_LAST - C_LAST_LOADED;
        assert!((65..=119).contains(&difference) && ![96, 112].contains(&difference));
        const { assert!(C_LAST <= 255 && C_CUSTOMER <= 1_023 && C_ITEM <= 8_191) };
        let mut rng = generator(1, 1);
        let items: Vec<u64> = (0..100_000).map(|_| item(&mut rng)).collect();
        assert!(items.iter().all(|item| (1..=ITEMS).contains(item)));
    }

    #[test]
    fn texts_are_as_specified() {
        let mut name = String::new();
        write_last_name(371, &mut name);
        assert_eq!(name, "PRICALLYOUGHT");
        let mut rng = generator(5, 5);
        let (mut letters, mut digits) = (String::new(), String::new());
        for _ in 0..100 {
            let before = letters.len();
            write_letters(26, 50, &mut rng, &mut letters);
            assert!((26..=50).contains(&(letters.len() - before)));
        }
        write_digits(1_000, &mut rng, &mut digits);
        assert!(digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.len() == 1_000);
        assert!(
            LETTERS
                .iter()
                .all(|&letter| letters.contains(letter as char))
        );
        let mut money = String::new();
        for amount in [5, -1_000, 123_456] {
            write_money(amount, &mut money);
            money.push(' ');
        }
        assert_eq!(money, "0.05 -10.00 1234.56 ");
    }
}
