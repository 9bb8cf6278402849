//! Times and rates of the real binary, and its use of memory; for a machine without other load.

#[path = "../harness/mod.rs"]
mod harness;

#[path = "../files/faulty/mod.rs"]
mod faulty;

mod load;
mod memory_checked;
mod stopped_engine;
mod storage_delay;
