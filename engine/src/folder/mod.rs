//! Folders of data: trusted folders that no other user can change, and the folders of experiments.
//!
//! In: paths. Out: folders held by descriptors, files opened below them. Called by `main`, `io`,
//! `workload` and `journal`.

pub mod experiment;
pub mod manifest;
mod owner;
pub mod trusted;

pub use owner::is_trusted;
pub use trusted::TrustedFolder;
