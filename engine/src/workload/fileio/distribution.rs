//! Distributions: the choice of a block for a random request.
//!
//! In: the number of blocks, the shape, a random generator. Out: block numbers. Called by
//! `requests`.
//!
//! A skewed shape draws a rank in constant time and without a table; rank 0 is the most frequent
//! block. A fixed bijection then scatters ranks over the blocks. In a database, hot pages lie all
//! over the files. A hot range at their start would measure the cache of one region. The bijection
//! does not depend on the seed, so a block that is hot in one trial is hot in the next.

use rand_core::RngCore;

use super::zipf::Zipf;
use crate::job::Access;
use crate::job::files::Distribution as Kind;

/// The parameters of a shape, besides the number of blocks; the job has checked the ranges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    Uniform,
    /// The block of rank k (from 1) gets requests in proportion to 1 / k^exponent.
    Zipf {
        exponent: f64,
    },
    /// sysbench's Pareto: a share h of the blocks gets a share 1 - h of the requests, and the same
    /// again within that share.
    Pareto {
        h: f64,
    },
    /// A part of the blocks gets a share of the requests; both parts are uniform in themselves.
    Hotspot {
        part: f64,
        share: f64,
    },
}

#[derive(Debug, Clone)]
pub struct BlockDistribution {
    blocks: u64,
    ranks: Ranks,
    scatter: Scatter,
}

#[derive(Debug, Clone)]
enum Ranks {
    Uniform,
    Zipf(Zipf),
    Pareto { power: f64 },
    Hotspot { hot_blocks: u64, threshold: u64 },
}

impl Shape {
    pub fn of(access: &Access) -> Shape {
        match access.distribution {
            Kind::Uniform => Shape::Uniform,
            Kind::Zipf => Shape::Zipf {
                exponent: access.zipf_exponent,
            },
            Kind::Pareto => Shape::Pareto { h: access.pareto_h },
            Kind::Hotspot => Shape::Hotspot {
                part: access.hot_part,
                share: access.hot_share,
            },
        }
    }
}

impl BlockDistribution {
    /// `blocks` must be above 0.
    pub fn new(shape: Shape, blocks: u64) -> BlockDistribution {
        let ranks = match shape {
            Shape::Uniform => Ranks::Uniform,
            Shape::Zipf { exponent } => Ranks::Zipf(Zipf::new(blocks, exponent)),
            Shape::Pareto { h } => Ranks::Pareto {
                power: h.ln() / (1.0 - h).ln(),
            },
            Shape::Hotspot { part, share } => hotspot(blocks, part, share),
        };
        BlockDistribution {
            blocks,
            ranks,
            scatter: Scatter::over(blocks),
        }
    }

    #[inline]
    pub fn draw(&self, rng: &mut impl RngCore) -> u64 {
        match self.ranks {
            Ranks::Uniform => below(self.blocks, rng),
            _ => self.scatter.block(self.rank(rng)),
        }
    }

    fn rank(&self, rng: &mut impl RngCore) -> u64 {
        match &self.ranks {
            Ranks::Uniform => below(self.blocks, rng),
            Ranks::Zipf(zipf) => zipf.rank(rng),
            Ranks::Pareto { power } => {
                let rank = self.blocks as f64 * unit(rng).powf(*power);
                (rank as u64).min(self.blocks - 1)
            }
            &Ranks::Hotspot {
                hot_blocks,
                threshold,
            } => {
                if rng.next_u64() < threshold {
                    below(hot_blocks, rng)
                } else {
                    hot_blocks + below(self.blocks - hot_blocks, rng)
                }
            }
        }
    }
}

/// The hot part has at least one block; when it covers all blocks, there is no cold part.
fn hotspot(blocks: u64, part: f64, share: f64) -> Ranks {
    let hot_blocks = ((blocks as f64 * part).round() as u64).max(1);
    if hot_blocks >= blocks {
        return Ranks::Uniform;
    }
    Ranks::Hotspot {
        hot_blocks,
        // Saturates, so that a share of 1 is all but one of 2^64 draws.
        threshold: (share * 2f64.powi(64)) as u64,
    }
}

/// Uniform below `bound`: the high half of a 128-bit product (Lemire 2019), whose bias is below
/// bound / 2^64.
#[inline]
pub(crate) fn below(bound: u64, rng: &mut impl RngCore) -> u64 {
    let product = u128::from(rng.next_u64()) * u128::from(bound);
    (product >> 64) as u64
}

/// Uniform from 0 to less than 1, in steps of 2^-53.
#[inline]
pub(crate) fn unit(rng: &mut impl RngCore) -> f64 {
    (rng.next_u64() >> 11) as f64 * 2f64.powi(-53)
}

/// A fixed bijection of 0..blocks. Applies reversible steps on words of just enough bits until the
/// word is below `blocks` (cycle walking). This takes less than two rounds on average.
#[derive(Debug, Clone, Copy)]
struct Scatter {
    blocks: u64,
    mask: u64,
    shift: u32,
}

