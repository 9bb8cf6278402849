//! Filling: the content of new files, or of a device.
//!
//! In: empty files and their intended content. Out: full files, not yet fsynced; progress on the
//! way. Called by `prepare`.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::content::Content;
use super::prepare::interrupted;
use super::spans::{Span, go_through, span_bytes};
use super::verified::block::{Label, Sequence, seal};
use crate::error::{EngineError, Result};
use crate::io::buffer::Buffer;
use crate::job::Data;
use crate::load::stop::OnRequest;
use crate::random::generator;

/// A file to be filled, and its number in its set.
pub struct NewFile {
    pub file: File,
    pub path: PathBuf,
    pub index: u32,
}

/// Writes each file in full. Ends at the first failure and when `stop` is asked.
pub fn fill(
    files: &[NewFile],
    data: &Data,
    seed: u64,
    stop: &OnRequest,
    progress: impl Fn(u64),
) -> Result<()> {
    let span_bytes = span_bytes(data.verified_block_bytes.unwrap_or(1));
    let content = Content::new(data.compressible);
    let spawn = |number| {
        let mut rng = generator(seed, number);
        let mut buffer = Buffer::random(span_bytes as usize, &mut rng)?;
        Ok(move |span: Span| {
            let target = &files[span.file];
            let bytes = &mut buffer.bytes_mut()[..span.length as usize];
            content.fill(bytes, &mut rng);
            if let Some(block_bytes) = data.verified_block_bytes {
                seal_all(bytes, block_bytes as usize, target.index, span.offset);
            }
            target
                .file
                .write_all_at(bytes, span.offset)
                .map_err(|cause| EngineError::from_io("write to", &target.path, &cause))
        })
    };
    let size = data.file_size_bytes();
    go_through(files.len(), size, span_bytes, stop, progress, spawn)?;
    if stop.is_asked() {
        let path = files.first().map_or(Path::new(""), |file| &file.path);
        return Err(interrupted(path));
    }
    Ok(())
}

/// A remainder smaller than a block stays unchanged: no request ever reaches it.
fn seal_all(bytes: &mut [u8], block_bytes: usize, file: u32, mut offset: u64) {
    for block in bytes.chunks_exact_mut(block_bytes) {
        let label = Label {
            file,
            offset,
            lane: 0,
            sequence: Sequence::PREPARED,
        };
        seal(block, label);
        offset += block_bytes as u64;
    }
}
