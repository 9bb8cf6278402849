//! A program run to its end: one step of building a storage layout.
//!
//! In: an argument list. Out: whether it succeeded. Called by `journal::action`. It is no undo: the
//! journal refuses it there, since running it says nothing of the state it leaves.

use std::io;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Undo;
use super::program::output_within;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunProgram {
    pub argv: Vec<String>,
    /// It is killed when it takes longer.
    pub patience_s: u64,
}

impl Undo for RunProgram {
    fn subject(&self) -> String {
        self.argv.join(" ")
    }

    fn path(&self) -> Option<&Path> {
        None
    }

    fn expected(&self) -> String {
        String::new()
    }

    fn execute(&self) -> io::Result<()> {
        let words: Vec<&str> = self.argv.iter().map(String::as_str).collect();
        output_within(&words, Duration::from_secs(self.patience_s)).map(drop)
    }

    fn read_back(&self) -> io::Result<String> {
        Err(io::Error::other("a program that ran leaves no value"))
    }
}
