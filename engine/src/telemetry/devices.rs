//! Block devices, from /sys/class/block/*/stat.
//!
//! In: the text. Out: counters, and from two of them rates, mean waits, queue and utilisation with
//! the definitions of iostat. Called by `telemetry::sampler`.
//!
//! The fields are described in the kernel's Documentation/block/stat.rst.

use serde::Serialize;

use super::source::Source;

const SECTOR_BYTES: f64 = 512.0;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    reads: u64,
    read_sectors: u64,
    read_ms: u64,
    writes: u64,
    written_sectors: u64,
    write_ms: u64,
    busy_ms: u64,
    waited_ms: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct DeviceUse {
    pub reads_per_s: f64,
    pub writes_per_s: f64,
    pub read_bytes_per_s: f64,
    pub written_bytes_per_s: f64,
    /// Mean time from queueing to completion; null when none completed.
    pub read_await_s: Option<f64>,
    pub write_await_s: Option<f64>,
    /// Mean number of requests in flight.
    pub queue: f64,
    /// Share of the time with requests in flight.
    pub utilisation: f64,
}

pub fn parse(stat: &str) -> DeviceCounters {
    let mut fields = [0; 11];
    for (field, word) in fields.iter_mut().zip(stat.split_ascii_whitespace()) {
        *field = word.parse().unwrap_or(0);
    }
    let [
        reads,
        _read_merges,
        read_sectors,
        read_ms,
        writes,
        _write_merges,
        written_sectors,
        write_ms,
        _in_flight,
        busy_ms,
        waited_ms,
    ] = fields;
    DeviceCounters {
        reads,
        read_sectors,
        read_ms,
        writes,
        written_sectors,
        write_ms,
        busy_ms,
        waited_ms,
    }
}

pub fn used(before: &DeviceCounters, after: &DeviceCounters, duration_s: f64) -> DeviceUse {
    if duration_s <= 0.0 {
        return DeviceUse::default();
    }
    // A replaced device starts again at zero.
    let since =
        |field: fn(&DeviceCounters) -> u64| field(after).saturating_sub(field(before)) as f64;
    let mean_wait = |ms: f64, count: f64| (count > 0.0).then(|| ms / 1e3 / count);
    let (reads, writes) = (since(|of| of.reads), since(|of| of.writes));
    DeviceUse {
        reads_per_s: reads / duration_s,
        writes_per_s: writes / duration_s,
        read_bytes_per_s: since(|of| of.read_sectors) * SECTOR_BYTES / duration_s,
        written_bytes_per_s: since(|of| of.written_sectors) * SECTOR_BYTES / duration_s,
        read_await_s: mean_wait(since(|of| of.read_ms), reads),
        write_await_s: mean_wait(since(|of| of.write_ms), writes),
        queue: since(|of| of.waited_ms) / 1e3 / duration_s,
        utilisation: (since(|of| of.busy_ms) / 1e3 / duration_s).min(1.0),
    }
}

/// The file of failed requests of a SCSI or SATA disk; other devices have none.
pub fn failures_of(name: &str) -> String {
    format!("/sys/class/block/{name}/device/ioerr_cnt")
}

/// The sum of failed requests since boot in these files; the kernel writes them like `0x1f`.
pub fn failed(files: &mut [Source]) -> Option<u64> {
    files
        .iter_mut()
        .filter_map(|file| {
            let text = file.read().ok()?.trim().trim_start_matches("0x");
            u64::from_str_radix(text, 16).ok()
        })
        .reduce(|total, count| total + count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_become_rates_waits_and_utilisation() {
        let before = parse("100 5 800 50 200 6 1600 90 0 1000 2000 0 0 0 0 0 0");
        let after = parse("300 5 4000 250 200 6 1600 90 2 1500 6000 0 0 0 0 0 0");
        let used = used(&before, &after, 2.0);
        assert_eq!(used.reads_per_s, 100.0);
        assert_eq!(used.read_bytes_per_s, 3200.0 * 512.0 / 2.0);
        assert_eq!(used.read_await_s, Some(0.001));
        assert_eq!(used.write_await_s, None);
        assert_eq!((used.queue, used.utilisation), (2.0, 0.25));
    }

    #[test]
    fn failed_requests_are_counted_where_a_driver_does() {
        let folder = tempfile::tempdir().unwrap();
        let mut files: Vec<Source> = ["0x1f\n", "0x1\n"]
            .iter()
            .enumerate()
            .map(|(number, text)| {
                let path = folder.path().join(number.to_string());
                std::fs::write(&path, text).unwrap();
                Source::open(path).unwrap()
            })
            .collect();
        assert_eq!(failed(&mut files), Some(32));
        assert_eq!(failed(&mut []), None);
        assert!(failures_of("sda").ends_with("/sda/device/ioerr_cnt"));
    }
}
