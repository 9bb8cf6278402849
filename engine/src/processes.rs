//! `paribus-engine processes PID`: the conditions under which a process and its descendants run.
//!
//! In: a process. Out: one `processes` event with what the kernel shows of each: processors,
//! control groups, resource limits and NUMA policy. Called by `main`, after a load or a server was
//! started under conditions.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::telemetry::census;

/// The names in `/proc/PID/limits` of the limits that a load or server can be started with.
const LIMITS: [&str; 2] = ["Max open files", "Max locked memory"];

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "processes")]
pub struct Processes {
    processes: Vec<Conditions>,
}

#[derive(Debug, Serialize)]
struct Conditions {
    pid: u32,
    name: String,
    /// The processors of its threads; several lists where the threads differ.
    cpus: Vec<String>,
    /// The lines of `/proc/PID/cgroup`.
    groups: Vec<String>,
    nofile: Option<String>,
    memlock: Option<String>,
    /// Null where this user may not read it, or the kernel has no NUMA support.
    numa: Option<String>,
}

/// The conditions of a process and all its descendants, without those that end meanwhile.
pub fn processes(pid: u32) -> Processes {
    let read = |(pid, name): (u32, String)| {
        let folder = Path::new("/proc").join(pid.to_string());
        let [nofile, memlock] = limits(&fs::read_to_string(folder.join("limits")).ok()?);
        let groups = fs::read_to_string(folder.join("cgroup")).ok()?;
        Some(Conditions {
            pid,
            name,
            cpus: processors(&folder)?,
            groups: groups.lines().map(str::to_string).collect(),
            nofile,
            memlock,
            numa: fs::read_to_string(folder.join("numa_maps"))
                .ok()
                .and_then(|maps| policy(&maps)),
        })
    };
    Processes {
        processes: census::family(pid).into_iter().filter_map(read).collect(),
    }
}

fn processors(folder: &Path) -> Option<Vec<String>> {
    let tasks: Vec<PathBuf> = fs::read_dir(folder.join("task"))
        .ok()?
        .flatten()
        .map(|entry| entry.path().join("status"))
        .collect();
    let mut lists: Vec<String> = tasks
        .iter()
        .filter_map(|status| fs::read_to_string(status).ok())
        .filter(|status| !has_ended(status))
        .filter_map(|status| {
            let list = field(&status, "Cpus_allowed_list:")?;
            Some(list.to_string())
        })
        .collect();
    lists.sort();
    lists.dedup();
    (!lists.is_empty()).then_some(lists)
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .map(str::trim)
}

/// Whether it waits for its parent only: the kernel has taken it out of its groups.
fn has_ended(status: &str) -> bool {
    field(status, "State:").is_some_and(|state| state.starts_with(['Z', 'X']))
}

/// The soft limits, as the kernel writes them.
fn limits(text: &str) -> [Option<String>; 2] {
    LIMITS.map(|title| {
        let line = text.lines().find_map(|line| line.strip_prefix(title))?;
        line.split_whitespace().next().map(str::to_string)
    })
}

/// The policy of the process: that of its heap, which no program gives a policy of its own.
fn policy(maps: &str) -> Option<String> {
    let heap = maps.lines().find(|line| line.contains(" heap"));
    let line = heap.or_else(|| maps.lines().next())?;
    line.split(' ').nth(1).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_read_as_the_kernel_shows_it() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let read = processes(child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        let [sleep] = &read.processes[..] else {
            unreachable!("one process is read: {read:?}")
        };
        assert_eq!((sleep.pid, sleep.name.as_str()), (child.id(), "sleep"));
        assert_eq!(sleep.cpus.len(), 1);
        assert!(sleep.nofile.as_ref().unwrap().parse::<u64>().is_ok());
        assert!(!sleep.groups.is_empty());
    }

    #[test]
    fn limits_and_policies_are_found_among_others() {
        let text = "Limit      Soft Limit  Hard Limit  Units\n\
                    Max locked memory         unlimited            unlimited            bytes\n\
                    Max open files            512                  1048576              files\n";
        assert_eq!(limits(text), [Some("512".into()), Some("unlimited".into())]);
        let maps = "55ed default file=/bin/x mapped=2 N0=2\n55ee interleave:0-1 heap anon=3\n";
        assert_eq!(policy(maps).as_deref(), Some("interleave:0-1"));
        assert_eq!(policy(""), None);
    }
}
