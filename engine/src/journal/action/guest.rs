//! A guest of libvirt: its definition, and whether it runs.
//!
//! In: the definition and the state to have. Out: the guest defined, shut down and started so.
//! Called by `journal::action`. No shell is involved.
//!
//! An undo shuts a guest down before it defines it. While an experiment runs, its definition has a
//! mark that the original lacks. So a guest with the original definition was not asked to shut
//! down, and needs no restart. A guest is never switched off: its operating system shuts down.

use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Undo;
use super::program::{output, output_with};

/// The time for an operating system with a large database to shut down.
const PATIENCE: Duration = Duration::from_secs(600);
/// A booting guest does not hear the first request.
const REQUEST_AGAIN: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(200);
const RUNNING: &str = "running";
const OFF: &str = "shut off";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DefineGuest {
    /// The program `virsh` with its options.
    pub virsh: Vec<String>,
    pub name: String,
    /// The definition for the next start, in XML with its secrets.
    pub definition: String,
    /// Whether it runs afterwards; `None`: as before.
    pub running: Option<bool>,
}

impl Undo for DefineGuest {
    fn subject(&self) -> String {
        format!("the guest {}", self.name)
    }

    fn path(&self) -> Option<&Path> {
        None
    }

    fn expected(&self) -> String {
        match self.running {
            Some(true) => format!("{RUNNING} as defined before"),
            Some(false) => format!("{OFF} as defined before"),
            None => "defined as before".into(),
        }
    }

    fn execute(&self) -> io::Result<()> {
        let is_defined = self.is_defined()?;
        let is_running = self.state()? != OFF;
        match self.running {
            None => return if is_defined { Ok(()) } else { self.define() },
            Some(true) if is_defined && is_running => return Ok(()),
            _ => {}
        }
        if is_running {
            self.shut_down()?;
        }
        if !is_defined {
            self.define()?;
        }
        if self.running == Some(true) {
            self.virsh(&["start", "--domain", &self.name])?;
        }
        Ok(())
    }

    fn read_back(&self) -> io::Result<String> {
        if !self.is_defined()? {
            return Ok("defined otherwise".into());
        }
        Ok(match self.running {
            Some(_) => format!("{} as defined before", self.state()?),
            None => "defined as before".into(),
        })
    }
}

impl DefineGuest {
    fn is_defined(&self) -> io::Result<bool> {
        let options = ["dumpxml", "--inactive", "--security-info", "--domain"];
        let present = self.virsh(&[&options[..], &[&self.name]].concat())?;
        Ok(present.trim_end() == self.definition.trim_end())
    }

    fn define(&self) -> io::Result<()> {
        let argv = self.argv(&["define", "/dev/stdin"]);
        output_with(&argv, &self.definition).map(drop)
    }

    fn state(&self) -> io::Result<String> {
        let printed = self.virsh(&["domstate", "--domain", &self.name])?;
        Ok(printed.trim().to_string())
    }

    fn shut_down(&self) -> io::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let mut request = Instant::now();
        while self.state()? != OFF {
            let now = Instant::now();
            if now >= deadline {
                return Err(io::Error::other(format!(
                    "the guest {} does not shut down, {} s after the first request; shut it down by hand",
                    self.name,
                    PATIENCE.as_secs()
                )));
            }
            if now >= request {
                // Refused where the guest has just ended.
                let refusal = self.virsh(&["shutdown", "--domain", &self.name]).err();
                if let Some(cause) = refusal
                    && self.state()? == RUNNING
                {
                    return Err(cause);
                }
                request = now + REQUEST_AGAIN;
            }
            thread::sleep(GLANCE);
        }
        Ok(())
    }

    fn argv<'a>(&'a self, words: &[&'a str]) -> Vec<&'a str> {
        let virsh = self.virsh.iter().map(String::as_str);
        virsh.chain(words.iter().copied()).collect()
    }

    fn virsh(&self, words: &[&str]) -> io::Result<String> {
        output(&self.argv(words))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A guest whose `virsh` refuses to start it.
    fn guest(folder: &Path, state: &str, definition: &str, running: bool) -> DefineGuest {
        let script = folder.join("virsh");
        let text = format!(
            "#!/bin/sh\ncase $1 in\ndumpxml) echo '<old/>' ;;\ndomstate) echo '{state}' ;;\n*) echo \"refused: $1\" >&2; exit 1 ;;\nesac\n"
        );
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
        DefineGuest {
            virsh: vec![script.display().to_string()],
            name: "db1".into(),
            definition: definition.into(),
            running: Some(running),
        }
    }

    #[test]
    fn a_guest_that_is_as_it_should_be_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let guest = guest(folder.path(), "running", "<old/>\n\n", true);
        guest.execute().unwrap();
        assert_eq!(guest.read_back().unwrap(), guest.expected());
    }

    #[test]
    fn a_refusal_of_each_step_is_an_error_with_its_words() {
        let folder = tempfile::tempdir().unwrap();
        for (state, definition, running, step) in [
            ("shut off", "<old/>", true, "start"),
            ("shut off", "<new/>", true, "define"),
            ("running", "<old/>", false, "shutdown"),
            ("running", "<new/>", true, "shutdown"),
        ] {
            let guest = guest(folder.path(), state, definition, running);
            let cause = guest.execute().unwrap_err().to_string();
            assert!(cause.contains(&format!("refused: {step}")), "{cause}");
            assert_ne!(guest.read_back().unwrap(), guest.expected());
        }
    }
}
