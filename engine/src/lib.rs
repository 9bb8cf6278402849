//! The Rust half of Paribus: it generates the load, samples the machine and keeps the journal.
//!
//! Jobs come on stdin, events go to stdout, one JSON object per line; messages for people go to stderr.
//!
//! Layers, each of which imports only those after it (`tests/layers.rs`): `main`; `run`; `workload`, `probe`, `processes`,
//! `durability`, `confine`; `load`, `io`, `telemetry`, `supervise`, `sql`; `journal`, `record`, `job`; `db`, `file_agent`; `event`, `folder`,
//! `device`, `conditions`; `operation`, `random`, `input`, `machine`, `clock`, `error`.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod clock;
pub mod conditions;
pub mod confine;
pub mod db;
pub mod device;
pub mod durability;
pub mod error;
pub mod event;
pub mod file_agent;
pub mod folder;
pub mod input;
pub mod io;
pub mod job;
pub mod journal;
pub mod load;
pub mod machine;
pub mod operation;
pub mod probe;
pub mod processes;
pub mod random;
pub mod record;
pub mod run;
pub mod sql;
pub mod supervise;
pub mod telemetry;
pub mod workload;
