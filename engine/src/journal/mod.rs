//! The journal: the changes on this machine and their undo, after any kind of failure.
//!
//! A keeper owns the journal of one experiment and outlives its controller. `undo` restores the
//! journals of keepers that were killed or lost their power; `at_boot` runs it automatically. Both
//! restore in the same way. Layers: `keeper`, `undo` -> `restore`, `undo_values`, `exclusion` ->
//! `directory`, `places`, `closing` -> `open_journal`, `register` -> `file` -> `replica`, `contents`
//! -> `lock`, `line`, `device` -> `action`.

pub mod action;
pub mod at_boot;
mod closing;
pub mod contents;
pub mod device;
pub mod directory;
pub mod event;
mod exclusion;
pub mod file;
pub mod keeper;
pub mod line;
pub mod lock;
pub mod open_journal;
mod places;
pub mod register;
pub mod replica;
pub mod restore;
pub mod undo;
mod undo_values;

/// The outcome of a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftover {
    Nothing,
    /// Some setting could not be restored; its journal stays open.
    Stuck,
}
