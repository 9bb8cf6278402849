//! The layout: the set of files as one row of equal blocks.
//!
//! In: sizes. Out: a file and an offset for each block number. Called by `pattern` and `requests`.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    pub files: u64,
    pub blocks_per_file: u64,
    pub block_size_bytes: u32,
    /// Only every `step`th block from `first` on counts: 0 and 1 select all blocks.
    first: u64,
    step: u64,
}

impl Layout {
    /// Splits the total evenly over the files. A remainder of a file smaller than a block is
    /// unused.
    pub fn new(files: u64, file_size_bytes: u64, block_size_bytes: u64) -> Layout {
        Layout {
            files,
            blocks_per_file: file_size_bytes / block_size_bytes.max(1),
            block_size_bytes: block_size_bytes as u32,
            first: 0,
            step: 1,
        }
    }

    /// One of `lanes` equal shares, which have no block in common and lie over all files alike.
    pub fn lane(self, lane: u64, lanes: u64) -> Layout {
        Layout {
            first: lane,
            step: lanes,
            ..self
        }
    }

    pub fn blocks(&self) -> u64 {
        (self.files * self.blocks_per_file)
            .saturating_sub(self.first)
            .div_ceil(self.step)
    }

    /// The file and the offset of a block, files one after the other.
    #[inline]
    pub fn position(&self, block: u64) -> (usize, u64) {
        let block = self.first + block * self.step;
        let file = block / self.blocks_per_file;
        let offset = (block % self.blocks_per_file) * u64::from(self.block_size_bytes);
        (file as usize, offset)
    }

    /// The block at a file and offset; the inverse of `position`.
    pub fn block(&self, file: usize, offset: u64) -> u64 {
        let block = file as u64 * self.blocks_per_file + offset / u64::from(self.block_size_bytes);
        (block - self.first) / self.step
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #[test]
        fn lanes_part_all_blocks_among_them(
            files in 1u64..5, blocks_per_file in 1u64..40, lanes in 1u64..50,
        ) {
            let all = Layout::new(files, blocks_per_file * 4096, 4096);
            let mut seen = HashSet::new();
            for lane in (0..lanes).map(|lane| all.lane(lane, lanes)) {
                for block in 0..lane.blocks() {
                    let (file, offset) = lane.position(block);
                    prop_assert!((file as u64) < files && offset < blocks_per_file * 4096);
                    prop_assert!(seen.insert((file, offset)), "two lanes have it");
                    prop_assert_eq!(lane.block(file, offset), block);
                }
            }
            prop_assert_eq!(seen.len() as u64, all.blocks());
        }
    }
}
