//! O_DIRECT: its availability, and its rules for offsets and lengths.
//!
//! In: an open file or device. Out: nothing when direct I/O works. Otherwise a refusal before the
//! first operation would fail with no more than "invalid argument". Called by `io::fileset` and
//! `workload::fileio::prepare`.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, StatxFlags, statx};

use super::device;
use crate::error::{Class, EngineError, Result};
use crate::machine;

/// The least alignment of a disk, where the kernel does not report it.
const SECTOR_BYTES: u64 = 512;

/// A file in memory is refused, although newer kernels accept O_DIRECT for it.
pub fn refuse_memory(path: &Path) -> Result<()> {
    match machine::is_volatile(path) {
        Ok(true) => Err(unsupported(
            path,
            "the file system is in memory (tmpfs), so there is no device that O_DIRECT could reach",
        )),
        _ => Ok(()),
    }
}

/// Checks that I/O in multiples of `block_bytes` works on this file.
pub fn check(file: &File, path: &Path, block_bytes: u64) -> Result<()> {
    let alignment =
        alignment(file).map_err(|cause| EngineError::from_io("examine", path, &cause))?;
    if alignment == 0 {
        return Err(unsupported(
            path,
            "the file system does not support O_DIRECT",
        ));
    }
    if block_bytes.is_multiple_of(alignment) {
        return Ok(());
    }
    Err(EngineError::new(
        Class::DirectUnsupported,
        format!(
            "O_DIRECT on {} needs multiples of {alignment} bytes; the block size is {block_bytes}",
            path.display()
        ),
        format!("use a block size that is a multiple of {alignment}, or direct = false"),
    )
    .at(path))
}

/// The alignment in bytes; 0 where O_DIRECT is not possible.
fn alignment(file: &File) -> io::Result<u64> {
    let alignment = StatxFlags::DIOALIGN;
    if let Ok(attributes) = statx(file, c"", AtFlags::EMPTY_PATH, alignment)
        && attributes.stx_mask & alignment.bits() != 0
    {
        return Ok(u64::from(attributes.stx_dio_offset_align));
    }
    // Kernels before 6.1, and file systems that do not report it.
    Ok(device::sector(file).map_or(SECTOR_BYTES, u64::from))
}

/// The error for a failed open with O_DIRECT.
pub fn refused(path: &Path, cause: &io::Error) -> EngineError {
    unsupported(path, &format!("the file system refuses it: {cause}"))
}

fn unsupported(path: &Path, why: &str) -> EngineError {
    EngineError::new(
        Class::DirectUnsupported,
        format!("{} cannot be used with O_DIRECT: {why}", path.display()),
        "use direct = false, or a directory on a file system that supports it (ext4, xfs)",
    )
    .at(path)
}
