//! Filling: random data into new files, by several threads that share even a single file.
//!
//! In: empty files and their size. Out: full files, not yet fsynced; progress on the way. Called by
//! `prepare`.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::prepare::interrupted;
use crate::error::{EngineError, Result};
use crate::io::buffer::Buffer;
use crate::load::stop::OnRequest;

const CHUNK_BYTES: u64 = 1 << 20;
/// What one thread takes at a time.
const RANGE_BYTES: u64 = 64 << 20;
const MAX_THREADS: usize = 4;
const PROGRESS_EVERY: Duration = Duration::from_millis(400);
const NAP: Duration = Duration::from_millis(5);

pub struct NewFile {
    pub file: File,
    pub path: PathBuf,
}

/// Writes `size` bytes into each file. The first failure ends it, and so does asking `stop`.
pub fn fill(
    files: &[NewFile],
    size: u64,
    seed: u64,
    stop: &OnRequest,
    progress: impl Fn(u64),
) -> Result<()> {
    let ranges_per_file = size.div_ceil(RANGE_BYTES);
    let ranges = ranges_per_file * files.len() as u64;
    let next_range = AtomicU64::new(0);
    let done = AtomicU64::new(0);
    let failure: Mutex<Option<EngineError>> = Mutex::new(None);
    let abandoned = OnRequest::default();

    let write_ranges = |number: u64| -> Result<()> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ (number << 32));
        let mut buffer = Buffer::random(CHUNK_BYTES as usize, &mut rng)?;
        loop {
            let range = next_range.fetch_add(1, Ordering::Relaxed);
            if range >= ranges {
                return Ok(());
            }
            let target = &files[(range / ranges_per_file) as usize];
            let start = range % ranges_per_file * RANGE_BYTES;
            let end = size.min(start + RANGE_BYTES);
            let mut offset = start;
            while offset < end {
                if stop.is_asked() || abandoned.is_asked() {
                    return Ok(());
                }
                let length = CHUNK_BYTES.min(end - offset);
                buffer.fill(&mut rng);
                target
                    .file
                    .write_all_at(&buffer.bytes()[..length as usize], offset)
                    .map_err(|cause| EngineError::from_io("write to", &target.path, &cause))?;
                offset += length;
                done.fetch_add(length, Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        let threads = (ranges as usize).clamp(1, MAX_THREADS) as u64;
        let writers: Vec<_> = (0..threads)
            .map(|number| {
                let (write_ranges, failure, abandoned) = (&write_ranges, &failure, &abandoned);
                scope.spawn(move || {
                    if let Err(error) = write_ranges(number) {
                        abandoned.ask();
                        let mut first = failure.lock().unwrap_or_else(PoisonError::into_inner);
                        first.get_or_insert(error);
                    }
                })
            })
            .collect();
        let mut waited = PROGRESS_EVERY;
        while !writers.iter().all(thread::ScopedJoinHandle::is_finished) {
            if waited >= PROGRESS_EVERY {
                waited = Duration::ZERO;
                progress(done.load(Ordering::Relaxed));
            }
            thread::sleep(NAP);
            waited += NAP;
        }
    });
    if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    if stop.is_asked() {
        let path = files.first().map_or(Path::new(""), |file| &file.path);
        return Err(interrupted(path));
    }
    Ok(())
}
