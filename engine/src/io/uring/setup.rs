//! Opening a ring: the kernel's features, and the registration of files and buffers.
//!
//! In: the number of outstanding operations. Out: a ring, or the reason for its absence. Called by
//! `io::uring`.

use std::io;

use io_uring::{IoUring, Probe, opcode};

use crate::error::{Class, EngineError, Result};
use crate::io::buffer::Buffer;
use crate::io::fileset::FileSet;

/// The registrations that spare work for each operation.
pub struct Registered {
    pub files: bool,
    pub buffers: bool,
}

impl Registered {
    /// Registers files and buffers where the kernel allows it. Limits (locked memory, number of
    /// buffers) are no reason to fail, since I/O works without registration.
    pub fn with(ring: &IoUring, files: &FileSet, buffers: &[Buffer]) -> Registered {
        let submitter = ring.submitter();
        let memory: Vec<libc::iovec> = buffers
            .iter()
            .map(|buffer| libc::iovec {
                iov_base: buffer.pointer().cast(),
                iov_len: buffer.bytes().len(),
            })
            .collect();
        Registered {
            files: submitter.register_files(&files.descriptors()).is_ok(),
            // SAFETY: the memory stays where it is as long as the buffers, which `Uring` owns; it
            // drops the ring, and with it the registration, before them.
            buffers: unsafe { submitter.register_buffers(&memory) }.is_ok(),
        }
    }
}

/// A ring with the features that a load needs, or the reason for its absence.
pub fn open(entries: u32) -> Result<IoUring> {
    let ring = build(entries).map_err(|cause| unavailable(&cause))?;
    check_opcodes(&ring)?;
    Ok(ring)
}

/// Completions interrupt the thread as they come. On the measured machines this takes less
/// processor time than running them on request (COOP_TASKRUN, DEFER_TASKRUN).
fn build(entries: u32) -> io::Result<IoUring> {
    match IoUring::builder().setup_single_issuer().build(entries) {
        // Kernels before 6.0 do not support a single submitter.
        Err(cause) if cause.raw_os_error() == Some(libc::EINVAL) => {
            IoUring::builder().build(entries)
        }
        other => other,
    }
}

fn check_opcodes(ring: &IoUring) -> Result<()> {
    let mut probe = Probe::new();
    let is_supported = ring.submitter().register_probe(&mut probe).is_ok()
        && [opcode::Read::CODE, opcode::Write::CODE, opcode::Fsync::CODE]
            .iter()
            .all(|&code| probe.is_supported(code));
    if is_supported {
        return Ok(());
    }
    Err(unavailable(&io::Error::other(
        "this kernel's io_uring lacks plain reads and writes (it is older than 5.6)",
    )))
}

fn unavailable(cause: &io::Error) -> EngineError {
    let (reason, hint) = match cause.raw_os_error() {
        Some(libc::ENOSYS) => (
            "the kernel has no io_uring",
            "use engine = \"sync\", or a kernel from 5.6 on",
        ),
        Some(libc::EPERM | libc::EACCES) => (
            "io_uring is forbidden here",
            "look at `sysctl kernel.io_uring_disabled` and at the container's seccomp profile, or use engine = \"sync\"",
        ),
        Some(libc::ENOMEM) => (
            "io_uring may not lock enough memory",
            "raise the limit of locked memory (ulimit -l), or use engine = \"sync\"",
        ),
        _ => ("io_uring cannot be used", "use engine = \"sync\""),
    };
    EngineError::new(
        Class::IoUringUnavailable,
        format!("{reason}: {cause}"),
        hint,
    )
}

/// The reason why io_uring cannot be used on this machine; `None` when it can.
pub fn why_not() -> Option<String> {
    open(2).err().map(|error| error.message)
}
