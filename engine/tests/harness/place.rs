//! A directory with ordinary files as settings, and a directory for journals.

#![allow(dead_code, clippy::unwrap_used)]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{Engine, binary, disk_directory, named};

pub struct Place {
    root: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Place {
        let root = disk_directory();
        for name in ["a", "b", "c"] {
            fs::write(root.path().join(name), format!("old-{name}\n")).unwrap();
        }
        Place { root }
    }

    pub fn journals(&self) -> PathBuf {
        self.root.path().join("journal")
    }

    /// The engine, with a register and copies of journals in this place.
    pub fn start(&self, arguments: &[&str], journals: &Path) -> Engine {
        Engine::spawn(self.command(arguments, journals))
    }

    pub fn command(&self, arguments: &[&str], journals: &Path) -> Command {
        let mut command = Command::new(binary());
        command
            .args(arguments)
            .arg("--directory")
            .arg(journals)
            .env("PARIBUS_REGISTER", self.register())
            .env("PARIBUS_STATE_COPY", self.root.path().join("copies"));
        command
    }

    /// The directory of the journals' copies.
    pub fn copies(&self) -> PathBuf {
        let key = crc32fast::hash(self.journals().as_os_str().as_bytes());
        self.root.path().join(format!("copies/journal-{key:08x}"))
    }

    pub fn register(&self) -> PathBuf {
        self.root.path().join("register")
    }

    pub fn setting(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub fn value(&self, name: &str) -> String {
        fs::read_to_string(self.setting(name))
            .unwrap()
            .trim()
            .to_string()
    }

    pub fn keeper(&self, experiment: &str, names: &[&str], global: bool) -> Engine {
        let addresses: Vec<PathBuf> = names.iter().map(|name| self.setting(name)).collect();
        let mut engine = self.start(&["journal"], &self.journals());
        engine.send(
            &json!({"open": {"experiment": experiment, "addresses": addresses, "global": global}}),
        );
        engine
    }

    pub fn opened(&self, experiment: &str, names: &[&str]) -> Engine {
        let mut engine = self.keeper(experiment, names, false);
        engine.wait_for("opened");
        engine
    }

    /// Journals a change and then makes it, as the controller does.
    pub fn change(&self, keeper: &mut Engine, name: &str, value: &str) {
        keeper.send(&self.change_line(name, &self.value(name), value, false));
        keeper.wait_for("journalled");
        keeper.send(&self.make_line(name, value));
        keeper.wait_for("made");
    }

    pub fn make_line(&self, name: &str, value: &str) -> Value {
        let action = json!({"write": {"path": self.setting(name), "text": value}});
        json!({"make": {"knob": format!("test.{name}"), "action": action}})
    }

    pub fn change_line(&self, name: &str, before: &str, value: &str, persistent: bool) -> Value {
        let path = self.setting(name);
        json!({"change": {"knob": format!("test.{name}"), "address": path, "before": before,
            "wanted": value, "persistent": persistent,
            "undo": [{"write": {"path": path, "text": before, "readback": "plain"}}]}})
    }

    /// The events of an undo, without the searched directory.
    pub fn undo(&self, more: &[&str]) -> (i32, Vec<Value>) {
        let arguments = [&["undo"], more].concat();
        let (code, mut events) = self.start(&arguments, &self.journals()).finish();
        events.retain(|event| event["event"] != "looked");
        (code, events)
    }

    pub fn orphan(&self, experiment: &str, names: &[&str]) {
        let mut keeper = self.opened(experiment, names);
        for name in names {
            self.change(&mut keeper, name, "new");
        }
        keeper.signal(libc::SIGKILL);
        keeper.wait();
    }
}

pub fn restored(events: &[Value]) -> Vec<String> {
    named(events, "restored")
        .iter()
        .map(|event| event["knob"].as_str().unwrap().to_string())
        .collect()
}

/// Each line with a valid checksum of its present content.
pub fn resealed(journal: &str) -> String {
    let seal = |line: &str| {
        let body = &line[..line.rfind(",\"crc32\"").unwrap()];
        let crc = crc32fast::hash(format!("{body}}}").as_bytes());
        format!("{body},\"crc32\":\"{crc:08x}\"}}\n")
    };
    journal.lines().map(seal).collect()
}
