//! The clock and the thermal throttling of the processors, from /sys/devices/system/cpu.
//!
//! In: that folder. Out: the present mean clock, and throttling events since boot. Most virtual
//! machines have neither file. Called by `telemetry::sampler`.

use std::fs;
use std::path::Path;

use super::source::Source;

#[derive(Debug)]
pub struct Processors {
    clocks: Vec<Source>,
    throttles: Vec<Source>,
}

impl Processors {
    pub fn open(folder: &Path) -> Processors {
        let mut processors = Processors {
            clocks: Vec::new(),
            throttles: Vec::new(),
        };
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let processor = entry.path();
            let source = |file: &str| Source::open(processor.join(file)).ok();
            processors.clocks.extend(source("cpufreq/scaling_cur_freq"));
            processors
                .throttles
                .extend(source("thermal_throttle/core_throttle_count"));
        }
        processors
    }

    pub fn clock_hz(&mut self) -> Option<f64> {
        let clocks = numbers(&mut self.clocks);
        let total: u64 = clocks.iter().sum();
        (!clocks.is_empty()).then(|| total as f64 * 1e3 / clocks.len() as f64)
    }

    pub fn throttled(&mut self) -> Option<u64> {
        let counts = numbers(&mut self.throttles);
        (!counts.is_empty()).then(|| counts.iter().sum())
    }
}

/// The values of the files that can be read now: a processor may be taken offline.
fn numbers(sources: &mut [Source]) -> Vec<u64> {
    sources
        .iter_mut()
        .filter_map(|source| source.read().ok()?.trim().parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processor(folder: &Path, name: &str, khz: &str, throttled: &str) {
        for (group, file, text) in [
            ("cpufreq", "scaling_cur_freq", khz),
            ("thermal_throttle", "core_throttle_count", throttled),
        ] {
            fs::create_dir_all(folder.join(name).join(group)).unwrap();
            fs::write(folder.join(name).join(group).join(file), text).unwrap();
        }
    }

    #[test]
    fn the_clock_is_the_mean_and_throttling_the_sum_of_all_processors() {
        let folder = tempfile::tempdir().unwrap();
        processor(folder.path(), "cpu0", "2000000\n", "3\n");
        processor(folder.path(), "cpu1", "3000000\n", "4\n");
        let mut processors = Processors::open(folder.path());
        assert_eq!(processors.clock_hz(), Some(2.5e9));
        assert_eq!(processors.throttled(), Some(7));
    }

    #[test]
    fn a_machine_that_does_not_tell_has_neither() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("cpu0")).unwrap();
        let mut processors = Processors::open(folder.path());
        assert_eq!(processors.clock_hz(), None);
        assert_eq!(processors.throttled(), None);
        assert_eq!(Processors::open(Path::new("/nowhere")).clock_hz(), None);
    }
}
