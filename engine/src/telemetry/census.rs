//! The census: the CPU and storage use of processes between two moments.
//!
//! In: /proc at the moment of each census. Out: the use of each user process since the previous
//! census, the largest first. Called by `telemetry::sampler` when the controller asks.

use std::collections::{HashMap, HashSet};
use std::fs;

use super::event::{Census, ProcessUse};
use crate::clock::{self, Nanos, seconds};
use crate::machine::process::{ProcessStat, pids};

/// More processes than this are never of interest.
const MOST: usize = 50;

/// A process id may be reused; together with its start time it is unique.
type Identity = (u32, u64);

#[derive(Debug, Default)]
pub struct Counter {
    before: Option<(Nanos, HashMap<Identity, Used>)>,
    /// Processes that are summed up with all their descendants, such as a server under test.
    watched: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Used {
    cpu_ticks: u64,
    /// The part in user mode.
    user_ticks: u64,
    /// Bytes read from and written to storage; `None` where this user may not see them.
    storage: Option<(u64, u64)>,
    /// Minor page faults of reaped children. Every process has some, so this grows whenever a child
    /// is reaped.
    reaped_faults: u64,
}

/// A living process.
struct Process {
    identity: Identity,
    parent: u32,
    command: String,
    used: Used,
}

impl Counter {
    /// Sums up these processes and their descendants from now on.
    pub fn watch(&mut self, pids: Vec<u32>) {
        self.watched = pids;
    }

    pub fn take(&mut self, label: String) -> Census {
        let now = clock::now();
        let ticks_per_s = ticks_per_s();
        let mut current = HashMap::new();
        let mut processes = Vec::new();
        let mut watched_use = Used::default();
        let living = living();
        let is_watched = descendants(&self.watched, &living);
        for process in living {
            let Process {
                identity,
                command,
                used,
                ..
            } = process;
            if let Some((_, before)) = &self.before {
                let since = used.since(before.get(&identity));
                if is_watched.contains(&identity.0) {
                    watched_use.cpu_ticks += since.cpu_ticks;
                    watched_use.user_ticks += since.user_ticks;
                } else if since.is_anything() {
                    processes.push(ProcessUse {
                        pid: identity.0,
                        command,
                        cpu_s: since.cpu_ticks as f64 / ticks_per_s,
                        read_bytes: since.storage.map(|(read, _)| read),
                        written_bytes: since.storage.map(|(_, written)| written),
                    });
                }
            }
            current.insert(identity, used);
        }
        let before = self.before.replace((now, current));
        processes.sort_by(|left, right| {
            let bytes = |process: &ProcessUse| {
                process.read_bytes.unwrap_or(0) + process.written_bytes.unwrap_or(0)
            };
            right
                .cpu_s
                .total_cmp(&left.cpu_s)
                .then_with(|| bytes(right).cmp(&bytes(left)))
        });
        processes.truncate(MOST);
        Census {
            label,
            monotonic_s: seconds(now),
            duration_s: before.map(|(then, _)| seconds(now - then)),
            own_cpu_s: watched_use.cpu_ticks as f64 / ticks_per_s,
            own_user_s: watched_use.user_ticks as f64 / ticks_per_s,
            processes,
        }
    }
}

impl Used {
    /// The use since the previous census. A process without an entry there is new, so all its use
    /// and that of its children counts.
    fn since(self, before: Option<&Used>) -> Used {
        let Some(before) = before else {
            return self;
        };
        let reaped_faults = self.reaped_faults.saturating_sub(before.reaped_faults);
        let storage = match (self.storage, before.storage) {
            // The kernel has added the storage use of a reaped child's whole life.
            _ if reaped_faults > 0 => None,
            (Some((read, written)), Some((read_before, written_before))) => Some((
                read.saturating_sub(read_before),
                written.saturating_sub(written_before),
            )),
            _ => None,
        };
        Used {
            cpu_ticks: self.cpu_ticks.saturating_sub(before.cpu_ticks),
            user_ticks: self.user_ticks.saturating_sub(before.user_ticks),
            storage,
            reaped_faults,
        }
    }

