//! CPU time of the machine, from /proc/stat.
//!
//! In: the text. Out: counters, and the shares of the time between two of them. Called by
//! `telemetry::sampler`.

use serde::Serialize;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuCounters {
    /// user, nice, system, idle, iowait, irq, softirq, steal, in clock ticks of all cores.
    ticks: [u64; 8],
    pub context_switches: u64,
    pub cores: usize,
    /// Tasks that run or wait for a processor at this moment.
    pub running: u64,
    /// Tasks that wait for a disk at this moment.
    pub blocked: u64,
}

/// Fractions of the time of all cores; they add up to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct CpuShares {
    pub user: f64,
    pub system: f64,
    pub iowait: f64,
    pub irq: f64,
    pub steal: f64,
    pub idle: f64,
}

pub fn parse(stat: &str) -> CpuCounters {
    let mut counters = CpuCounters::default();
    for line in stat.lines() {
        let mut fields = line.split_ascii_whitespace();
        let Some(name) = fields.next() else { continue };
        if name == "cpu" {
            for (tick, word) in counters.ticks.iter_mut().zip(fields) {
                *tick = word.parse().unwrap_or(0);
            }
            continue;
        }
        if name.starts_with("cpu") {
            counters.cores += 1;
            continue;
        }
        let mut value = || {
            fields
                .next()
                .and_then(|word| word.parse().ok())
                .unwrap_or(0)
        };
        match name {
            "ctxt" => counters.context_switches = value(),
            "procs_running" => counters.running = value(),
            "procs_blocked" => counters.blocked = value(),
            _ => {}
        }
    }
    counters
}

pub fn shares(before: &CpuCounters, after: &CpuCounters) -> CpuShares {
    let mut spent = [0.0; 8];
    for (spent, (before, after)) in spent.iter_mut().zip(before.ticks.iter().zip(&after.ticks)) {
        // iowait may decrease: the kernel does not promise otherwise.
        *spent = after.saturating_sub(*before) as f64;
    }
    let total: f64 = spent.iter().sum();
    if total == 0.0 {
        return CpuShares::default();
    }
    let [user, nice, system, idle, iowait, irq, softirq, steal] = spent.map(|ticks| ticks / total);
    CpuShares {
        user: user + nice,
        system,
        iowait,
        irq: irq + softirq,
        steal,
        idle,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "cpu  100 10 50 1000 20 1 2 3 0 0\ncpu0 50 5 25 500 10 0 1 1 0 0\n\
                          cpu1 50 5 25 500 10 1 1 2 0 0\nintr 5 0 1\nctxt 1000\nbtime 1\n\
                          procs_running 3\nprocs_blocked 2\n";
    const AFTER: &str = "cpu  140 20 70 1020 25 2 4 5 0 0\ncpu0 1\ncpu1 1\nctxt 1500\n";

    #[test]
    fn shares_of_an_interval_add_up_to_one() {
        let (before, after) = (parse(BEFORE), parse(AFTER));
        assert_eq!((before.cores, before.context_switches), (2, 1000));
        assert_eq!((before.running, before.blocked), (3, 2));
        let shares = shares(&before, &after);
        assert!((shares.user - 0.5).abs() < 1e-12);
        assert!((shares.idle - 0.2).abs() < 1e-12);
        assert!((shares.irq - 0.03).abs() < 1e-12);
        let sum =
            shares.user + shares.system + shares.iowait + shares.irq + shares.steal + shares.idle;
        assert!((sum - 1.0).abs() < 1e-12);
    }

    #[test]
    fn no_time_between_is_no_share() {
        let counters = parse(BEFORE);
        assert_eq!(shares(&counters, &counters), CpuShares::default());
    }
}
