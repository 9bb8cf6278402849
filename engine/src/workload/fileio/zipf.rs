//! Zipf's law: ranks drawn in proportion to 1 / rank^exponent.
//!
//! In: the number of ranks, the exponent, a random generator. Out: ranks, in constant time and
//! memory. Called by `distribution`.
//!
//! Rejection-inversion (W. Hörmann, G. Derflinger: "Rejection-inversion to generate variates from
//! monotone discrete distributions", ACM TOMACS 6(3), 1996). A point under the curve x^-exponent is
//! found by inverting its integral. It is rejected where the curve lies above the bar of its rank.
//! Fewer than one draw in fifty is rejected, for any exponent and number of ranks.

use rand_core::RngCore;

use super::distribution::unit;

#[derive(Debug, Clone, Copy)]
pub struct Zipf {
    exponent: f64,
    blocks: f64,
    /// The integral at the left end, including the whole bar of rank 1, and at the right end.
    first: f64,
    last: f64,
    /// Within this distance of a rank, no point is rejected.
    safe: f64,
}

impl Zipf {
    /// `blocks` and `exponent` must be above 0.
    pub fn new(blocks: u64, exponent: f64) -> Zipf {
        let mut zipf = Zipf {
            exponent,
            blocks: blocks as f64,
            first: 0.0,
            last: 0.0,
            safe: 0.0,
        };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.last = zipf.integral(blocks as f64 + 0.5);
        zipf.safe = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.bar(2.0));
        zipf
    }

    /// The drawn rank from 0, the most frequent.
    pub fn rank(&self, rng: &mut impl RngCore) -> u64 {
        loop {
            let area = self.last + unit(rng) * (self.first - self.last);
            let point = self.inverse(area);
            let rank = point.round().clamp(1.0, self.blocks);
            if rank - point <= self.safe || area >= self.integral(rank + 0.5) - self.bar(rank) {
                return rank as u64 - 1;
            }
        }
    }

    fn bar(&self, rank: f64) -> f64 {
        rank.powf(-self.exponent)
    }

    /// The integral of x^-exponent from 1, in a form that stays exact for exponents near 1.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let t = (1.0 - self.exponent) * log;
        if t == 0.0 { log } else { t.exp_m1() / t * log }
    }

    fn inverse(&self, area: f64) -> f64 {
        let slope = 1.0 - self.exponent;
        // Rounding may give a value slightly below -1, which is the end of the curve.
        let t = (area * slope).max(-1.0);
        if slope.abs() > 1e-4 {
            (1.0 + t).powf(1.0 / slope)
        } else {
            // The same as a series in t: exact where the power would have the form 1^infinity.
            (area * (1.0 - t / 2.0 + t * t / 3.0)).exp()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    const DRAWS: u64 = 40_000;

    proptest! {
        #[test]
        fn shares_follow_the_formula(
            exponent in prop_oneof![0.05f64..3.0, Just(1.0), 0.999f64..1.001, 0.99999f64..1.00001],
            blocks in 1u64..2000, part in 0.0f64..1.0, seed in any::<u64>(),
        ) {
            let ranks = 1 + (part * (blocks - 1) as f64) as u64;
            let sum = |to| (1..=to).map(|k| (k as f64).powf(-exponent)).sum::<f64>();
            let expected = (sum(ranks) / sum(blocks)).min(1.0);
            let zipf = Zipf::new(blocks, exponent);
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let hits = (0..DRAWS).filter(|_| zipf.rank(&mut rng) < ranks).count();
            let measured = hits as f64 / DRAWS as f64;
            // Six standard errors. The added term covers shares of a few draws, which are not
            // normal.
            let error = (expected * (1.0 - expected) / DRAWS as f64).sqrt();
            prop_assert!((measured - expected).abs() <= 6.0 * error + 10.0 / DRAWS as f64,
                "{measured}, wanted {expected}");
        }
    }
}
