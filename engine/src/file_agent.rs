//! `paribus-engine file-agent`: reads and lists files for a controller on another machine.
//!
//! In: commands on stdin, one per line: read a file, list a folder, resolve a path. Out: one `seen`
//! or `unseen` event for each, in order. Called by `main`. It replaces the system calls of a local
//! controller, so that one connection serves all of them. It changes nothing: only the keeper does
//! (`journal::keeper`).

use std::fs;
use std::io::{self, Read};
use std::path::{self, Component, Path, PathBuf};
use std::sync::mpsc::channel;

use serde::{Deserialize, Serialize};

use crate::error::{EngineError, Result};
use crate::event::Events;
use crate::input::{self, Input};

/// The kernel's own limit.
const MOST_LINKS: u32 = 40;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Command {
    Read { path: PathBuf },
    Names { path: PathBuf },
    Resolve { path: PathBuf },
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum FileAgentEvent {
    Seen {
        texts: Vec<String>,
    },
    /// The system call failed.
    Unseen {
        errno: i32,
        reason: String,
    },
}

pub fn serve(stdin: impl Read + Send + 'static, events: &Events) -> Result<()> {
    let (sender, inbox) = channel();
    input::forward(stdin, sender, |input| input).map_err(|cause| EngineError::no_thread(&cause))?;
    while let Ok(Input::Line(line)) = inbox.recv() {
        let command = serde_json::from_str(&line).map_err(|cause| {
            EngineError::bad_command(format!(
                "`{line}` is not a command of the file agent: {cause}"
            ))
        });
        events.emit_outcome(command.map(answer));
    }
    Ok(())
}

fn answer(command: Command) -> FileAgentEvent {
    match carry_out(command) {
        Ok(texts) => FileAgentEvent::Seen { texts },
        Err(cause) => FileAgentEvent::Unseen {
            errno: cause.raw_os_error().unwrap_or(0),
            reason: cause.to_string(),
        },
    }
}

fn carry_out(command: Command) -> io::Result<Vec<String>> {
    match command {
        Command::Read { path } => {
            let bytes = fs::read(path)?;
            Ok(vec![String::from_utf8_lossy(&bytes).into_owned()])
        }
        Command::Names { path } => names(&path),
        Command::Resolve { path } => Ok(vec![resolve(&path).display().to_string()]),
    }
}

fn names(path: &Path) -> io::Result<Vec<String>> {
    let mut names = fs::read_dir(path)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<Vec<String>>>()?;
    names.sort();
    Ok(names)
}

/// Follows every link, also a dangling one; treats missing components as directories.
fn resolve(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::from("/");
    let mut pending = path::absolute(path).map_or_else(|_| parts(path), |whole| parts(&whole));
    let mut links = 0;
    while let Some(part) = pending.pop() {
        if part == Path::new("..") {
            resolved.pop();
            continue;
        }
        let here = resolved.join(part);
        match fs::read_link(&here) {
            Ok(target) if links < MOST_LINKS => {
                links += 1;
                if target.is_absolute() {
                    resolved = PathBuf::from("/");
                }
                pending.extend(parts(&target));
            }
            _ => resolved = here,
        }
    }
    resolved
}

/// The names of a path, the last one first.
fn parts(path: &Path) -> Vec<PathBuf> {
    let named = |part| match part {
        Component::ParentDir => Some(PathBuf::from("..")),
        Component::Normal(name) => Some(PathBuf::from(name)),
        _ => None,
    };
    path.components().rev().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn obey(command: &serde_json::Value) -> FileAgentEvent {
        answer(serde_json::from_value(command.clone()).unwrap())
    }

    fn seen(texts: &[&str]) -> FileAgentEvent {
        let texts = texts.iter().map(ToString::to_string).collect();
        FileAgentEvent::Seen { texts }
    }

    #[test]
    fn files_are_read_listed_and_followed() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let (file, link) = (root.join("file"), root.join("link"));
        fs::write(&file, "old\n").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let json = |name: &str, path: &Path| serde_json::json!({ name: { "path": path } });
        assert_eq!(obey(&json("read", &link)), seen(&["old\n"]));
        assert_eq!(obey(&json("names", &root)), seen(&["file", "link"]));
        let name = file.display().to_string();
        assert_eq!(obey(&json("resolve", &link)), seen(&[&name]));
        let beyond = root.join("not/there").display().to_string();
        assert_eq!(obey(&json("resolve", Path::new(&beyond))), seen(&[&beyond]));
        let out = root.join("not/../../there");
        let above = root.parent().unwrap().join("there").display().to_string();
        assert_eq!(obey(&json("resolve", &out)), seen(&[&above]));
        let dangling = root.join("dangling");
        std::os::unix::fs::symlink("../there", &dangling).unwrap();
        assert_eq!(obey(&json("resolve", &dangling)), seen(&[&above]));
    }

    #[test]
    fn a_failed_call_is_told_with_its_number() {
        let directory = tempfile::tempdir().unwrap();
        let gone = directory.path().join("gone");
        let read = serde_json::json!({"read": {"path": gone}});
        let FileAgentEvent::Unseen { errno, .. } = obey(&read) else {
            panic!("a file that is gone was seen");
        };
        assert_eq!(errno, libc::ENOENT);
    }
}
