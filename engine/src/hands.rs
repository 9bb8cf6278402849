//! `ceteris-engine hands`: the controller's hands on a machine that it reaches over a network.
//!
//! In: commands on stdin, one per line: read or write a kernel file, list a folder, follow a path.
//! Out: one `handed` or `refused` event for each, in order. Called by `main`. It does what a local
//! controller does with plain system calls, so that one connection serves all of them.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use serde::{Deserialize, Serialize};

use crate::error::{EngineError, Result};
use crate::event::{Event, Events};
use crate::input::{self, Input};
use crate::load::crew::no_thread;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Command {
    Read { path: PathBuf },
    Write { path: PathBuf, text: String },
    Names { path: PathBuf },
    Resolve { path: PathBuf },
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum HandsEvent {
    /// The command was carried out; what it gave, where it gives something.
    Handed { texts: Vec<String> },
    /// The system call failed.
    Refused { errno: i32, reason: String },
}

pub fn lend(stdin: impl Read + Send + 'static, events: &Events) -> Result<()> {
    let (sender, inbox) = channel();
    input::forward(stdin, sender, |input| input).map_err(|cause| no_thread(&cause))?;
    while let Ok(Input::Line(line)) = inbox.recv() {
        let answer = match serde_json::from_str(&line) {
            Ok(command) => Event::Hands(answer(command)),
            Err(cause) => Event::Error(EngineError::bad_command(format!(
                "`{line}` is not a command of hands: {cause}"
            ))),
        };
        events.emit(&answer);
    }
    Ok(())
}

fn answer(command: Command) -> HandsEvent {
    match carry_out(command) {
        Ok(texts) => HandsEvent::Handed { texts },
        Err(cause) => HandsEvent::Refused {
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
        Command::Write { path, text } => write(&path, &text).map(|()| Vec::new()),
        Command::Names { path } => names(&path),
        Command::Resolve { path } => Ok(vec![resolve(&path).display().to_string()]),
    }
}

/// In one write(2), as sysfs wants it, and never into a file that is not there.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let written = OpenOptions::new()
        .write(true)
        .open(path)?
        .write(text.as_bytes())?;
    if written < text.len() {
        return Err(io::Error::other("only a part of it was taken"));
    }
    Ok(())
}

fn names(path: &Path) -> io::Result<Vec<String>> {
    let mut names = fs::read_dir(path)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<Vec<String>>>()?;
    names.sort();
    Ok(names)
}

/// Every link followed as far as there is something.
fn resolve(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let Ok(found) = fs::canonicalize(ancestor) {
            return match path.strip_prefix(ancestor) {
                Ok(rest) if rest.as_os_str().is_empty() => found,
                Ok(rest) => found.join(rest),
                Err(_) => found,
            };
        }
    }
    path.to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn obey(command: &serde_json::Value) -> HandsEvent {
        answer(serde_json::from_value(command.clone()).unwrap())
    }

    fn handed(texts: &[&str]) -> HandsEvent {
        let texts = texts.iter().map(ToString::to_string).collect();
        HandsEvent::Handed { texts }
    }

    #[test]
    fn files_are_read_written_listed_and_followed() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let (file, link) = (root.join("file"), root.join("link"));
        fs::write(&file, "old\n").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let json = |name: &str, path: &Path| serde_json::json!({ name: { "path": path } });
        assert_eq!(obey(&json("read", &link)), handed(&["old\n"]));
        let write = serde_json::json!({"write": {"path": file, "text": "new"}});
        assert_eq!(obey(&write), handed(&[]));
        assert_eq!(fs::read_to_string(&file).unwrap(), "new\n");
        assert_eq!(obey(&json("names", &root)), handed(&["file", "link"]));
        let name = file.display().to_string();
        assert_eq!(obey(&json("resolve", &link)), handed(&[&name]));
        let beyond = root.join("not/there").display().to_string();
        assert_eq!(
            obey(&json("resolve", Path::new(&beyond))),
            handed(&[&beyond])
        );
    }

    #[test]
    fn a_failed_call_is_told_with_its_number_and_nothing_is_created() {
        let place = tempfile::tempdir().unwrap();
        let gone = place.path().join("gone");
        let write = serde_json::json!({"write": {"path": gone, "text": "new"}});
        for command in [serde_json::json!({"read": {"path": gone}}), write] {
            let HandsEvent::Refused { errno, .. } = obey(&command) else {
                panic!("a file that is gone was used");
            };
            assert_eq!(errno, libc::ENOENT);
        }
        assert!(!gone.exists());
    }
}
