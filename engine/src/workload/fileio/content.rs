//! Content: the bytes of written blocks, of which a given share compresses away.
//!
//! In: the share and memory to fill. Out: memory that is random in the front of each small piece
//! and constant behind it. Called by `fill` and, for the buffers of a load, by `load::workers`.

use rand_core::RngCore;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::io::buffer::Buffer;
use crate::io::memory::Piece;

/// The share holds in every piece of this size. Compressing storage works in units of whole
/// sectors, so any such unit has the same share.
const PIECE: usize = 512;

/// The share of the written bytes that compresses away, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Content {
    random_of_piece: usize,
}

impl Content {
    pub fn new(compressible: f64) -> Content {
        let random = (PIECE as f64 * (1.0 - compressible)).round() as usize;
        Content {
            random_of_piece: random.min(PIECE),
        }
    }

    /// A buffer for one operation.
    pub fn buffer(self, memory: Piece, rng: &mut Xoshiro256PlusPlus) -> Buffer {
        let mut buffer = Buffer::empty(memory, rng);
        self.fill(buffer.bytes_mut(), rng);
        buffer
    }

    pub fn fill(self, bytes: &mut [u8], rng: &mut impl RngCore) {
        if self.random_of_piece == PIECE {
            return rng.fill_bytes(bytes);
        }
        for piece in bytes.chunks_mut(PIECE) {
            let random = self.random_of_piece.min(piece.len());
            let (front, filler) = piece.split_at_mut(random);
            rng.fill_bytes(front);
            filler.fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::DeflateEncoder;
    use proptest::prelude::*;
    use rand_core::SeedableRng;
    use std::io::Write;

    fn compressed(bytes: &[u8]) -> usize {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap().len()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_real_compressor_removes_the_share_at_any_unit(
            compressible in 0.0f64..=1.0, seed in any::<u64>(),
        ) {
            let mut bytes = vec![0xAA; 256 << 10];
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            Content::new(compressible).fill(&mut bytes, &mut rng);
            for unit in [4096, 16_384, 131_072] {
                let left: usize = bytes.chunks(unit).map(compressed).sum();
                let removed = 1.0 - left as f64 / bytes.len() as f64;
                prop_assert!((removed - compressible).abs() < 0.03,
                    "{removed} of {compressible} in units of {unit}");
            }
        }
    }
}
