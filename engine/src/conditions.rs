//! The start conditions of a process: NUMA nodes of its memory, processors, resource limits,
//! control groups.
//!
//! In: options of the command line. Out: this process with these conditions, each read back; or an
//! error that names the refused condition. Every later thread and child inherits them. Called by
//! `main` before any other work.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::{Class, EngineError, Result};

const NODES: &str = "/sys/devices/system/node/has_memory";
const MOST: usize = 1024;

#[derive(Debug, Clone, Default, Args)]
pub struct Conditions {
    /// NUMA policy for memory: default, local, or interleave, bind, preferred with `:NODES`.
    #[arg(long, value_name = "POLICY")]
    numa: Option<Numa>,
    /// The processors that it may use, such as 0-3,8.
    #[arg(long, value_name = "LIST")]
    cpus: Option<Numbers>,
    /// A resource limit: nofile=N, memlock=BYTES, or unlimited.
    #[arg(long = "limit", value_name = "NAME=VALUE")]
    limits: Vec<Limit>,
    /// A control group to join.
    #[arg(long = "cgroup", value_name = "FOLDER")]
    groups: Vec<PathBuf>,
}

impl Conditions {
    pub fn take(&self) -> Result<()> {
        for group in &self.groups {
            join(group).map_err(|cause| refused(&format!("group {}", group.display()), &cause))?;
        }
        if let Some(numa) = &self.numa {
            numa.take()
                .map_err(|cause| refused("NUMA policy", &cause))?;
        }
        if let Some(cpus) = &self.cpus {
            run_on(cpus).map_err(|cause| refused("processors", &cause))?;
        }
        for limit in &self.limits {
            limit.take().map_err(|cause| refused(limit.name, &cause))?;
        }
        Ok(())
    }
}

fn refused(condition: &str, cause: &io::Error) -> EngineError {
    EngineError::new(
        Class::ConditionRefused,
        format!("cannot set the {condition} of this process: {cause}"),
        "run as root, or choose a value that this machine offers",
    )
}

/// Numbers as the kernel writes them: `0-3,8`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Numbers(Vec<usize>);

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong = || format!("`{text}` is not a list of numbers such as 0-3,8");
        let mut numbers = Vec::new();
        for part in text.trim().split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |digits: &str| digits.parse().ok().filter(|&number| number < MOST);
            let (first, last): (usize, usize) =
                number(first).zip(number(last)).ok_or_else(wrong)?;
            numbers.extend(first..=last);
        }
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() {
            Err(wrong())
        } else {
            Ok(Numbers(numbers))
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Numa {
    mode: i32,
    /// `None`: all nodes with memory.
    nodes: Option<Numbers>,
}

impl FromStr for Numa {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (word, nodes) = match text.split_once(':') {
            Some((word, nodes)) => (word, Some(nodes.parse()?)),
            None => (text, None),
        };
        let mode = match (word, &nodes) {
            ("default", None) => libc::MPOL_DEFAULT,
            ("local", None) => libc::MPOL_LOCAL,
            ("interleave", _) => libc::MPOL_INTERLEAVE,
            ("bind", Some(_)) => libc::MPOL_BIND,
            ("preferred", Some(_)) => libc::MPOL_PREFERRED,
            _ => {
                return Err(format!(
                    "`{text}` is not a policy: write default, local, interleave, interleave:0,1, bind:0 or preferred:0"
                ));
            }
        };
        Ok(Numa { mode, nodes })
    }
}

type Mask = [u64; MOST / 64];

