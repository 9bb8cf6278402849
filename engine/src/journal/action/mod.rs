//! Actions: the undo of one change, and its verification.
//!
//! In: an action as recorded in the journal. Out: the action executed, or the value that differs.
//! Called by `journal::restore`. An action needs only the journal: no plan, no catalogue, no store.

mod command;
mod group;
mod guest;
mod module;
mod mount;
mod pools;
mod program;
mod release;
mod run_program;
mod statement;

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use command::SetByCommand;
pub use group::ControlGroup;
pub use guest::DefineGuest;
pub use module::LoadModule;
pub use mount::MountOption;
pub use release::ReleaseDisk;
pub use run_program::RunProgram;
pub use statement::PutStatements;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Writes a text to a file that exists.
    Write(WriteText),
    /// Changes one option of a mounted file system.
    Mount(MountOption),
    /// Loads a kernel module again with one parameter changed.
    Module(LoadModule),
    /// Creates or removes a control group.
    Group(ControlGroup),
    /// Takes apart all that lies on a disk, and wipes it.
    Release(ReleaseDisk),
    /// Runs a program of the build of a layout; never an undo.
    Program(RunProgram),
    /// Sets a value by a program, and reads it by another.
    Command(SetByCommand),
    /// Defines a guest of libvirt, and shuts it down or starts it.
    Guest(DefineGuest),
    /// Executes statements on a running server.
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

/// How the value in force is parsed from the file's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Readback {
    /// The whole text.
    #[default]
    Plain,
    /// The word in brackets, as in `none [mq-deadline] bfq`; the number of `2000 (local)`, and the
    /// word `system` of `1000 (system)`; else the whole text.
    Bracketed,
}

/// The operations of each kind of action.
trait Undo {
    /// The name of the changed setting; two actions with one name change the same setting.
    fn subject(&self) -> String;

    /// The path of the setting, where it has one.
    fn path(&self) -> Option<&Path>;

    fn expected(&self) -> String;

    fn execute(&self) -> io::Result<()>;

    /// The value in force, in the form of `expected`.
    fn read_back(&self) -> io::Result<String>;

    /// Whether the value in force does not prove that the setting is restored, so that a refused write
    /// is a failure.
    fn must_succeed(&self) -> bool {
        false
    }

    /// Whether a restart has removed the changed setting, and the present value is not ours.
    fn has_expired(&self) -> bool {
        false
    }
}

impl Action {
    fn kind(&self) -> &dyn Undo {
        match self {
            Action::Write(write) => write,
            Action::Mount(mount) => mount,
            Action::Module(module) => module,
            Action::Group(group) => group,
            Action::Release(release) => release,
            Action::Program(program) => program,
            Action::Command(command) => command,
            Action::Guest(guest) => guest,
            Action::Statement(statement) => statement.as_ref(),
        }
    }

    pub fn subject(&self) -> String {
        self.kind().subject()
    }

    /// A relative path, which another working directory would resolve differently; `None` for
    /// absolute ones.
    pub fn relative_path(&self) -> Option<&Path> {
        self.kind().path().filter(|path| path.is_relative())
    }

    pub fn expected(&self) -> String {
        self.kind().expected()
    }

    pub fn execute(&self) -> io::Result<()> {
        self.kind().execute()
    }

    pub fn read_back(&self) -> io::Result<String> {
        self.kind().read_back()
    }

    pub fn must_succeed(&self) -> bool {
        self.kind().must_succeed()
    }

    pub fn has_expired(&self) -> bool {
        self.kind().has_expired()
    }
}

impl Undo for WriteText {
    fn subject(&self) -> String {
        self.path.display().to_string()
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn expected(&self) -> String {
        normalised(&self.text)
    }

    fn execute(&self) -> io::Result<()> {
        // Never creates a file: a missing file cannot be the changed one.
        let mut file = OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(&self.path)?;
        file.write_all(self.text.as_bytes())?;
        // Kernel files need no fsync and refuse it; for a file on a disk it makes the value
        // durable.
        if file.metadata().is_ok_and(|metadata| metadata.len() > 0) {
            let _ = file.sync_all();
        }
        Ok(())
    }

    fn read_back(&self) -> io::Result<String> {
        let text = fs::read_to_string(&self.path)?;
        let value = match self.readback {
            Readback::Plain => &text,
            Readback::Bracketed => in_brackets(&text)
                .or_else(|| of_array(&text))
                .unwrap_or(&text),
        };
        Ok(normalised(value))
    }
}

fn in_brackets(text: &str) -> Option<&str> {
    let (_, after) = text.split_once('[')?;
    after.split_once(']').map(|(inside, _)| inside)
}

/// A limit of an md array: its own, or the word that stands for that of all arrays.
fn of_array(text: &str) -> Option<&str> {
    let words: Vec<_> = text.split_whitespace().collect();
    match words[..] {
        [number, "(local)"] => Some(number),
        [_, "(system)"] => Some("system"),
        _ => None,
    }
}

/// Compares words only: kernel files end with a newline, and some separate numbers by tabs.
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
        fs::write(file.path(), "2000 (local)\n").unwrap();
        assert_eq!(read(Readback::Bracketed), "2000");
        fs::write(file.path(), "1000 (system)\n").unwrap();
        assert_eq!(read(Readback::Bracketed), "system");
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
        assert!(serde_json::from_str::<Action>(r#"{"run":{"argv":["true"]}}"#).is_err());
    }
}
