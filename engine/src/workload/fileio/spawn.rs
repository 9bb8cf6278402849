//! Spawning the workers of a file load: their number, memory and I/O engine.
//!
//! In: a job and the opened files. Out: the workers of a load. Called by `workload::shared`.

use std::iter::repeat_n;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use super::FileLoad;
use super::content::Content;
use super::pattern::{OperationStream, streams};
use super::requests::{DrawCounter, Requests};
use super::shared::FileShared;
use super::verified::Verifier;
use crate::error::Result;
use crate::io::memory::MemoryIo;
use crate::io::null::Null;
use crate::io::sync::Sync;
use crate::io::uring::Uring;
use crate::job::{Engine, Files, IoMethod, Job};
use crate::load::inbox::Message;
use crate::load::workers::Workers;
use crate::machine;
use crate::random::generator;

/// One ring serves this many operations before a second core is worth its cost.
const SLOTS_PER_RING: usize = 128;

pub fn spawn(
    workers: &mut Workers,
    job: &Job,
    work: &Files,
    shared: &FileShared,
    sender: &Sender<Message>,
) -> Result<()> {
    let engine = work.io().engine;
    let content = Content::new(work.data().compressible);
    let streams = streams(work, &job.load);
    let mut memory = buffers_of(work.io(), &streams)?;
    let mut spawned = 0;
    for stream in streams {
        let slots = slots_of_workers(engine, stream.outstanding, machine::cores_usable());
        let drawn = Arc::<DrawCounter>::default();
        workers.begin_stream();
        let mut lane = 0;
        for slots in slots {
            let mut rng = generator(job.seed, spawned);
            spawned += 1;
            let requests = Requests::new(stream.pattern.clone(), Arc::clone(&drawn), rng.clone());
            // The buffers' content must not repeat the random sequence of the offsets.
            rng.long_jump();
            let size = stream.pattern.layout.block_size_bytes as usize;
            let files = Arc::clone(&shared.files);
            let verifier = shared.verification.clone().map(|verification| {
                Box::new(Verifier::new(verification, &stream.pattern, lane, slots))
            });
            lane += slots;
            match engine {
                Engine::Null => workers.start(sender, move || {
                    Ok(FileLoad::new(Null, requests, files, None))
                })?,
                Engine::Sync => {
                    let buffer = content.buffer(memory.take(size), &mut rng);
                    workers.start(sender, move || {
                        let io = Sync::new(Arc::clone(&files), buffer);
                        Ok(FileLoad::new(io, requests, files, verifier))
                    })?;
                }
                Engine::IoUring => {
                    let buffers = (0..slots)
                        .map(|_| content.buffer(memory.take(size), &mut rng))
                        .collect();
                    let unregistered = Arc::clone(&shared.unregistered);
                    workers.start(sender, move || {
                        let io = Uring::new(Arc::clone(&files), buffers)?;
                        if !io.has_registered_buffers() {
                            unregistered.store(true, Ordering::Relaxed);
                        }
                        Ok(FileLoad::new(io, requests, files, verifier))
                    })?;
                }
            }
        }
    }
    Ok(())
}

/// Memory for a buffer of every operation that may be outstanding.
fn buffers_of(method: &IoMethod, streams: &[OperationStream]) -> Result<MemoryIo> {
    let sizes = streams.iter().flat_map(|stream| {
        let size = stream.pattern.layout.block_size_bytes as usize;
        repeat_n(size, stream.outstanding)
    });
    let sizes = sizes.filter(|_| method.engine != Engine::Null);
    MemoryIo::of(sizes, method.huge_pages)
}

/// The number of slots of each worker; the length is the number of workers.
fn slots_of_workers(engine: Engine, outstanding: usize, cores: usize) -> Vec<usize> {
    match engine {
        Engine::Sync => vec![1; outstanding],
        // Nothing is ever outstanding, so threads beyond the number of cores would only wait for
        // each other.
        Engine::Null => vec![1; outstanding.min(cores)],
        Engine::IoUring => spread(outstanding, SLOTS_PER_RING, cores),
    }
}

/// Spreads slots evenly over as few workers as serve `each`, but no more than cores.
pub fn spread(outstanding: usize, each: usize, cores: usize) -> Vec<usize> {
    let workers = outstanding.div_ceil(each).min(cores).max(1);
    (0..workers)
        .map(|number| outstanding / workers + usize::from(number < outstanding % workers))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outstanding_operations_are_spread_over_workers_without_loss() {
        assert_eq!(slots_of_workers(Engine::Sync, 3, 2), [1, 1, 1]);
        assert_eq!(slots_of_workers(Engine::IoUring, 128, 8), [128]);
        assert_eq!(slots_of_workers(Engine::IoUring, 257, 8), [86, 86, 85]);
        assert_eq!(slots_of_workers(Engine::IoUring, 513, 2), [257, 256]);
        assert_eq!(slots_of_workers(Engine::Null, 16, 2), [1, 1]);
    }
}
