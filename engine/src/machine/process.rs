//! The processes of this machine, as /proc shows them.
//!
//! In: process ids. Out: the ids of all processes, and the fields of their /proc/PID/stat. Called by
//! `telemetry::census`, `supervise::process`, `journal::lock` and `users`.

use std::fs;

/// Flag of a kernel thread (PF_KTHREAD).
const KERNEL_THREAD: u64 = 0x0020_0000;

#[derive(Debug, PartialEq)]
pub struct ProcessStat {
    pub command: String,
    state: char,
    pub parent: u32,
    flags: u64,
    /// Minor page faults of the children that were reaped.
    pub reaped_faults: u64,
    /// Processor time in user and system mode.
    pub cpu_ticks: u64,
    /// The part in user mode.
    pub user_ticks: u64,
    pub start_ticks: u64,
}

/// The ids of all processes.
pub fn pids() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

impl ProcessStat {
    /// `None` where the process has ended.
    pub fn of(pid: u32) -> Option<ProcessStat> {
        ProcessStat::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The command is in parentheses and may contain anything.
    fn parse(text: &str) -> Option<ProcessStat> {
        let (open, close) = (text.find('(')?, text.rfind(')')?);
        let command = text.get(open + 1..close)?.to_string();
        // The first word here is field 3 of proc_pid_stat(5).
        let fields: Vec<&str> = text.get(close + 1..)?.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(ProcessStat {
            command,
            state: fields.first()?.chars().next()?,
            parent: field(4)? as u32,
            flags: field(9)?,
            reaped_faults: field(11)?,
            cpu_ticks: field(14)? + field(15)?,
            user_ticks: field(14)?,
            start_ticks: field(22)?,
        })
    }

    pub fn is_kernel_thread(&self) -> bool {
        self.flags & KERNEL_THREAD != 0
    }

    /// Whether a signal or a debugger has stopped it.
    pub fn is_stopped(&self) -> bool {
        matches!(self.state, 'T' | 't')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_may_contain_spaces_and_parentheses() {
        let text = "42 (my (odd) name) S 1 42 42 0 -1 4194560 1 5 0 0 30 12 0 0 20 0 1 0 777 1 1";
        let stat = ProcessStat::parse(text).unwrap();
        assert_eq!(stat.command, "my (odd) name");
        assert_eq!(
            (stat.cpu_ticks, stat.user_ticks, stat.start_ticks),
            (42, 30, 777)
        );
        assert_eq!(stat.parent, 1);
        assert_eq!(stat.reaped_faults, 5);
        assert!(!stat.is_kernel_thread() && !stat.is_stopped());
    }

    #[test]
    fn this_process_is_listed_with_its_parent() {
        let pid = std::process::id();
        assert!(pids().contains(&pid));
        let stat = ProcessStat::of(pid).unwrap();
        assert_eq!(stat.parent, std::os::unix::process::parent_id());
    }
}
