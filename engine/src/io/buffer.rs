//! Page-aligned buffers filled with data that neither compresses nor repeats.
//!
//! In: a size and a random generator. Out: memory that O_DIRECT accepts. Held by `io::sync` and
//! `io::uring`, filled by `workload::fileio`.

use rand_core::RngCore;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::error::Result;
use crate::io::memory::{MemoryIo, Piece};

/// Deduplicating storage compares blocks in units of at least this size.
const STAMP_EVERY: usize = 4096;

pub struct Buffer {
    memory: Piece,
    stamp: u64,
}

impl Buffer {
    /// `size` bytes of random content, in separately allocated memory.
    pub fn random(size: usize, rng: &mut Xoshiro256PlusPlus) -> Result<Buffer> {
        let mut buffer = Buffer::empty(MemoryIo::of([size], false)?.take(size), rng);
        rng.fill_bytes(buffer.bytes_mut());
        Ok(buffer)
    }

    /// A buffer without content yet.
    pub fn empty(memory: Piece, rng: &mut Xoshiro256PlusPlus) -> Buffer {
        let stamp = rng.next_u64();
        Buffer { memory, stamp }
    }

    /// Makes each 4 KiB differ from all data written before, at a cost of some nanoseconds.
    /// Otherwise a deduplicating device would avoid the writes.
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
        self.memory.bytes()
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.memory.bytes_mut()
    }

    /// The address for the kernel; valid as long as this value lives.
    pub fn pointer(&self) -> *mut u8 {
        self.memory.pointer()
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
