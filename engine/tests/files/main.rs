//! File loads of the real binary: data, phases, results, failures, verified content.

#[path = "../harness/mod.rs"]
mod harness;

mod faulty;
mod fileio_content;
mod fileio_data;
mod fileio_failures;
mod fileio_phases;
mod fileio_run;
mod golden_events;
mod golden_jobs;
mod open_loop;
mod storage_faults;
mod verified;
mod verified_crash;
mod worker_loop;
