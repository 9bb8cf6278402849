//! The sampler: reads the machine's counters and turns two readings into one sample.
//!
//! In: device names. Out: a `Sample` per call, covering the time since the previous call. Called by
//! `telemetry::sample`.

use std::collections::BTreeMap;
use std::path::Path;

use super::cpu::{self, CpuCounters};
use super::devices::{self, DeviceCounters};
use super::event::Sample;
use super::memory;
use super::pressure::{self, Pressure, Stalled};
use super::processors::Processors;
use super::source::Source;
use super::vmstat::{self, PageCounts};
use crate::clock::{self, Nanos, seconds};
use crate::error::{Class, EngineError, Result};

pub struct Sampler {
    stat: Source,
    meminfo: Source,
    vmstat: Source,
    /// `None` where the kernel has no such file.
    io_pressure: Option<Source>,
    cpu_pressure: Option<Source>,
    memory_pressure: Option<Source>,
    devices: Vec<(String, Source)>,
    /// Of the devices whose driver counts them.
    failures: Vec<Source>,
    processors: Processors,
    before: Counters,
}

#[derive(Debug, Clone)]
struct Counters {
    at: Nanos,
    cpu: CpuCounters,
    io: Stalled,
    cpu_stalled: Stalled,
    memory: Stalled,
    devices: Vec<DeviceCounters>,
    throttled: Option<u64>,
    failed: Option<u64>,
    pages: PageCounts,
}

impl Sampler {
    pub fn new(device_names: &[String]) -> Result<Sampler> {
        let devices = device_names
            .iter()
            .map(|name| Ok((name.clone(), open_device(name)?)))
            .collect::<Result<Vec<_>>>()?;
        let failures = device_names
            .iter()
            .filter_map(|name| Source::open(devices::failures_of(name)).ok())
            .collect();
        let pressure = |name: &str| Source::open(format!("/proc/pressure/{name}")).ok();
        let mut sampler = Sampler {
            stat: Source::open("/proc/stat")?,
            meminfo: Source::open("/proc/meminfo")?,
            vmstat: Source::open("/proc/vmstat")?,
            io_pressure: pressure("io"),
            cpu_pressure: pressure("cpu"),
            memory_pressure: pressure("memory"),
            devices,
            failures,
            processors: Processors::open(Path::new("/sys/devices/system/cpu")),
            before: Counters {
                at: 0,
                cpu: CpuCounters::default(),
                io: Stalled::default(),
                cpu_stalled: Stalled::default(),
                memory: Stalled::default(),
                devices: Vec::new(),
                throttled: None,
                failed: None,
                pages: PageCounts::default(),
            },
        };
        sampler.before = sampler.read_counters()?;
        Ok(sampler)
    }

    pub fn sample(&mut self) -> Result<Sample> {
        let after = self.read_counters()?;
        let before = std::mem::replace(&mut self.before, after.clone());
        let memory = memory::parse(self.meminfo.read()?);
        let duration_s = seconds(after.at - before.at);
        let share = |before, after| pressure::share(before, after, duration_s);
        let devices: BTreeMap<_, _> = self
            .devices
            .iter()
            .zip(before.devices.iter().zip(&after.devices))
            .map(|((name, _), (before, after))| {
                (name.clone(), devices::used(before, after, duration_s))
            })
            .collect();
        let switches = after
            .cpu
            .context_switches
            .saturating_sub(before.cpu.context_switches);
        Ok(Sample {
            monotonic_s: seconds(after.at),
            unix_s: clock::unix_s(),
            duration_s,
            cpu: cpu::shares(&before.cpu, &after.cpu),
            cores: after.cpu.cores,
            // Without this program, which runs while it reads.
            run_queue: after.cpu.running.saturating_sub(1) + after.cpu.blocked,
            memory,
            context_switches_per_s: switches as f64 / duration_s.max(1e-9),
            pressure: Pressure {
                io_some: share(before.io.some_us, after.io.some_us),
                io_full: share(before.io.full_us, after.io.full_us),
                cpu_some: share(before.cpu_stalled.some_us, after.cpu_stalled.some_us),
                memory_some: share(before.memory.some_us, after.memory.some_us),
            },
            clock_hz: self.processors.clock_hz(),
            device_errors: since(before.failed, after.failed),
            throttled: since(before.throttled, after.throttled),
            scanned_pages: since(before.pages.scanned, after.pages.scanned),
            dirtied_bytes: since(before.pages.dirtied, after.pages.dirtied)
                .map(|pages| pages * vmstat::page_bytes()),
            devices,
        })
    }

    fn read_counters(&mut self) -> Result<Counters> {
        let at = clock::now();
        let devices = self
            .devices
            .iter_mut()
            .map(|(_, source)| Ok(devices::parse(source.read()?)))
            .collect::<Result<_>>()?;
        Ok(Counters {
            at,
            cpu: cpu::parse(self.stat.read()?),
            io: stalled(&mut self.io_pressure),
            cpu_stalled: stalled(&mut self.cpu_pressure),
            memory: stalled(&mut self.memory_pressure),
            devices,
            throttled: self.processors.throttled(),
            failed: devices::failed(&mut self.failures),
            pages: vmstat::parse(self.vmstat.read()?),
        })
    }
}

fn since(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    Some(after?.saturating_sub(before?))
}

/// A kernel started with psi=0 has the files but refuses to read them, which counts as no file.
fn stalled(source: &mut Option<Source>) -> Stalled {
    source
        .as_mut()
        .and_then(|source| source.read().ok().map(pressure::parse))
        .unwrap_or_default()
}

fn open_device(name: &str) -> Result<Source> {
    let is_name = !name.is_empty() && !name.contains('/') && !name.starts_with('.');
    if !is_name {
        return Err(EngineError::bad_job(format!(
            "`{name}` is not the name of a block device; write it like `sda`, without /dev/"
        )));
    }
    Source::open(format!("/sys/class/block/{name}/stat")).map_err(|error| {
        EngineError::new(
            Class::NoSuchDevice,
            format!("there is no block device `{name}` here: {error}"),
            "choose one from `lsblk`",
        )
    })
}
