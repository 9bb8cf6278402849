//! The mix of reads and writes: selects the writes among the numbered requests.
//!
//! In: reads per write, as in the job. Out: for each request number whether it writes. The mix is
//! evenly spread and exact, not drawn, so that no trial has more writes by chance. Called by
//! `requests`.

/// `writes` of every `period` requests are writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadWriteMix {
    writes: u64,
    period: u64,
}

/// Ratios such as 1.5 or 2.333 are exact with denominators up to this value.
const MAX_DENOMINATOR: u64 = 10_000;

impl ReadWriteMix {
    pub const READS: ReadWriteMix = ReadWriteMix {
        writes: 0,
        period: 1,
    };
    pub const WRITES: ReadWriteMix = ReadWriteMix {
        writes: 1,
        period: 1,
    };

    /// 0.2 is one write in five requests.
    pub fn of_share(writes: f64) -> ReadWriteMix {
        if writes > 0.0 {
            ReadWriteMix::of_ratio((1.0 - writes).max(0.0) / writes)
        } else {
            ReadWriteMix::READS
        }
    }

    /// 1.5 reads per write is 3 to 2: two of five requests write.
    pub fn of_ratio(reads_per_write: f64) -> ReadWriteMix {
        let (reads, writes) = fraction(reads_per_write);
        ReadWriteMix {
            writes,
            period: reads + writes,
        }
    }

    #[inline]
    pub fn is_write(&self, request: u64) -> bool {
        // Avoids a division where all requests are of one kind.
        if self.period == 1 {
            return self.writes == 1;
        }
        let position = request % self.period;
        (position + 1) * self.writes / self.period > position * self.writes / self.period
    }
}

/// The simplest fraction for a non-negative number. Its continued fraction is cut where the value
/// is exact or the next denominator would be too large.
fn fraction(value: f64) -> (u64, u64) {
    let (mut numerator, mut last_numerator) = (1u64, 0u64);
    let (mut denominator, mut last_denominator) = (0u64, 1u64);
    let mut remainder = value;
    loop {
        let whole = remainder.floor();
        let next = |current: u64, last: u64| (whole as u64) * current + last;
        let next_denominator = next(denominator, last_denominator);
        if next_denominator > MAX_DENOMINATOR {
            break;
        }
        (numerator, last_numerator) = (next(numerator, last_numerator), numerator);
        (denominator, last_denominator) = (next_denominator, denominator);
        let is_close = (numerator as f64 / denominator as f64 - value).abs() <= value * 1e-9;
        if is_close || remainder - whole < 1e-9 {
            break;
        }
        remainder = 1.0 / (remainder - whole);
    }
    (numerator, denominator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn three_reads_to_two_writes() {
        let mix = ReadWriteMix::of_ratio(1.5);
        let writes: Vec<bool> = (0..5).map(|request| mix.is_write(request)).collect();
        assert_eq!(writes, [false, false, true, false, true]);
    }

    #[test]
    fn no_reads_is_all_writes() {
        let mix = ReadWriteMix::of_ratio(0.0);
        assert!((0..100).all(|request| mix.is_write(request)));
    }

    #[test]
    fn a_share_of_writes_is_met() {
        for (share, expected) in [(0.0, 0), (0.2, 20), (0.5, 50), (1.0, 100)] {
            let mix = ReadWriteMix::of_share(share);
            let writes = (0..100).filter(|&request| mix.is_write(request)).count();
            assert_eq!(writes, expected);
        }
    }

    #[test]
    fn common_ratios_are_exact() {
        for (ratio, expected) in [
            (1.5, (3, 2)),
            (2.0, (2, 1)),
            (0.25, (1, 4)),
            (2.333, (2333, 1000)),
        ] {
            assert_eq!(fraction(ratio), expected);
        }
    }

    proptest! {
        #[test]
        fn the_ratio_is_honoured_in_the_long_run_and_all_along(ratio in 0.05f64..50.0) {
            let mix = ReadWriteMix::of_ratio(ratio);
            let share = 1.0 / (1.0 + ratio);
            let mut writes = 0u64;
            for request in 0..50_000u64 {
                writes += u64::from(mix.is_write(request));
                let expected = share * (request + 1) as f64;
                prop_assert!((writes as f64 - expected).abs() <= 1.5, "{writes} of {}", request + 1);
            }
        }
    }
}
