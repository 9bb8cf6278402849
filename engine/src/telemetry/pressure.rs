//! Pressure stall information, from /proc/pressure: the share of time in which tasks had to wait.
//!
//! In: the text. Out: stalled microseconds since boot, and the shares between two readings. Called
//! by `telemetry::sampler`; older kernels and some configurations have none.

use serde::Serialize;

/// Fractions of the interval; null where the kernel has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Pressure {
    pub io_some: Option<f64>,
    pub io_full: Option<f64>,
    pub cpu_some: Option<f64>,
    pub memory_some: Option<f64>,
}

/// Stalled microseconds of one resource: `some` tasks waited, or all of them (`full`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stalled {
    pub some_us: Option<u64>,
    pub full_us: Option<u64>,
}

pub fn parse(text: &str) -> Stalled {
    let mut stalled = Stalled::default();
    for line in text.lines() {
        let total = line
            .split_ascii_whitespace()
            .find_map(|word| word.strip_prefix("total="))
            .and_then(|total| total.parse().ok());
        if line.starts_with("some") {
            stalled.some_us = total;
        } else if line.starts_with("full") {
            stalled.full_us = total;
        }
    }
    stalled
}

pub fn share(before: Option<u64>, after: Option<u64>, duration_s: f64) -> Option<f64> {
    let stalled_us = after?.saturating_sub(before?) as f64;
    (duration_s > 0.0).then(|| (stalled_us / 1e6 / duration_s).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_become_shares() {
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=700\n";
        let stalled = parse(text);
        assert_eq!(stalled.some_us, Some(1_500_000));
        assert_eq!(stalled.full_us, Some(700));
        assert_eq!(share(Some(1_000_000), stalled.some_us, 2.0), Some(0.25));
        assert_eq!(share(None, stalled.some_us, 2.0), None);
    }
}