    /// Storage that is unknown because of a reaped child counts as use.
    fn is_anything(&self) -> bool {
        let reaped = self.reaped_faults > 0;
        self.cpu_ticks > 0 || self.storage.map_or(reaped, |storage| storage != (0, 0))
    }
}

/// A process and all its descendants, each with its name; this process is left out.
pub fn family(pid: u32) -> Vec<(u32, String)> {
    let living = living();
    let members = descendants(&[pid], &living);
    living
        .into_iter()
        .map(|process| (process.identity.0, process.command))
        .filter(|(pid, _)| members.contains(pid))
        .collect()
}

/// The processes with these ids, and all their descendants.
fn descendants(ancestors: &[u32], living: &[Process]) -> HashSet<u32> {
    let mut descendants: HashSet<u32> = ancestors.iter().copied().collect();
    let mut previous_count = 0;
    while previous_count < descendants.len() {
        previous_count = descendants.len();
        let children = living
            .iter()
            .filter(|process| descendants.contains(&process.parent))
            .map(|process| process.identity.0);
        let children: Vec<u32> = children.collect();
        descendants.extend(children);
    }
    descendants
}

/// All user processes but this one, without those that end during the reading.
fn living() -> Vec<Process> {
    let this_process = std::process::id();
    let others = pids().into_iter().filter(|&pid| pid != this_process);
    others
        .filter_map(|pid| {
            let stat = ProcessStat::of(pid).filter(|stat| !stat.is_kernel_thread())?;
            let io = fs::read_to_string(format!("/proc/{pid}/io")).ok();
            Some(Process {
                identity: (pid, stat.start_ticks),
                parent: stat.parent,
                command: stat.command,
                used: Used {
                    cpu_ticks: stat.cpu_ticks,
                    user_ticks: stat.user_ticks,
                    storage: io.map(|text| parse_io(&text)),
                    reaped_faults: stat.reaped_faults,
                },
            })
        })
        .collect()
}

fn parse_io(text: &str) -> (u64, u64) {
    let value = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name))
            .and_then(|value| value.trim().parse().ok())
            .unwrap_or(0)
    };
    (value("read_bytes:"), value("write_bytes:"))
}

fn ticks_per_s() -> f64 {
    // rustix reads the auxiliary vector and the vDSO for it, which ends a process under valgrind.
    // SAFETY: asks for a constant of the system.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    if ticks > 0 { ticks as f64 } else { 100.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_bytes_are_not_the_bytes_of_the_cache() {
        let text =
            "rchar: 9\nwchar: 8\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n";
        assert_eq!(parse_io(text), (4096, 8192));
    }

    #[test]
    fn storage_is_unknown_in_the_census_in_which_a_child_was_reaped() {
        let used = |cpu_ticks, written, reaped_faults| Used {
            cpu_ticks,
            user_ticks: cpu_ticks,
            storage: Some((0, written)),
            reaped_faults,
        };
        let (before, reaped, after) = (used(1, 10, 3), used(1, 9000, 4), used(1, 9001, 4));
        let since = reaped.since(Some(&before));
        assert_eq!((since.storage, since.is_anything()), (None, true));
        let since = after.since(Some(&reaped));
        assert_eq!((since.storage, since.is_anything()), (Some((0, 1)), true));
        assert!(!after.since(Some(&after)).is_anything());
        // All use of a new process's children falls into the interval.
        assert_eq!(reaped.since(None).storage, Some((0, 9000)));
        let unseen = Used {
            storage: None,
            ..before
        };
        assert_eq!(before.since(Some(&unseen)).storage, None);
    }

    #[test]
    fn children_of_children_are_descendants() {
        let process = |pid, parent| Process {
            identity: (pid, 1),
            parent,
            command: String::new(),
            used: Used::default(),
        };
        let living = [process(9, 7), process(7, 5), process(5, 1), process(6, 1)];
        let family = descendants(&[5], &living);
        assert_eq!(family, HashSet::from([5, 7, 9]));
        assert!(descendants(&[], &living).is_empty());
    }

    #[test]
    fn the_first_census_has_nothing_to_compare_with_and_the_next_has_deltas() {
        let mut counter = Counter::default();
        let first = counter.take("a".into());
        assert!(first.duration_s.is_none() && first.processes.is_empty());
        let second = counter.take("b".into());
        assert!(second.duration_s.is_some());
        assert!(second.processes.len() <= MOST);
    }
}
