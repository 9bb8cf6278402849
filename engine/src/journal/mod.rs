//! The journal: what was changed on this machine and how to put it back, whatever happens.
//!
//! A keeper owns the journal of one experiment and outlives its controller; `undo` does the same
//! for journals whose keeper was killed or lost its power, and `at_boot` has that done by itself.
//! Both restore in the same way. Layers: `keeper`, `undo` -> `restore`, `directory` ->
//! `open_journal` -> `file` -> `replica`, `contents` -> `lock`, `line`, `device` -> `action`.

pub mod action;
pub mod at_boot;
pub mod contents;
pub mod device;
pub mod directory;
pub mod event;
pub mod file;
pub mod keeper;
pub mod line;
pub mod lock;
pub mod open_journal;
pub mod replica;
pub mod restore;
pub mod undo;

/// What is left after restoring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftover {
    Nothing,
    /// Something could not be put back; its journal stays open.
    Stuck,
}
