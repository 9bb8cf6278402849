//! A window: one measured interval of a load, summed from the intervals between cuts.
//!
//! In: intervals, and the readings of clock, CPU and schedule at both ends. Out: the figures of
//! interval and result events. Called by `run::windows`, which decides when a window opens and
//! closes.

use std::collections::BTreeMap;

use crate::clock::{self, Nanos, seconds};
use crate::load::schedule::ScheduleState;
use crate::machine::{self, CpuTime};
use crate::record::histogram::Times;
use crate::record::interval::RecordedInterval;
use crate::record::tally::{Tally, whole};
use crate::run::event::{CpuUse, Interval, KindResult, Pacing, PartResult, WindowResult};

pub struct Window {
    pub id: String,
    pub start: Nanos,
    start_unix_s: f64,
    cpu: CpuTime,
    /// One entry per stream of the load.
    parts: Vec<Tally>,
    /// The operations of each slot of each worker.
    by_slot: Vec<u64>,
    /// The state of an open loop's schedule at the start.
    opened_at: Option<ScheduleState>,
}

impl Window {
    /// Opens a window at `start`, on a load of `parts` streams, with the schedule in this state.
    pub fn open(id: String, start: Nanos, parts: usize, schedule: Option<ScheduleState>) -> Window {
        Window {
            id,
            start,
            start_unix_s: clock::unix_s() - seconds(clock::now().saturating_sub(start)),
            cpu: machine::own_cpu_time(),
            parts: vec![Tally::default(); parts],
            by_slot: Vec::new(),
            opened_at: schedule,
        }
    }

    pub fn add(&mut self, recorded: &RecordedInterval) {
        for (sum, part) in self.parts.iter_mut().zip(&recorded.parts) {
            sum.merge(part);
        }
        self.by_slot.resize(recorded.by_slot.len(), 0);
        for (sum, count) in self.by_slot.iter_mut().zip(&recorded.by_slot) {
            *sum += count;
        }
    }

    /// The result up to `end`; the caller fills in the workers and the buffer registration.
    pub fn result(
        &self,
        end: Nanos,
        cpu: CpuTime,
        closed_at: Option<ScheduleState>,
    ) -> WindowResult {
        let tally = whole(&self.parts);
        let duration_s = seconds(end - self.start);
        let response = tally.response.summary();
        // In a closed loop an operation starts at its intended start.
        let service = match &tally.service {
            Some(service) => service.summary(),
            None => response.clone(),
        };
        let pacing = self.opened_at.zip(closed_at).map(|(opened, closed)| {
            let offered = closed.offered - opened.offered;
            Pacing {
                offered,
                started: offered + opened.waiting - closed.waiting,
                backlog_at_start: opened.waiting,
                backlog_at_end: closed.waiting,
                lag_s: closed.lag_s,
                late_mean_s: tally.late.mean_s(),
                late_max_s: tally.late.max_s(),
            }
        });
        WindowResult {
            window: self.id.clone(),
            start_s: seconds(self.start),
            start_unix_s: self.start_unix_s,
            duration_s,
            throughput_per_s: rate(tally.transfers(), duration_s),
            bytes_per_s: rate(tally.bytes(), duration_s),
            counts: tally.counts(),
            response,
            service,
            fairness: match (&pacing, &self.parts[..]) {
                (None, [_]) => fairness(&self.by_slot),
                _ => None,
            },
            pacing,
            parts: None,
            kinds: None,
            cpu: CpuUse {
                user_s: cpu.user_s - self.cpu.user_s,
                system_s: cpu.system_s - self.cpu.system_s,
            },
            cores_usable: machine::cores_usable(),
            workers: 0,
            registered_buffers: false,
        }
    }

    /// The result of each stream of the load, by name.
    pub fn part_results(
        &self,
        streams: &[&'static str],
        duration_s: f64,
    ) -> BTreeMap<&'static str, PartResult> {
        let part = |tally: &Tally| PartResult {
            throughput_per_s: rate(tally.transfers(), duration_s),
            bytes_per_s: rate(tally.bytes(), duration_s),
            counts: tally.counts(),
            response: tally.response.summary(),
        };
        let tallies = self.parts.iter().map(part);
        streams.iter().copied().zip(tallies).collect()
    }

    /// The figures of each kind of transaction, by name.
    pub fn kind_results(
        &self,
        kinds: &[&'static str],
        duration_s: f64,
    ) -> BTreeMap<&'static str, KindResult> {
        let tally = whole(&self.parts);
        let none = Times::default();
        let of_kind = |(number, &name): (usize, &&'static str)| {
            let times = tally.of_kind(number).unwrap_or(&none);
            let result = KindResult {
                count: times.count(),
                per_s: rate(times.count(), duration_s),
                mean_s: times.mean_s(),
                p90_s: times.quantile_s(0.90),
                p95_s: times.quantile_s(0.95),
                max_s: times.max_s(),
                histogram: times.encode(),
            };
            (name, result)
        };
        kinds.iter().enumerate().map(of_kind).collect()
    }
}

/// The event of an interval; the caller fills in its window and its schedule.
pub fn interval(recorded: &RecordedInterval, whole: &Tally) -> Interval {
    let times = &whole.response;
    Interval {
        window: None,
        start_s: seconds(recorded.start),
        duration_s: seconds(recorded.end - recorded.start),
        counts: whole.counts(),
        mean_s: times.mean_s(),
        p50_s: times.quantile_s(0.50),
        p95_s: times.quantile_s(0.95),
        p99_s: times.quantile_s(0.99),
        max_s: times.max_s(),
        offered: None,
        backlog: None,
        histogram: None,
    }
}

/// Jain's index of the counts: from 1/n, where one slot did all, to 1, where all did the same. `None`
/// of fewer than two slots, or without an operation. Source: R. Jain, D. Chiu, W. Hawe, "A
/// Quantitative Measure of Fairness and Discrimination", DEC-TR-301, 1984, section 3.
fn fairness(counts: &[u64]) -> Option<f64> {
    let sum: f64 = counts.iter().map(|&count| count as f64).sum();
    let squares: f64 = counts.iter().map(|&count| (count as f64).powi(2)).sum();
    (counts.len() > 1 && sum > 0.0).then(|| sum * sum / (counts.len() as f64 * squares))
}

fn rate(count: u64, duration_s: f64) -> f64 {
    if duration_s > 0.0 {
        count as f64 / duration_s
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_1_of_equals_and_1_over_n_where_one_did_all() {
        assert_eq!(fairness(&[7, 7, 7, 7]), Some(1.0));
        assert_eq!(fairness(&[9, 0, 0, 0]), Some(0.25));
        assert_eq!(fairness(&[3, 1]), Some(0.8));
        assert_eq!(fairness(&[3]), None);
        assert_eq!(fairness(&[0, 0]), None);
    }
}
