//! The Rust half of Paribus: it makes the load, samples the machine and keeps the journal.
//!
//! One direction: `main -> run -> load -> workload -> io`, `telemetry`, `probe`, `users`, `file_agent`, `supervise`, `sql`, `conditions`, `confine` and
//! `journal` beside them, `folder`, `identity`, `record`, `job`, `event`, `error` and `clock` at the bottom. Jobs come on stdin, events go
//! to stdout, one JSON object per line; words for people go to stderr.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod clock;
pub mod conditions;
pub mod confine;
pub mod db;
pub mod error;
pub mod event;
pub mod file_agent;
pub mod folder;
pub mod identity;
pub mod input;
pub mod io;
pub mod job;
pub mod journal;
pub mod load;
pub mod machine;
pub mod probe;
pub mod record;
pub mod run;
pub mod sql;
pub mod supervise;
pub mod telemetry;
pub mod users;
pub mod workload;
