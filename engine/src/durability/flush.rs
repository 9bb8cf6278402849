//! `paribus-engine flush FILE`: a MiB that its file system acknowledges to be on the disk.
//!
//! In: the path of a file, which is created, or written again in its place. Out: one `flushed`
//! event with the extents of the file on its disk. They are known for file systems that lie directly
//! on a disk or a partition of one, not above arrays, volumes or encryption.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use super::Extent;
use crate::clock;
use crate::device::{Driver, StackedDevice};
use crate::error::{EngineError, Result};
use crate::machine::mounts;

const BYTES: usize = 1 << 20;
const SECTOR: u64 = 512;
/// `FS_IOC_FIEMAP`, and its structures: linux/fiemap.h.
const FIEMAP: u32 = 0xC020_660B;
const MOST_EXTENTS: usize = 1024; // one for each block of 1 KiB
const LAST: u32 = 1;
/// An extent that is encoded, unaligned, inline, or not allocated yet has no place on the disk.
const WITHOUT_PLACE: u32 = 0x2 | 0x4 | 0x8 | 0x80 | 0x100 | 0x200 | 0x400;

#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename = "flushed")]
pub struct Flushed {
    pub bytes: u64,
    /// Null where the place on a disk is unknown.
    pub disk: Option<PathBuf>,
    pub extents: Vec<Extent>,
}

/// Writes random content, which no layer below can leave out, and flushes it.
pub fn flush(path: &Path) -> Result<Flushed> {
    let failed =
        |action: &'static str| move |cause: io::Error| EngineError::from_io(action, path, &cause);
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(failed("open"))?;
    let mut content = vec![0; BYTES];
    Xoshiro256PlusPlus::seed_from_u64(clock::unix_s().to_bits()).fill_bytes(&mut content);
    file.write_all(&content).map_err(failed("write to"))?;
    file.sync_all().map_err(failed("flush"))?;
    let number = file.metadata().map_err(failed("examine"))?.dev();
    let place = disk_below(number)
        .filter(|_| !writes_to_journal(number))
        .zip(extents(file.as_raw_fd()).ok());
    let (disk, extents) = match place {
        Some(((disk, start), extents)) if total(&extents) == BYTES as u64 => {
            let on_disk = |extent: Extent| Extent {
                offset: extent.offset + start,
                ..extent
            };
            (Some(disk), extents.into_iter().map(on_disk).collect())
        }
        _ => (None, Vec::new()),
    };
    Ok(Flushed {
        bytes: BYTES as u64,
        disk,
        extents,
    })
}

fn total(extents: &[Extent]) -> u64 {
    extents.iter().map(|extent| extent.length).sum()
}

/// Whether content goes to the journal of the file system first, so that its own place says nothing.
fn writes_to_journal(number: u64) -> bool {
    let number = format!("{}:{}", libc::major(number), libc::minor(number));
    let mounts = mounts::present().unwrap_or_default();
    mounts
        .iter()
        .any(|mount| mount.major_minor == number && mount.options.contains("data=journal"))
}

/// The disk on which a device begins, and where; nothing for a device of several layers.
fn disk_below(number: u64) -> Option<(PathBuf, u64)> {
    let number = format!("{}:{}", libc::major(number), libc::minor(number));
    let device = StackedDevice::of_number(&number).ok()?;
    match device.driver() {
        Driver::Partition => {
            let text = std::fs::read_to_string(device.directory().join("start")).ok()?;
            let start: u64 = text.trim().parse().ok()?;
            Some((device.below().first()?.node(), start * SECTOR))
        }
        Driver::Other if device.below().is_empty() => Some((device.node(), 0)),
        _ => None,
    }
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct MappedExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved_too: [u32; 3],
}

#[repr(C)]
struct Map {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
    extents: [MappedExtent; MOST_EXTENTS],
}

/// The extents of an open file on its device, in the order of the file.
fn extents(file: RawFd) -> io::Result<Vec<Extent>> {
    let mut map = Box::new(Map {
        start: 0,
        length: u64::MAX,
        flags: 0,
        mapped: 0,
        room: MOST_EXTENTS as u32,
        reserved: 0,
        extents: [MappedExtent::default(); MOST_EXTENTS],
    });
    // rustix has no call for maps of extents.
    // SAFETY: the kernel writes at most `room` extents, for which there is room behind the header.
    if unsafe { libc::ioctl(file, FIEMAP as _, std::ptr::from_mut(map.as_mut())) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mapped = map.extents.iter().take(map.mapped as usize);
    let is_whole = mapped
        .clone()
        .next_back()
        .is_some_and(|last| last.flags & LAST != 0);
    let has_place = mapped
        .clone()
        .all(|extent| extent.flags & WITHOUT_PLACE == 0);
    if !is_whole || !has_place {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(mapped
        .map(|extent| Extent {
            offset: extent.physical,
            length: extent.length,
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_again_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flushed");
        let first = flush(&path).unwrap();
        let content = std::fs::read(&path).unwrap();
        assert_eq!(content.len() as u64, first.bytes);
        assert_eq!(flush(&path).unwrap().extents, first.extents);
        assert_ne!(std::fs::read(&path).unwrap(), content);
    }

    #[test]
    fn a_device_without_a_number_of_its_own_is_no_disk() {
        assert_eq!(disk_below(0), None);
    }

    #[test]
    fn a_file_system_that_is_read_only_is_named() {
        let error = flush(Path::new("/proc/flushed")).unwrap_err();
        assert!(error.to_string().contains("/proc/flushed"), "{error}");
    }
}