impl Numa {
    fn take(&self) -> io::Result<()> {
        let mut mask: Mask = [0; MOST / 64];
        for node in self.wanted_nodes()? {
            mask[node / 64] |= 1 << (node % 64);
        }
        // rustix has no call for memory policies.
        // SAFETY: the kernel reads MOST bits of `mask`, which has as many.
        call(unsafe { libc::syscall(libc::SYS_set_mempolicy, self.mode, mask.as_ptr(), MOST) })?;
        let (mut mode, mut nodes_in_force): (i32, Mask) = (0, [0; MOST / 64]);
        // SAFETY: the kernel writes one int and MOST bits, for which there is room; no address is asked about.
        call(unsafe {
            libc::syscall(
                libc::SYS_get_mempolicy,
                &raw mut mode,
                nodes_in_force.as_mut_ptr(),
                MOST,
                0,
                0,
            )
        })?;
        // Older kernels report `local` as preferred without a node.
        let same_mode =
            mode == self.mode || (self.mode == libc::MPOL_LOCAL && mode == libc::MPOL_PREFERRED);
        if same_mode && nodes_in_force == mask {
            Ok(())
        } else {
            Err(different())
        }
    }

    fn wanted_nodes(&self) -> io::Result<Vec<usize>> {
        match &self.nodes {
            Some(nodes) => Ok(nodes.0.clone()),
            None if self.mode == libc::MPOL_INTERLEAVE => {
                let text = fs::read_to_string(NODES)?;
                let nodes: Numbers = text.parse().map_err(io::Error::other)?;
                Ok(nodes.0)
            }
            None => Ok(Vec::new()),
        }
    }
}

fn run_on(cpus: &Numbers) -> io::Result<()> {
    let mut requested = CpuSet::new();
    for &cpu in &cpus.0 {
        requested.set(cpu);
    }
    sched_setaffinity(None, &requested)?;
    // The kernel leaves out processors that do not exist.
    if sched_getaffinity(None)? == requested {
        Ok(())
    } else {
        Err(different())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Limit {
    name: &'static str,
    resource: Resource,
    /// `None`: unlimited.
    value: Option<u64>,
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let resources = [("nofile", Resource::Nofile), ("memlock", Resource::Memlock)];
        let wrong =
            || format!("`{text}` is not a limit: write nofile=N or memlock=BYTES, or unlimited");
        let (word, value) = text.split_once('=').ok_or_else(wrong)?;
        let (name, resource) = *resources
            .iter()
            .find(|(name, _)| *name == word)
            .ok_or_else(wrong)?;
        let value = match value {
            "unlimited" => None,
            digits => Some(digits.parse().map_err(|_| wrong())?),
        };
        Ok(Limit {
            name,
            resource,
            value,
        })
    }
}

impl Limit {
    fn take(&self) -> io::Result<()> {
        let maximum = getrlimit(self.resource).maximum;
        let limit = Rlimit {
            current: self.value,
            maximum: self.value.zip(maximum).map(|(value, most)| value.max(most)),
        };
        setrlimit(self.resource, limit)?;
        if getrlimit(self.resource).current == self.value {
            Ok(())
        } else {
            Err(different())
        }
    }
}

/// Moves this process and its future children.
fn join(group: &std::path::Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), std::process::id().to_string())
}

fn different() -> io::Error {
    io::Error::other("it has another value after it was set")
}

fn call(outcome: libc::c_long) -> io::Result<()> {
    if outcome == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_the_kernel_writes_them() {
        let read = |text: &str| text.parse::<Numbers>().map(|numbers| numbers.0);
        assert_eq!(read("0-2,5\n"), Ok(vec![0, 1, 2, 5]));
        assert_eq!(read("3,1,1"), Ok(vec![1, 3]));
        for wrong in ["", "a", "2-", "3-1", "1024", "0-99999999999999999999"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn policies_and_limits_are_read_or_refused_with_what_would_be_right() {
        for right in [
            "default",
            "local",
            "interleave",
            "interleave:0-1",
            "bind:0",
            "preferred:1",
        ] {
            assert!(right.parse::<Numa>().is_ok(), "{right}");
        }
        for wrong in ["", "bind", "local:0", "bind:x", "everywhere"] {
            assert!(wrong.parse::<Numa>().is_err(), "{wrong}");
        }
        assert_eq!("memlock=unlimited".parse::<Limit>().unwrap().value, None);
        for wrong in ["nofile", "nofile=", "nofile=-1", "cpu=1"] {
            assert!(wrong.parse::<Limit>().is_err(), "{wrong}");
        }
    }
}
