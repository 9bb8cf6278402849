//! A control group that exists for an experiment and is removed with it.
//!
//! In: its folder, and whether it has to exist. Out: the group in that state. Called by
//! `journal::action`. Settings inside the group need no undo of their own: they disappear with it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Undo;

/// A killed process may still be counted in the group for a moment.
const PATIENCE: Duration = Duration::from_secs(5);
const GLANCE: Duration = Duration::from_millis(20);
const MEMBERS: &str = "cgroup.procs";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlGroup {
    pub path: PathBuf,
    pub present: bool,
}

impl Undo for ControlGroup {
    fn subject(&self) -> String {
        self.path.display().to_string()
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn expected(&self) -> String {
        presence(self.present)
    }

    fn read_back(&self) -> io::Result<String> {
        Ok(presence(self.path.is_dir()))
    }

    fn execute(&self) -> io::Result<()> {
        match (self.path.is_dir(), self.present) {
            (false, true) => self.make(),
            (true, false) => self.remove(),
            _ => Ok(()),
        }
    }
}

impl ControlGroup {
    fn make(&self) -> io::Result<()> {
        fs::create_dir(&self.path)?;
        // In cgroup version 1 no process may join a group that has no processors or no memory.
        for name in ["cpuset.cpus", "cpuset.mems"] {
            let parent_value = fs::read_to_string(self.parent().join(name));
            let file = self.path.join(name);
            if let (Ok(parent_value), Ok(true)) = (
                parent_value,
                fs::read_to_string(&file).map(|text| text.trim().is_empty()),
            ) {
                fs::write(&file, parent_value)?;
            }
        }
        Ok(())
    }

    /// Moves the remaining processes to the parent group.
    fn remove(&self) -> io::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            for member in fs::read_to_string(self.path.join(MEMBERS))?.lines() {
                // A process that has ended meanwhile need not be moved.
                let _ = fs::write(self.parent().join(MEMBERS), member);
            }
            match fs::remove_dir(&self.path) {
                Err(cause)
                    if cause.kind() == io::ErrorKind::ResourceBusy && Instant::now() < deadline =>
                {
                    thread::sleep(GLANCE);
                }
                outcome => return outcome,
            }
        }
    }

    fn parent(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }
}

fn presence(present: bool) -> String {
    if present { "a group" } else { "no group" }.to_string()
}
