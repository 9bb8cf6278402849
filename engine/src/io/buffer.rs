//! Page-aligned buffers filled with data that neither compresses nor repeats.
//!
//! In: a size and a random generator. Out: memory that O_DIRECT accepts. Held by `io::sync`
//! and `io::uring`, filled by `workload::fileio`.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use rand_core::RngCore;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::error::{Class, EngineError, Result};

/// No device asks O_DIRECT for more alignment than a page.
const ALIGNMENT: usize = 4096;

/// Storage that finds equal blocks compares them in units of at least this size.
const STAMP_EVERY: usize = 4096;

pub struct Buffer {
    memory: NonNull<u8>,
    layout: Layout,
    stamp: u64,
}

// SAFETY: the memory is owned by this value alone, like a Box<[u8]>.
unsafe impl Send for Buffer {}

impl Buffer {
    /// `size` bytes of random content.
    pub fn random(size: usize, rng: &mut Xoshiro256PlusPlus) -> Result<Buffer> {
        let refuse = || {
            EngineError::new(
                Class::OutOfMemory,
                format!("there is no memory for a buffer of {size} bytes"),
                "use a smaller block size or fewer outstanding operations",
            )
        };
        let layout = Layout::from_size_align(size.max(1), ALIGNMENT).map_err(|_| refuse())?;
        // SAFETY: the layout has a size above zero. Zeroes, since a slice of it must be initialised.
        let memory = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(refuse)?;
        let stamp = rng.next_u64();
        let mut buffer = Buffer {
            memory,
            layout,
            stamp,
        };
        rng.fill_bytes(buffer.bytes_mut());
        Ok(buffer)
    }

    /// Makes each 4 KiB differ from anything written before, at a cost of some nanoseconds: a
    /// device that finds equal blocks must not get a free ride.
    #[inline]
    pub fn stamp(&mut self) {
        // An odd step visits all values before it repeats one.
        self.stamp = self.stamp.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let stamp = self.stamp.to_ne_bytes();
        for page in self.bytes_mut().chunks_mut(STAMP_EVERY) {
            if let Some(head) = page.get_mut(..stamp.len()) {
                head.copy_from_slice(&stamp);
            }
        }
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the memory is initialised for the whole layout and borrowed with `self`.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.layout.size()) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is borrowed mutably, so nobody else looks.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_ptr(), self.layout.size()) }
    }

    /// For handing to the kernel; valid as long as this value lives.
    pub fn pointer(&self) -> *mut u8 {
        self.memory.as_ptr()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated in `random` with this very layout and freed only here.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::SeedableRng;
    use std::collections::HashSet;

    #[test]
    fn a_buffer_is_aligned_random_and_differs_at_each_stamp() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut buffer = Buffer::random(16_384, &mut rng).unwrap();
        assert_eq!(buffer.pointer() as usize % 4096, 0);
        let mut seen = HashSet::new();
        for _ in 0..if cfg!(miri) { 20 } else { 1000 } {
            buffer.stamp();
            assert!(seen.insert(buffer.bytes()[4096..4096 + 64].to_vec()));
        }
        let distinct: HashSet<u8> = buffer.bytes().iter().copied().collect();
        assert!(distinct.len() > 250, "random bytes take nearly all values");
    }
}
