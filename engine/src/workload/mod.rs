//! Workloads: the operations of a load. One folder per kind.

pub mod event;
pub mod fileio;
pub mod shared;
pub mod sql;
