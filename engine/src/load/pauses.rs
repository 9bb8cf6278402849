//! Slots that pause between two operations, as people at terminals do.
//!
//! In: the times of each kind of operation, a random generator. Out: when a slot may start again.
//! Called by `load::pace`.

use rand_core::RngCore;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::clock::{Nanos, nanos};
use crate::job::tpcc::Pause;
use crate::operation::OperationKind;

/// A longer thought is cut to this many times the mean (clause 5.2.5.4).
const LONGEST: f64 = 10.0;

pub struct Pauses {
    /// By kind of transaction.
    of_kinds: Vec<Pause>,
    rng: Xoshiro256PlusPlus,
}

impl Pauses {
    pub fn new(of_kinds: Vec<Pause>, rng: Xoshiro256PlusPlus) -> Pauses {
        Pauses { of_kinds, rng }
    }

    /// A part of a pause, so that a load does not begin with all slots at once.
    pub fn first(&mut self) -> Nanos {
        let longest = self.of_kinds.iter().map(Pause::mean_s).fold(0.0, f64::max);
        nanos(self.uniform() * longest)
    }

    /// The pause after an operation.
    pub fn after(&mut self, kind: OperationKind) -> Nanos {
        let OperationKind::TransactionOf(kind) = kind else {
            return 0;
        };
        let thought = (-(1.0 - self.uniform()).ln()).min(LONGEST);
        let pause = &self.of_kinds[kind];
        nanos(pause.keying_s + thought * pause.mean_think_s)
    }

    /// From 0 up to but not including 1, in steps of 2^-53.
    fn uniform(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{SECOND, seconds};
    use crate::random::generator;

    #[test]
    fn rests_have_the_mean_and_the_least_of_their_kind() {
        let of_kinds = [(18.0, 12.0), (0.0, 0.0)].map(|(keying_s, mean_think_s)| Pause {
            keying_s,
            mean_think_s,
        });
        let mut pauses = Pauses::new(of_kinds.to_vec(), generator(1, 2));
        let drawn: Vec<Nanos> = (0..100_000)
            .map(|_| pauses.after(OperationKind::TransactionOf(0)))
            .collect();
        let mean = drawn.iter().map(|&pause| seconds(pause)).sum::<f64>() / drawn.len() as f64;
        // 12 s over the root of 100,000, five times.
        assert!((mean - 30.0).abs() < 0.2, "{mean}");
        assert!(
            drawn
                .iter()
                .all(|pause| (18 * SECOND..=138 * SECOND).contains(pause))
        );
        assert_eq!(pauses.after(OperationKind::TransactionOf(1)), 0);
        assert!((0..1000).all(|_| pauses.first() < 30 * SECOND));
    }
}
