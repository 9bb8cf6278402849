//! Response times: an HDR histogram in nanoseconds, with exact sum, minimum and maximum.
//!
//! In: one time per operation. Out: percentiles, and the histogram as base64 of HDR V2 + deflate.
//! Called by `record::tally` on the hot path and by `run::windows` when an interval ends.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use serde::Serialize;

use crate::clock::{Nanos, seconds};
use crate::record::counts::{Counts, LARGEST};

/// Three significant digits: a recorded value is reported at most 0.1 % off.
const SIGNIFICANT_DIGITS: u8 = 3;

/// Below this number of values, allocating memory for each interval costs less than keeping it.
const FEW: u64 = 4096;

#[derive(Debug, Clone)]
pub struct Times {
    counts: Counts,
    count: u64,
    sum: u64,
    min: Nanos,
    max: Nanos,
}

/// A reported distribution; all fields but `count` and `sum_s` are `None` when it is empty.
#[derive(Debug, Clone, Serialize)]
pub struct ResponseSummary {
    pub count: u64,
    pub mean_s: Option<f64>,
    pub min_s: Option<f64>,
    pub p50_s: Option<f64>,
    pub p95_s: Option<f64>,
    pub p99_s: Option<f64>,
    pub p999_s: Option<f64>,
    pub max_s: Option<f64>,
    pub sum_s: f64,
    pub histogram: String,
}

impl Default for Times {
    fn default() -> Self {
        Times {
            counts: Counts::default(),
            count: 0,
            sum: 0,
            min: Nanos::MAX,
            max: 0,
        }
    }
}

impl Times {
    #[inline]
    pub fn record(&mut self, time: Nanos) {
        // Longer than any operation that the engine waits for.
        let time = time.min(LARGEST);
        self.counts.add(time);
        self.count += 1;
        self.sum += time;
        self.min = self.min.min(time);
        self.max = self.max.max(time);
    }

    pub fn merge(&mut self, other: &Times) {
        if other.count == 0 {
            return;
        }
        self.counts.merge(&other.counts);
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    pub fn clear(&mut self) {
        if self.count > 0 {
            self.counts.clear(self.count < FEW);
        }
        self.count = 0;
        self.sum = 0;
        self.min = Nanos::MAX;
        self.max = 0;
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| seconds(self.sum) / self.count as f64)
    }

    pub fn max_s(&self) -> Option<f64> {
        (self.count > 0).then(|| seconds(self.max))
    }

    /// The time that a fraction `quantile` of the operations did not exceed.
    pub fn quantile_s(&self, quantile: f64) -> Option<f64> {
        let rank = (quantile * self.count as f64).ceil().max(1.0) as u64;
        let mut cumulative = 0;
        let bucket = self.counts.buckets().find(|(_, count)| {
            cumulative += count;
            cumulative >= rank
        });
        // A bucket is reported by its upper end, which may lie above the largest recorded value.
        bucket.map(|(value, _)| seconds(value.clamp(self.min, self.max)))
    }

    pub fn summary(&self) -> ResponseSummary {
        ResponseSummary {
            count: self.count,
            mean_s: self.mean_s(),
            min_s: (self.count > 0).then(|| seconds(self.min)),
            p50_s: self.quantile_s(0.50),
            p95_s: self.quantile_s(0.95),
            p99_s: self.quantile_s(0.99),
            p999_s: self.quantile_s(0.999),
            max_s: self.max_s(),
            sum_s: seconds(self.sum),
            histogram: self.encode(),
        }
    }

    /// The histogram as base64 of HDR V2 + deflate; empty where it cannot be encoded.
    pub fn encode(&self) -> String {
        match self.to_hdr() {
            Ok(bytes) => STANDARD.encode(bytes),
            Err(cause) => {
                eprintln!("paribus-engine: a histogram could not be encoded: {cause}");
                String::new()
            }
        }
    }

    fn to_hdr(&self) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
        let mut histogram = Histogram::<u64>::new(SIGNIFICANT_DIGITS)?;
        for (value, count) in self.counts.buckets() {
            histogram.record_n(value.min(self.max), count)?;
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&histogram, &mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;
    use proptest::prelude::*;

    fn times(values: &[u64]) -> Times {
        let mut times = Times::default();
        values.iter().for_each(|&value| times.record(value));
        times
    }

    #[test]
    fn nothing_recorded_has_no_percentiles() {
        let summary = Times::default().summary();
        assert_eq!((summary.count, summary.sum_s), (0, 0.0));
        assert!(summary.p50_s.is_none() && summary.min_s.is_none() && summary.max_s.is_none());
    }

    #[test]
    fn the_encoded_histogram_decodes_to_the_same_counts() {
        let summary = times(&[10, 1_000, 1_000, 5_000_000]).summary();
        let bytes = STANDARD.decode(summary.histogram).unwrap();
        let decoded: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        assert_eq!(decoded.len(), 4);
        assert_eq!(decoded.count_at(1_000), 2);
    }

    proptest! {
        #[test]
        fn percentiles_are_within_a_thousandth_of_the_exact_ones(
            mut values in prop::collection::vec(1u64..10_000_000_000, 1..400),
            quantile in 0.01f64..1.0,
        ) {
            let estimate = times(&values).quantile_s(quantile).unwrap() * 1e9;
            values.sort_unstable();
            let rank = (quantile * values.len() as f64).ceil().max(1.0) as usize;
            let exact = values[rank.min(values.len()) - 1] as f64;
            prop_assert!((estimate - exact).abs() <= exact * 1e-3 + 1.0, "{estimate} for {exact}");
        }

        #[test]
        fn merging_equals_recording_everything_in_one(
            left in prop::collection::vec(0u64..100_000_000_000, 0..200),
            right in prop::collection::vec(0u64..100_000_000_000, 0..200),
        ) {
            let mut merged = times(&left);
            merged.merge(&times(&right));
            let whole = times(&[left, right].concat());
            prop_assert_eq!(merged.count(), whole.count());
            prop_assert_eq!((merged.sum, merged.min, merged.max), (whole.sum, whole.min, whole.max));
            for quantile in [0.0, 0.5, 0.95, 0.999, 1.0] {
                prop_assert_eq!(merged.quantile_s(quantile), whole.quantile_s(quantile));
            }
        }
    }
}
