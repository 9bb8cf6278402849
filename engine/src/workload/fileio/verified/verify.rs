//! The phase `verify`: reads all verified data and compares it with the writes.
//!
//! In: the job, with `durable` where a run has reported the writes that a crash must not lose. Out:
//! the number of right blocks, or an error of class `data-corrupt` for the first damaged one.
//! Called by `run`.
//!
//! With `durable` the job must be that of the run. Its lanes draw the same requests again, up to
//! the acknowledged sequence. The last write of each block is the oldest that it may hold. A later
//! write of the same run is right too: it was written but not acknowledged.

use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::block::{BlockDamage, Sequence, check};
use super::{corrupt, lane_requests};
use crate::error::{Class, EngineError, Result};
use crate::io::Operation;
use crate::io::buffer::Buffer;
use crate::job::{Files, Job};
use crate::load::stop::OnRequest;
use crate::random::generator;
use crate::workload::event::Verified;
use crate::workload::fileio::layout::Layout;
use crate::workload::fileio::pattern::{Pattern, streams};
use crate::workload::fileio::shared::open_data;
use crate::workload::fileio::spans::{Span, go_through, span_bytes};

/// Reads every block, calling `progress` now and then with the bytes read and the total bytes.
pub fn verify(
    job: &Job,
    files: &Files,
    stop: &OnRequest,
    progress: impl Fn(u64, u64),
) -> Result<Verified> {
    let pattern = streams(files, &job.load)
        .into_iter()
        .next()
        .map(|stream| stream.pattern)
        .ok_or_else(|| EngineError::bad_job("the workload has no operations"))?;
    let files = open_data(files, job.cache, false)?;
    let layout = pattern.layout;
    let least = match &job.durable {
        Some(durable) => least_sequences(&pattern, job.seed, durable),
        None => Vec::new(),
    };
    let (written, acknowledged) = (AtomicU64::new(0), AtomicU64::new(0));
    let block_bytes = u64::from(layout.block_size_bytes);
    let span_bytes = span_bytes(block_bytes);
    let spawn = |number| {
        let mut buffer = Buffer::random(span_bytes as usize, &mut generator(job.seed, number))?;
        let (files, least, written, acknowledged) = (&files, &least, &written, &acknowledged);
        Ok(move |span: Span| {
            let path = files.path(span.file);
            let bytes = &mut buffer.bytes_mut()[..span.length as usize];
            files
                .file(span.file)
                .read_exact_at(bytes, span.offset)
                .map_err(|cause| EngineError::from_io("read from", path, &cause))?;
            for (bytes, offset) in blocks(bytes, span.offset, layout) {
                let least = least.get(layout.block(span.file, offset) as usize);
                let least = Sequence(least.copied().unwrap_or(0));
                let sequence = judge(bytes, span.file, offset, least)
                    .map_err(|damage| corrupt(path, offset, &expected(least), damage))?;
                written.fetch_add(u64::from(sequence != Sequence::PREPARED), Ordering::Relaxed);
                acknowledged.fetch_add(u64::from(least.0 != 0), Ordering::Relaxed);
            }
            Ok(())
        })
    };
    let size = layout.blocks_per_file * block_bytes;
    let total = layout.files * size;
    let report_bytes = |done| progress(done, total);
    go_through(
        layout.files as usize,
        size,
        span_bytes,
        stop,
        report_bytes,
        spawn,
    )?;
    if stop.is_asked() {
        return Err(EngineError::new(
            Class::Interrupted,
            "verifying was stopped before all blocks were read",
            "keep stdin open until the event `finished`",
        ));
    }
    progress(total, total);
    Ok(Verified {
        blocks: layout.blocks(),
        written: written.into_inner(),
        acknowledged: acknowledged.into_inner(),
    })
}

fn blocks(bytes: &[u8], offset: u64, layout: Layout) -> impl Iterator<Item = (&[u8], u64)> {
    let block = layout.block_size_bytes as usize;
    let offsets = (offset..).step_by(block);
    bytes.chunks_exact(block).zip(offsets)
}

/// The sequence of a whole block that is not older than `least`.
fn judge(
    bytes: &[u8],
    file: usize,
    offset: u64,
    least: Sequence,
) -> std::result::Result<Sequence, BlockDamage> {
    let sequence = check(bytes, file as u32, offset)?.sequence;
    if least.0 == 0 || (sequence.run() == least.run() && sequence >= least) {
        Ok(sequence)
    } else {
        Err(BlockDamage::Stale(sequence))
    }
}

fn expected(least: Sequence) -> String {
    match least.0 {
        0 => "a whole block".to_string(),
        _ => format!("{least} or a later one"),
    }
}

/// By block, the last write that was acknowledged as durable; 0 where there was none.
fn least_sequences(pattern: &Pattern, seed: u64, durable: &[u64]) -> Vec<u64> {
    let mut least = vec![0; pattern.layout.blocks() as usize];
    for (lane, &acknowledged) in durable.iter().enumerate() {
        let mut requests = lane_requests(pattern, seed, lane, durable.len());
        let mut sequence = Sequence::before_first(acknowledged);
        while sequence.0 < acknowledged {
            let request = requests.draw().request;
            if request.kind == Operation::Write {
                sequence = sequence.next();
                least[pattern.layout.block(request.file, request.offset) as usize] = sequence.0;
            }
        }
    }
    least
}
