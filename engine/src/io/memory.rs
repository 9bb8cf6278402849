//! The memory of a load's buffers: one mapping, in pages of the usual size or in huge pages.
//!
//! In: the sizes. Out: zeroed pieces of the mapping, aligned for O_DIRECT. Called by
//! `load::workers` and `io::buffer`.
//!
//! For each operation the kernel looks up the pages of its buffer and passes each page to the
//! device. In a huge page a buffer is one piece. This cost can be a large part of a disk operation.

use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::error::{Class, EngineError, Result};

/// No device asks for more alignment than a page.
const ALIGNMENT: usize = 4096;
const HUGE_PAGE: usize = 2 << 20;

/// Memory that is handed out piece by piece; unmapped after the last piece is dropped.
pub struct MemoryIo {
    mapping: Arc<Mapping>,
    left: NonNull<u8>,
    left_bytes: usize,
}

struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: a mapping is only an address range to unmap in the end; its content belongs to the pieces.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// An exclusively owned piece of memory.
pub struct Piece {
    start: NonNull<u8>,
    length: usize,
    _mapping: Arc<Mapping>,
}

// SAFETY: the memory is owned by this value alone, like a Box<[u8]>.
unsafe impl Send for Piece {}

impl MemoryIo {
    /// Memory for pieces of these sizes. The kernel decides whether it has huge pages for it.
    pub fn of(sizes: impl IntoIterator<Item = usize>, huge_pages: bool) -> Result<MemoryIo> {
        let total_bytes = sizes
            .into_iter()
            .try_fold(0usize, |sum, size| sum.checked_add(aligned(size)?));
        let refuse = || {
            EngineError::new(
                Class::OutOfMemory,
                match total_bytes {
                    Some(bytes) => format!("there is no memory for buffers of {bytes} bytes"),
                    None => "there is no memory for so many buffers".to_string(),
                },
                "use a smaller block size or fewer outstanding operations",
            )
        };
        // Extra space to begin at a huge page; untouched pages take no memory.
        let bytes = total_bytes.ok_or_else(refuse)?;
        let length = bytes
            .checked_next_multiple_of(HUGE_PAGE)
            .and_then(|length| length.checked_add(HUGE_PAGE))
            .ok_or_else(refuse)?;
        let (protection, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        );
        // rustix would need as many unsafe blocks for mapped memory.
        // SAFETY: a new mapping, which overlaps nothing.
        let start = unsafe { libc::mmap(ptr::null_mut(), length, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(refuse());
        }
        let start = NonNull::new(start.cast::<u8>()).ok_or_else(refuse)?;
        let mapping = Arc::new(Mapping { start, length });
        let skipped = start.as_ptr().align_offset(HUGE_PAGE);
        // SAFETY: `skipped` is less than a huge page, and the mapping is longer than that.
        let left = unsafe { start.add(skipped) };
        let advice = if huge_pages {
            libc::MADV_HUGEPAGE
        } else {
            libc::MADV_NOHUGEPAGE
        };
        // A kernel without huge pages refuses both; the load works without them.
        if cfg!(not(miri)) {
            // SAFETY: the range lies in the mapping; the advice does not change its content.
            unsafe { libc::madvise(left.as_ptr().cast(), length - HUGE_PAGE, advice) };
        }
        Ok(MemoryIo {
            mapping,
            left,
            left_bytes: bytes,
        })
    }

    /// The next piece, of one of the requested sizes, zeroed. Panics when no memory is left for it.
    pub fn take(&mut self, size: usize) -> Piece {
        let piece_bytes = aligned(size).unwrap_or(usize::MAX);
        assert!(
            piece_bytes <= self.left_bytes,
            "more memory taken than was asked for"
        );
        let start = self.left;
        // SAFETY: `piece_bytes` from `left` on lie in the mapping.
        self.left = unsafe { start.add(piece_bytes) };
        self.left_bytes -= piece_bytes;
        Piece {
            start,
            length: size,
            _mapping: Arc::clone(&self.mapping),
        }
    }
}

impl Piece {
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: mapped memory is initialised, this part of it is ours, and borrowed with `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is borrowed mutably, so there is no other reference.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }

    /// The address for the kernel; valid as long as this value lives.
    pub fn pointer(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped in `Memory::of` with this very length; no piece is left to point into it.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

fn aligned(size: usize) -> Option<usize> {
    size.max(1).checked_next_multiple_of(ALIGNMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_aligned_zeroed_apart_and_outlive_what_they_were_taken_from() {
        let sizes = [512, 16_384, 20_000, 1];
        let mut memory = MemoryIo::of(sizes, true).unwrap();
        let mut pieces: Vec<Piece> = sizes.into_iter().map(|size| memory.take(size)).collect();
        drop(memory);
        for (number, piece) in pieces.iter_mut().enumerate() {
            assert_eq!(piece.pointer() as usize % ALIGNMENT, 0);
            assert_eq!(piece.bytes().len(), sizes[number]);
            assert!(piece.bytes().iter().all(|&byte| byte == 0));
            piece.bytes_mut().fill(number as u8 + 1);
        }
        for (number, piece) in pieces.iter().enumerate() {
            assert!(piece.bytes().iter().all(|&byte| byte == number as u8 + 1));
        }
    }

    #[cfg(not(miri))]
    /// The kernel's flags of the mapping that holds an address, as two letters each.
    fn flags_at(address: usize) -> String {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut here = false;
        for line in maps.lines() {
            let range = line
                .split(' ')
                .next()
                .and_then(|range| range.split_once('-'));
            let number = |text| usize::from_str_radix(text, 16).ok();
            if let Some((Some(start), Some(end))) = range.map(|(a, b)| (number(a), number(b))) {
                here = (start..end).contains(&address);
            } else if let Some(flags) = line.strip_prefix("VmFlags:")
                && here
            {
                return flags.to_string();
            }
        }
        panic!("no mapping holds {address:x}");
    }

    #[test]
    #[cfg(not(miri))] // where no kernel is behind a mapping
    fn the_kernel_is_asked_for_huge_pages_or_told_not_to_use_them() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            let skips = std::env::var_os("PARIBUS_NO_SKIP").is_none();
            assert!(
                skips,
                "this kernel has no huge pages, and no test may be skipped"
            );
            return;
        }
        for (huge_pages, flag) in [(true, " hg"), (false, " nh")] {
            let piece = MemoryIo::of([16_384], huge_pages).unwrap().take(16_384);
            let flags = flags_at(piece.pointer() as usize);
            assert!(flags.contains(flag), "{flags}");
        }
    }

    #[test]
    #[cfg(not(miri))] // which ends instead of refusing
    fn more_than_there_is_is_refused() {
        assert_eq!(
            MemoryIo::of([usize::MAX / 2, usize::MAX / 2], false)
                .err()
                .map(|error| error.class),
            Some(Class::OutOfMemory)
        );
        assert_eq!(
            MemoryIo::of([1 << 60], false)
                .err()
                .map(|error| error.class),
            Some(Class::OutOfMemory)
        );
    }

    #[test]
    #[should_panic(expected = "more memory taken")]
    fn nobody_takes_more_than_was_asked_for() {
        let mut memory = MemoryIo::of([4096], false).unwrap();
        memory.take(4096);
        memory.take(1);
    }
}
