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
    /// Bytes in the whole pages of the extents.
    pub bytes: u64,
    /// How many of these only memory has, those on their way to the disk included; null where unknown.
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

/// Counts in the whole pages of these parts: those at their ends can hold bytes of others.
pub fn page_cache(path: &Path, extents: &[Extent]) -> Result<PageCache> {
    let file = File::open(path).map_err(|cause| EngineError::from_io("open", path, &cause))?;
    let pages: Vec<Extent> = extents.iter().filter_map(whole_pages).collect();
    let counted = match refusal(&file, &pages) {
        Ok(None) => unwritten(&file, &pages).map_err(|cause| match cause.raw_os_error() {
            Some(libc::ENOSYS) => "the kernel is older than 6.5 and has no cachestat".to_string(),
            _ => cause.to_string(),
        }),
        Ok(Some(reason)) => Err(reason),
        Err(cause) => Err(cause.to_string()),
    };
    Ok(PageCache {
        bytes: pages.iter().map(|extent| extent.length).sum(),
        unwritten_bytes: counted.as_ref().ok().copied(),
        unknown: counted.err(),
    })
}

fn whole_pages(extent: &Extent) -> Option<Extent> {
    let page = vmstat::page_bytes();
    let offset = extent.offset.next_multiple_of(page);
    let end = (extent.offset + extent.length) / page * page;
    let length = end.checked_sub(offset).filter(|length| *length > 0)?;
    Some(Extent { offset, length })
}

/// The reason why the page cache does not tell what is only in memory, if there is one.
fn refusal(file: &File, extents: &[Extent]) -> io::Result<Option<String>> {
    if extents.is_empty() {
        return Ok(Some("no part of it is a whole page".to_string()));
    }
    let metadata = file.metadata()?;
    if metadata.file_type().is_block_device() {
        return Ok(None);
    }
    if extents
        .iter()
        .any(|part| part.offset + part.length > metadata.len())
    {
        return Ok(Some("a part lies beyond its end".to_string()));
    }
    let magic = rustix::fs::fstatfs(file)?.f_type as u32;
    let reason = format!("its file system (type {magic:#x}) can keep data in other memory too");
    Ok((!PLAIN.contains(&magic)).then_some(reason))
}

fn unwritten(file: &File, extents: &[Extent]) -> io::Result<u64> {
    let mut pages = 0;
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
        pages += counts.dirty + counts.in_writeback;
    }
    Ok(pages * vmstat::page_bytes())
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use super::*;

    fn bytes_in_memory(path: &Path, extents: &[Extent]) -> Option<u64> {
        page_cache(path, extents).unwrap().unwritten_bytes
    }

    #[test]
    fn what_was_written_is_in_memory_until_it_is_flushed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image");
        let mut file = File::create(&path).unwrap();
        let [whole, part] =
            [(0, 1 << 20), (8192, 4096)].map(|(offset, length)| Extent { offset, length });
        // Another program may flush everything at any moment; it does not do so each time.
        let before = (0..100).find_map(|_| {
            file.rewind().unwrap();
            file.write_all(&vec![7; 1 << 20]).unwrap();
            let bytes = [&[whole][..], &[part, part]].map(|parts| bytes_in_memory(&path, parts));
            // Null on kernels and file systems that do not tell.
            (bytes == [Some(1 << 20), Some(8192)] || bytes == [None, None]).then_some(bytes)
        });
        file.sync_all().unwrap();
        let expected = before.unwrap()[0].map(|_| 0);
        assert_eq!(bytes_in_memory(&path, &[whole]), expected);
    }

    #[test]
    fn pages_at_the_ends_do_not_count() {
        let page = vmstat::page_bytes();
        let of = |offset, length| whole_pages(&Extent { offset, length });
        let part = |offset, length| Some(Extent { offset, length });
        assert_eq!(of(1024, 2 * page), part(page, page));
        assert_eq!(of(page, page), part(page, page));
        assert_eq!(of(1024, page), None);
    }

    #[test]
    fn a_part_beyond_the_end_is_unknown() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let part = Extent {
            offset: 0,
            length: 1 << 20,
        };
        let answer = page_cache(file.path(), &[part]).unwrap();
        assert_eq!(answer.unwritten_bytes, None);
        assert!(answer.unknown.unwrap().contains("beyond its end"));
    }

    #[test]
    fn a_file_system_with_memory_of_its_own_is_named() {
        let file = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
        file.as_file().set_len(1 << 20).unwrap();
        let part = Extent {
            offset: 0,
            length: 1 << 20,
        };
        let answer = page_cache(file.path(), &[part]).unwrap();
        assert_eq!(answer.unwritten_bytes, None);
        assert!(answer.unknown.unwrap().contains("other memory"));
    }
}
