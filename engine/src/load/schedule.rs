//! The schedule of an open loop: the intended starts, and the backlog of operations not yet
//! started.
//!
//! In: a rate, the arrival process, a seed. Out: intended starts, one per turn taken; no turn is
//! skipped, however late the load is. Workers call `take_turn` through `load::pace`, `run::windows`
//! keeps the `Backlog`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::clock::{Nanos, SECOND, seconds};
use crate::job::Arrivals;

/// The intended starts in order, in nanoseconds since the beginning. The same seed gives the same
/// times, so that the backlog counts them without messages from the workers.
#[derive(Debug, Clone)]
struct Times {
    arrivals: Arrivals,
    distance: f64,
    rng: Xoshiro256PlusPlus,
    number: u64,
    next: f64,
}

impl Times {
    fn new(rate_per_s: f64, arrivals: Arrivals, seed: u64) -> Self {
        let mut times = Times {
            arrivals,
            distance: SECOND as f64 / rate_per_s,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            number: 0,
            next: 0.0,
        };
        times.advance();
        times
    }

    /// The next intended start; leaves it in place.
    fn next(&self) -> Nanos {
        self.next as Nanos
    }

    fn advance(&mut self) {
        self.number += 1;
        self.next = match self.arrivals {
            // Computed from the number, so that rounding errors never add up.
            Arrivals::Constant => self.number as f64 * self.distance,
            Arrivals::Poisson => self.next - (1.0 - self.uniform()).ln() * self.distance,
        };
    }

    /// A uniform number from 0 up to but not including 1, in steps of 2^-53.
    fn uniform(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[derive(Debug)]
pub struct Schedule {
    times: Mutex<Times>,
    /// The start time on the monotonic clock.
    start: AtomicU64,
    started: AtomicU64,
}

impl Schedule {
    pub fn new(rate_per_s: f64, arrivals: Arrivals, seed: u64) -> Self {
        Schedule {
            times: Mutex::new(Times::new(rate_per_s, arrivals, seed)),
            start: AtomicU64::new(0),
            started: AtomicU64::new(0),
        }
    }

    /// Starts the schedule and returns its backlog counter; must be called before the workers run.
    pub fn begin(self: &Arc<Self>, start: Nanos) -> Backlog {
        self.start.store(start, Ordering::Relaxed);
        let times = self.lock().clone();
        Backlog {
            schedule: Arc::clone(self),
            offered: times.clone(),
            begun: times,
        }
    }

    /// Returns the next intended start and removes it from the schedule.
    pub fn take_turn(&self) -> Nanos {
        let mut times = self.lock();
        let turn = times.next();
        times.advance();
        self.start.load(Ordering::Relaxed) + turn
    }

    pub fn count_started(&self) {
        self.started.fetch_add(1, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The operations that a load has not started in time.
#[derive(Debug)]
pub struct Backlog {
    schedule: Arc<Schedule>,
    /// Points at the first intended start at the last reading.
    offered: Times,
    /// Points at the first operation that was not started at the last reading.
    begun: Times,
}

/// The state of a schedule at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ScheduleState {
    /// Intended starts since the beginning.
    pub offered: u64,
    /// Intended starts without an actual start yet.
    pub waiting: u64,
    /// The age of the oldest waiting operation, in seconds.
    pub lag_s: f64,
}

impl Backlog {
    /// The current state of the schedule; `now` must not decrease between calls.
    pub fn state(&mut self, now: impl FnOnce() -> Nanos) -> ScheduleState {
        // Reads the count first: every operation started by then had an intended start before
        // `now`.
        let started = self.schedule.started.load(Ordering::Relaxed);
        let now = now().saturating_sub(self.schedule.start.load(Ordering::Relaxed));
        while self.offered.next() <= now {
            self.offered.advance();
        }
        while self.begun.number <= started {
            self.begun.advance();
        }
        let offered = self.offered.number - 1;
        ScheduleState {
            offered,
            waiting: offered - started,
            lag_s: seconds(now.saturating_sub(self.begun.next())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn schedule(rate_per_s: f64, arrivals: Arrivals) -> Arc<Schedule> {
        Arc::new(Schedule::new(rate_per_s, arrivals, 7))
    }

    #[test]
    fn constant_arrivals_are_the_same_distance_apart_for_ever() {
        let schedule = schedule(3.0, Arrivals::Constant);
        let _backlog = schedule.begin(1000);
        let turns: Vec<Nanos> = (0..3_000_000).map(|_| schedule.take_turn()).collect();
        assert_eq!(turns[2], 1000 + SECOND);
        assert_eq!(turns[2_999_999], 1000 + 1_000_000 * SECOND);
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_the_spread_of_independent_users() {
        let schedule = schedule(1000.0, Arrivals::Poisson);
        let _backlog = schedule.begin(0);
        let turns: Vec<Nanos> = (0..100_000).map(|_| schedule.take_turn()).collect();
        let gaps: Vec<f64> = turns
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64)
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // The standard errors are 0.3 % and 0.9 %.
        assert!((mean / 1e6 - 1.0).abs() < 0.02, "mean {mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.04);
    }

    #[test]
    fn what_is_offered_is_either_started_or_waiting() {
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let schedule = schedule(1000.0, arrivals);
            let mut backlog = schedule.begin(5 * SECOND);
            assert_eq!(backlog.state(|| 5 * SECOND), ScheduleState::default());
            let first = schedule.take_turn();
            let second = schedule.take_turn();
            schedule.count_started();
            let state = backlog.state(|| 6 * SECOND);
            assert!((850..1150).contains(&state.offered), "{state:?}");
            assert_eq!(state.waiting, state.offered - 1);
            assert_eq!(state.lag_s, seconds(6 * SECOND - second));
            assert!(first < second);
            (1..state.offered).for_each(|_| schedule.count_started());
            let state = backlog.state(|| 6 * SECOND);
            assert_eq!((state.waiting, state.lag_s), (0, 0.0));
        }
    }
}
