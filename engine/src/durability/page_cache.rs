//! `paribus-engine page-cache FILE`: how much of an image or a block device is only in memory.
//!
//! In: a file and extents of it. Out: one `page-cache` event. The source is cachestat(2), which
//! kernels have from 6.5 on.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use serde::Serialize;

use super::Extent;
use crate::error::{EngineError, Result};
use crate::telemetry::vmstat;

const CACHESTAT: libc::c_long = 451; // on every architecture but alpha
/// File systems whose page cache is all that they keep in memory of a file: linux/magic.h.
const PLAIN: [u32; 4] = [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010];

#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename = "page-cache")]
pub struct PageCache {
    /// Bytes that only memory has, those on their way to the disk included; null where unknown.
    pub unwritten_bytes: Option<u64>,
    /// The reason why it is unknown.
    pub unknown: Option<String>,
}

#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

#[repr(C)]
#[derive(Default)]
struct Pages {
    cached: u64,
    dirty: u64,
    in_writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// The bytes of these parts that only memory has.
pub fn page_cache(path: &Path, extents: &[Extent]) -> Result<PageCache> {
    let file = File::open(path).map_err(|cause| EngineError::from_io("open", path, &cause))?;
    let counted = refusal(&file).and_then(|refusal| match refusal {
        Some(reason) => Ok(Err(reason)),
        None => unwritten(&file, extents).map(Ok),
    });
    let (unwritten_bytes, unknown) = match counted {
        Ok(Ok(bytes)) => (Some(bytes), None),
        Ok(Err(reason)) => (None, Some(reason)),
        Err(cause) if cause.raw_os_error() == Some(libc::ENOSYS) => {
            let reason = "the kernel is older than 6.5 and has no cachestat";
            (None, Some(reason.to_string()))
        }
        Err(cause) => (None, Some(cause.to_string())),
    };
    Ok(PageCache {
        unwritten_bytes,
        unknown,
    })
}

/// The reason why the page cache does not tell what is only in memory, if there is one.
fn refusal(file: &File) -> io::Result<Option<String>> {
    if file.metadata()?.file_type().is_block_device() {
        return Ok(None);
    }
    let magic = rustix::fs::fstatfs(file)?.f_type as u32;
    let reason = "it lies on a file system that also keeps data elsewhere in memory";
    Ok((!PLAIN.contains(&magic)).then(|| reason.to_string()))
}

fn unwritten(file: &File, extents: &[Extent]) -> io::Result<u64> {
    let mut bytes = 0;
    for extent in extents {
        let range = Range {
            offset: extent.offset,
            length: extent.length,
        };
        let mut counts = Pages::default();
        // rustix has no call for it.
        // SAFETY: the kernel reads one range and writes five numbers, for which there is room.
        let code = unsafe {
            libc::syscall(
                CACHESTAT,
                file.as_raw_fd(),
                std::ptr::from_ref(&range),
                std::ptr::from_mut(&mut counts),
                0,
            )
        };
        if code != 0 {
            return Err(io::Error::last_os_error());
        }
        let pages = counts.dirty + counts.in_writeback;
        // Pages at the ends can hold bytes of others.
        bytes += (pages * vmstat::page_bytes()).min(extent.length);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn bytes_in_memory(path: &Path, extents: &[Extent]) -> Option<u64> {
        page_cache(path, extents).unwrap().unwritten_bytes
    }

    #[test]
    fn what_was_written_is_in_memory_until_it_is_flushed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image");
        let mut file = File::create(&path).unwrap();
        file.write_all(&vec![7; 1 << 20]).unwrap();
        let whole = Extent {
            offset: 0,
            length: 1 << 20,
        };
        let part = Extent {
            offset: 8192,
            length: 4096,
        };
        // Null on kernels and file systems that do not tell.
        if let Some(bytes) = bytes_in_memory(&path, &[whole]) {
            assert_eq!(bytes, 1 << 20);
            assert_eq!(bytes_in_memory(&path, &[part, part]), Some(8192));
            let across = Extent {
                offset: 1024,
                length: 4096,
            };
            assert_eq!(bytes_in_memory(&path, &[across]), Some(4096));
            file.sync_all().unwrap();
            assert_eq!(bytes_in_memory(&path, &[whole]), Some(0));
        }
    }

    #[test]
    fn a_file_system_with_memory_of_its_own_is_named() {
        let answer = page_cache(Path::new("/proc/version"), &[]).unwrap();
        assert_eq!(answer.unwritten_bytes, None);
        assert!(answer.unknown.unwrap().contains("elsewhere in memory"));
    }
}