impl Scatter {
    fn over(blocks: u64) -> Scatter {
        let bits = u64::BITS - (blocks - 1).leading_zeros();
        Scatter {
            blocks,
            mask: u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0),
            shift: bits.div_ceil(2),
        }
    }

    #[inline]
    fn block(&self, rank: u64) -> u64 {
        let mut word = rank;
        loop {
            // Addition, multiplication by an odd number, and folding the high half into the low one
            // are all reversible.
            for factor in [0x9E37_79B9_7F4A_7C15_u64, 0xD6E8_FEB8_6659_FD93] {
                word = word
                    .wrapping_add(0xA076_1D64_78BD_642F)
                    .wrapping_mul(factor)
                    & self.mask;
                word ^= word >> self.shift;
            }
            if word < self.blocks {
                return word;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::collections::HashSet;

    const DRAWS: u64 = 40_000;

    fn rng(seed: u64) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(seed)
    }

    fn shapes() -> impl Strategy<Value = Shape> {
        prop_oneof![
            Just(Shape::Uniform),
            (0.01f64..4.0).prop_map(|exponent| Shape::Zipf { exponent }),
            Just(Shape::Zipf { exponent: 1.0 }),
            (0.01f64..0.5).prop_map(|h| Shape::Pareto { h }),
            (0.01f64..=1.0, 0.0f64..=1.0).prop_map(|(part, share)| Shape::Hotspot { part, share }),
        ]
    }

    /// The share of draws whose rank is below `ranks`.
    fn share_below(shape: Shape, blocks: u64, ranks: u64, seed: u64) -> f64 {
        let (distribution, mut rng) = (BlockDistribution::new(shape, blocks), rng(seed));
        let hits = (0..DRAWS).filter(|_| distribution.rank(&mut rng) < ranks);
        hits.count() as f64 / DRAWS as f64
    }

    /// Within six standard errors. The added term covers shares of a few draws, which are not
    /// normal.
    fn near(measured: f64, expected: f64) -> bool {
        let error = (expected * (1.0 - expected) / DRAWS as f64).sqrt();
        (measured - expected).abs() <= 6.0 * error + 10.0 / DRAWS as f64
    }

    proptest! {
        #[test]
        fn draws_stay_in_range_and_are_the_same_for_the_same_seed(
            shape in shapes(), blocks in prop_oneof![1u64..100, 1u64..1 << 50], seed in any::<u64>(),
        ) {
            let distribution = BlockDistribution::new(shape, blocks);
            let (mut first, mut second) = (rng(seed), rng(seed));
            for _ in 0..300 {
                let block = distribution.draw(&mut first);
                prop_assert!(block < blocks);
                prop_assert_eq!(block, distribution.draw(&mut second));
            }
        }

        #[test]
        fn scattering_is_a_bijection(blocks in 1u64..3000) {
            let scatter = Scatter::over(blocks);
            let blocks_seen: HashSet<u64> = (0..blocks).map(|rank| scatter.block(rank)).collect();
            prop_assert_eq!(blocks_seen.len() as u64, blocks);
            prop_assert!(blocks_seen.iter().all(|&block| block < blocks));
        }

        #[test]
        fn every_block_of_a_small_range_is_drawn(blocks in 1u64..10, seed in any::<u64>()) {
            for shape in [
                Shape::Uniform,
                Shape::Zipf { exponent: 1.2 },
                Shape::Pareto { h: 0.2 },
                Shape::Hotspot { part: 0.3, share: 0.9 },
            ] {
                let (distribution, mut rng) = (BlockDistribution::new(shape, blocks), rng(seed));
                let seen: HashSet<u64> = (0..3000).map(|_| distribution.draw(&mut rng)).collect();
                prop_assert_eq!(seen.len() as u64, blocks, "{:?}", shape);
            }
        }

        #[test]
        fn pareto_gives_all_but_h_of_the_requests_to_h_of_the_blocks(
            h in 0.02f64..0.5, seed in any::<u64>(),
        ) {
            let blocks = 1 << 30;
            let ranks = (h * blocks as f64) as u64;
            let measured = share_below(Shape::Pareto { h }, blocks, ranks, seed);
            prop_assert!(near(measured, 1.0 - h), "{measured}, wanted {}", 1.0 - h);
            let hottest = (h * h * blocks as f64) as u64;
            let measured = share_below(Shape::Pareto { h }, blocks, hottest, seed);
            prop_assert!(near(measured, (1.0 - h).powi(2)), "{measured} in the hottest part of it");
        }

        #[test]
        fn the_hot_part_gets_its_share(
            part in 0.01f64..0.9, share in 0.0f64..=1.0, seed in any::<u64>(),
        ) {
            let blocks = 10_000;
            let ranks = (part * blocks as f64).round() as u64;
            let measured = share_below(Shape::Hotspot { part, share }, blocks, ranks, seed);
            prop_assert!(near(measured, share), "{measured}, wanted {share}");
        }
    }

    #[test]
    fn hot_blocks_lie_all_over_the_range() {
        let blocks = 1_000_000;
        let scatter = Scatter::over(blocks);
        let mut tenths = [0u64; 10];
        for rank in 0..10_000 {
            tenths[(scatter.block(rank) * 10 / blocks) as usize] += 1;
        }
        assert!(
            tenths.iter().all(|count| (800..1200).contains(count)),
            "{tenths:?}"
        );
        let near = |rank: &u64| scatter.block(*rank).abs_diff(scatter.block(*rank + 1)) < 100;
        assert!(
            (0..10_000).filter(near).count() < 50,
            "neighbours in rank are not neighbours"
        );
    }
}
