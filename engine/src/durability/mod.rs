//! What a power cut would lose: of a file system, and of a guest.
//!
//! `cut_off` has a file system lose what it has not written. In a guest `flush` writes and flushes a
//! file, and says where on the disk it lies. On the hypervisor `page_cache` says how much of that is
//! only in memory. Called by `main`.

pub mod cut_off;
pub mod flush;
pub mod page_cache;

use serde::{Deserialize, Serialize};

/// Neighbouring bytes of a disk or an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    pub offset: u64,
    pub length: u64,
}
