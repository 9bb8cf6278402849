//! Where the blocks are: the set of files seen as one row of equal blocks.
//!
//! In: sizes. Out: a file and an offset for each block number. Called by `pattern` and `requests`.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    pub files: u64,
    pub blocks_per_file: u64,
    pub block_size_bytes: u32,
}

impl Layout {
    /// The total is split evenly over the files; a rest of a file smaller than a block is unused.
    pub fn new(files: u64, file_size_bytes: u64, block_size_bytes: u64) -> Layout {
        Layout {
            files,
            blocks_per_file: file_size_bytes / block_size_bytes.max(1),
            block_size_bytes: block_size_bytes as u32,
        }
    }

    pub fn blocks(&self) -> u64 {
        self.files * self.blocks_per_file
    }

    /// The file and the offset of a block, files one after the other.
    #[inline]
    pub fn place(&self, block: u64) -> (usize, u64) {
        let file = block / self.blocks_per_file;
        let offset = (block % self.blocks_per_file) * u64::from(self.block_size_bytes);
        (file as usize, offset)
    }
}
