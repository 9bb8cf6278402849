//! Spans: a set of files processed piece by piece by several threads, which share even a single
//! file.
//!
//! In: the number and size of the files, and a function for each piece. Out: all pieces processed,
//! progress on the way; else the first failure. Called by `fill` and `verified::verify`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::error::{EngineError, Result};
use crate::load::stop::OnRequest;

/// The usual size of a piece, the unit of work of a thread.
const SPAN_BYTES: u64 = 1 << 20;
const RANGE_BYTES: u64 = 64 << 20;
const MAX_THREADS: usize = 4;
const PROGRESS_EVERY: Duration = Duration::from_millis(400);
const NAP: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Copy)]
pub struct Span {
    pub file: usize,
    pub offset: u64,
    pub length: u64,
}

/// The largest length of a span that holds whole blocks.
pub fn span_bytes(block_bytes: u64) -> u64 {
    (SPAN_BYTES / block_bytes).max(1) * block_bytes
}

/// Processes `files` files of `size` bytes in spans of `span_bytes`. Each thread creates its worker
/// by `spawn`, with the thread's number. Ends early when `stop` is asked.
pub fn go_through<W: FnMut(Span) -> Result<()>>(
    files: usize,
    size: u64,
    span_bytes: u64,
    stop: &OnRequest,
    progress: impl Fn(u64),
    spawn: impl Fn(u64) -> Result<W> + Sync,
) -> Result<()> {
    let range_bytes = (RANGE_BYTES / span_bytes).max(1) * span_bytes;
    let ranges_per_file = size.div_ceil(range_bytes);
    let ranges = ranges_per_file * files as u64;
    let next_range = AtomicU64::new(0);
    let done = AtomicU64::new(0);
    let failure: Mutex<Option<EngineError>> = Mutex::new(None);
    let abandoned = OnRequest::default();

    let work = |number: u64| -> Result<()> {
        let mut worker = spawn(number)?;
        loop {
            let range = next_range.fetch_add(1, Ordering::Relaxed);
            if range >= ranges {
                return Ok(());
            }
            let mut offset = range % ranges_per_file * range_bytes;
            let end = size.min(offset + range_bytes);
            while offset < end {
                if stop.is_asked() || abandoned.is_asked() {
                    return Ok(());
                }
                let length = span_bytes.min(end - offset);
                worker(Span {
                    file: (range / ranges_per_file) as usize,
                    offset,
                    length,
                })?;
                offset += length;
                done.fetch_add(length, Ordering::Relaxed);
            }
        }
    };
    let fail = |error| {
        abandoned.ask();
        let mut first = failure.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
    };
    thread::scope(|scope| {
        let threads = (ranges as usize).clamp(1, MAX_THREADS) as u64;
        let spawned = (0..threads).map(|number| {
            let (work, fail) = (&work, &fail);
            let work = move || work(number).unwrap_or_else(fail);
            thread::Builder::new().spawn_scoped(scope, work)
        });
        let workers: Vec<_> = spawned
            .filter_map(|worker| {
                worker
                    .map_err(|cause| fail(EngineError::no_thread(&cause)))
                    .ok()
            })
            .collect();
        let mut waited = PROGRESS_EVERY;
        while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
            if waited >= PROGRESS_EVERY {
                waited = Duration::ZERO;
                progress(done.load(Ordering::Relaxed));
            }
            thread::sleep(NAP);
            waited += NAP;
        }
    });
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}
