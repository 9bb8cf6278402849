//! What the engine does to a machine: devices, journals, confinement, processes, samples.

#[path = "../harness/mod.rs"]
mod harness;

mod confine;
mod device;
mod device_changed;
mod folder;
mod identity;
mod journal_damage;
mod journal_device;
mod journal_keeper;
mod journal_kept;
mod journal_locks;
mod journal_register;
mod journal_trust;
mod journal_undo;
mod layers;
mod machine_view;
mod supervise;
