//! Actions: how one change is taken back and how to see that it was.
//!
//! In: an action as it stands in the journal. Out: it is done, or what is found instead. Called by
//! `journal::restore`. An action needs nothing but the journal: no plan, no catalogue, no store.

mod group;
mod image;
mod module;
mod mount;
mod program;
mod statement;

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use group::ControlGroup;
pub use image::{Image, PutBack};
pub use module::LoadModule;
pub use mount::MountOption;
pub use program::RunProgram;
pub use statement::PutStatements;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Writes a text to a file that exists.
    Write(WriteText),
    /// Changes one option of a mounted file system.
    Mount(MountOption),
    /// Loads a kernel module anew with one parameter changed.
    Module(LoadModule),
    /// Makes or removes a control group.
    Group(ControlGroup),
    /// Runs a program; another one tells whether it took.
    Run(RunProgram),
    /// Makes a file what it was.
    PutBack(PutBack),
    /// Puts statements to a running server.
    Statement(Box<PutStatements>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteText {
    pub path: PathBuf,
    pub text: String,
    #[serde(default)]
    pub readback: Readback,
}

/// How the value in force is read from what the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Readback {
    /// All of it.
    #[default]
    Plain,
    /// The word in brackets, as in `none [mq-deadline] bfq`; all of it when there are none.
    Bracketed,
}

impl Action {
    /// The name of what the action sets; two actions with one name set the same thing.
    pub fn thing(&self) -> String {
        match self {
            Action::Write(write) => write.path.display().to_string(),
            Action::Mount(mount) => mount.thing(),
            Action::Module(module) => module.thing(),
            Action::Group(group) => group.path.display().to_string(),
            Action::Run(run) => run.thing(),
            Action::PutBack(put) => put.path.display().to_string(),
            Action::Statement(put) => put.thing(),
        }
    }

    /// A path that leads elsewhere from another working directory; `None` where all is well.
    pub fn relative_path(&self) -> Option<&Path> {
        let path = match self {
            Action::Write(write) => &write.path,
            Action::Mount(mount) => &mount.path,
            Action::Module(module) => &module.path,
            Action::Group(group) => &group.path,
            Action::PutBack(put) => &put.path,
            Action::Run(_) | Action::Statement(_) => return None,
        };
        path.is_relative().then_some(path.as_path())
    }

    pub fn wanted(&self) -> String {
        match self {
            Action::Write(write) => normalised(&write.text),
            Action::Mount(mount) => mount.wanted(),
            Action::Module(module) => module.wanted(),
            Action::Group(group) => group.wanted(),
            Action::Run(run) => run.wanted(),
            Action::PutBack(put) => put.wanted(),
            Action::Statement(put) => put.wanted(),
        }
    }

    /// Whether what it takes back is gone with what it was set on, and another value there is not ours.
    pub fn has_expired(&self) -> bool {
        matches!(self, Action::Statement(put) if put.has_expired())
    }

    pub fn execute(&self) -> io::Result<()> {
        match self {
            Action::Write(write) => write.execute(),
            Action::Mount(mount) => mount.execute(),
            Action::Module(module) => module.execute(),
            Action::Group(group) => group.execute(),
            Action::Run(run) => run.execute(),
            Action::PutBack(put) => put.execute(),
            Action::Statement(put) => put.execute(),
        }
    }

    /// What is in force, in the form of `wanted`.
    pub fn read_back(&self) -> io::Result<String> {
        match self {
            Action::Write(write) => write.read_back(),
            Action::Mount(mount) => mount.read_back(),
            Action::Module(module) => module.read_back(),
            Action::Group(group) => group.read_back(),
            Action::Run(run) => run.read_back(),
            Action::PutBack(put) => put.read_back(),
            Action::Statement(put) => put.read_back(),
        }
    }
}

impl WriteText {
    fn execute(&self) -> io::Result<()> {
        // Never creates: a file that is gone cannot be what was changed.
        let mut file = OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(&self.path)?;
        file.write_all(self.text.as_bytes())?;
        // The kernel's own files need no fsync and refuse it; on a disk it makes the value last.
        if file.metadata().is_ok_and(|metadata| metadata.len() > 0) {
            let _ = file.sync_all();
        }
        Ok(())
    }

    fn read_back(&self) -> io::Result<String> {
        let text = fs::read_to_string(&self.path)?;
        let value = match self.readback {
            Readback::Plain => &text,
            Readback::Bracketed => in_brackets(&text).unwrap_or(&text),
        };
        Ok(normalised(value))
    }
}

fn in_brackets(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(inside, _)| inside)
}

/// Kernel files end with a newline and some separate numbers by tabs: only the words count.
fn normalised(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str, readback: Readback) -> Action {
        Action::Write(WriteText {
            path: path.to_path_buf(),
            text: text.into(),
            readback,
        })
    }

    #[test]
    fn the_value_in_force_is_read_with_and_without_brackets() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "none [mq-deadline] bfq\n").unwrap();
        let read = |readback| write(file.path(), "", readback).read_back().unwrap();
        assert_eq!(read(Readback::Bracketed), "mq-deadline");
        assert_eq!(read(Readback::Plain), "none [mq-deadline] bfq");
        fs::write(file.path(), "4096\t87380\t629\n").unwrap();
        assert_eq!(read(Readback::Bracketed), "4096 87380 629");
    }

    #[test]
    fn executing_never_creates_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let gone = directory.path().join("gone");
        assert!(write(&gone, "1", Readback::Plain).execute().is_err());
        assert!(!gone.exists());
    }

    #[test]
    fn an_unknown_action_is_refused_rather_than_skipped() {
        assert!(serde_json::from_str::<Action>(r#"{"shell":{"text":"true"}}"#).is_err());
    }
}
