//! The stream of requests of a file mode, with sysbench's meaning.
//!
//! In: the mode, the layout, what the workers share. Out: one request after the other; it never
//! ends. Called by `workload::fileio`, one stream per worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand_core::RngCore;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::io::Request;
use crate::job::{FileIoJob, Mode};
use crate::record::interval::OperationKind;
use crate::workload::fileio::layout::Layout;
use crate::workload::fileio::mix::Mix;

/// Counts the requests drawn by all workers together, fsyncs left out. On a cache line of its own:
/// it is the one thing that all workers write to.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Drawn(AtomicU64);

#[derive(Debug)]
pub struct Requests {
    mode: Mode,
    layout: Layout,
    mix: Mix,
    /// 0: never.
    fsync_every: u64,
    drawn: Arc<Drawn>,
    rng: Xoshiro256PlusPlus,
    /// Files still to be fsynced before the next read or write, the last ones of the set.
    fsyncs_due: u64,
}

/// A request, and whether it begins a file again that an earlier pass has written in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    pub request: Request,
    pub starts_over: bool,
}

impl Requests {
    pub fn new(job: &FileIoJob, drawn: Arc<Drawn>, rng: Xoshiro256PlusPlus) -> Self {
        Requests {
            mode: job.mode,
            layout: Layout::of(job),
            mix: Mix::of_ratio(job.read_write_ratio),
            fsync_every: if job.mode.writes() {
                job.fsync_every
            } else {
                0
            },
            drawn,
            rng,
            fsyncs_due: 0,
        }
    }

    #[inline]
    pub fn draw(&mut self) -> Draw {
        if self.fsyncs_due > 0 {
            return self.draw_fsync();
        }
        // A purely random mode has no use for the number, and so no reason to share a counter.
        let number =
            if self.mode.is_sequential() || self.mode == Mode::RndRw || self.fsync_every > 0 {
                self.drawn.0.fetch_add(1, Ordering::Relaxed)
            } else {
                0
            };
        if self.fsync_every > 0 && (number + 1).is_multiple_of(self.fsync_every) {
            self.fsyncs_due = self.layout.files;
        }
        let block = if self.mode.is_sequential() {
            number % self.layout.blocks()
        } else {
            self.random_block()
        };
        let (file, offset) = self.layout.place(block);
        let kind = match self.mode {
            Mode::SeqRd | Mode::RndRd => OperationKind::Read,
            Mode::SeqWr | Mode::SeqRewr | Mode::RndWr => OperationKind::Write,
            Mode::RndRw if self.mix.is_write(number) => OperationKind::Write,
            Mode::RndRw => OperationKind::Read,
        };
        Draw {
            request: Request {
                kind,
                file,
                offset,
                length: self.layout.block_size_bytes,
            },
            starts_over: self.mode == Mode::SeqWr && offset == 0 && number >= self.layout.blocks(),
        }
    }

    fn draw_fsync(&mut self) -> Draw {
        let file = (self.layout.files - self.fsyncs_due) as usize;
        self.fsyncs_due -= 1;
        Draw {
            request: Request {
                kind: OperationKind::Fsync,
                file,
                offset: 0,
                length: 0,
            },
            starts_over: false,
        }
    }

    /// Uniform over all blocks: the high half of a 128-bit product (Lemire 2019), whose bias is
    /// below blocks / 2^64.
    #[inline]
    fn random_block(&mut self) -> u64 {
        let product = u128::from(self.rng.next_u64()) * u128::from(self.layout.blocks());
        (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Engine;
    use proptest::prelude::*;
    use rand_core::SeedableRng;
    use std::collections::HashSet;

    fn job(mode: Mode, files: u32, blocks_per_file: u64, fsync_every: u64) -> FileIoJob {
        FileIoJob {
            directory: "/d".into(),
            files,
            total_size_bytes: u64::from(files) * blocks_per_file * 4096 + u64::from(files) * 100,
            mode,
            engine: Engine::Null,
            block_size_bytes: 4096,
            direct: false,
            read_write_ratio: 1.5,
            fsync_every,
            fsync_at_end: true,
        }
    }

    fn streams(job: &FileIoJob, workers: u64) -> Vec<Requests> {
        let drawn = Arc::<Drawn>::default();
        (0..workers)
            .map(|seed| {
                let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
                Requests::new(job, Arc::clone(&drawn), rng)
            })
            .collect()
    }

    #[test]
    fn sequential_workers_share_one_cursor_over_the_files_in_order() {
        let mut streams = streams(&job(Mode::SeqRd, 3, 2, 0), 2);
        let places: Vec<(usize, u64)> = (0..8)
            .map(|number| streams[number % 2].draw().request)
            .map(|request| (request.file, request.offset))
            .collect();
        let once = [(0, 0), (0, 4096), (1, 0), (1, 4096), (2, 0), (2, 4096)];
        assert_eq!(places[..6], once);
        assert_eq!(places[6..], once[..2], "it wraps");
    }

    #[test]
    fn only_sequential_writing_from_scratch_starts_files_over_and_not_in_the_first_pass() {
        let starts = |mode| -> Vec<usize> {
            let mut stream = streams(&job(mode, 2, 2, 0), 1).remove(0);
            let draws = (0..8).map(|_| stream.draw().starts_over);
            draws
                .enumerate()
                .filter(|(_, over)| *over)
                .map(|(number, _)| number)
                .collect()
        };
        assert_eq!(starts(Mode::SeqWr), [4, 6]);
        assert!(starts(Mode::SeqRewr).is_empty());
    }

    #[test]
    fn every_file_is_fsynced_after_so_many_requests_of_all_workers() {
        let mut streams = streams(&job(Mode::RndWr, 3, 8, 4), 2);
        let kinds: Vec<OperationKind> =
            (0..4).map(|n| streams[n % 2].draw().request.kind).collect();
        assert!(kinds.iter().all(|&kind| kind == OperationKind::Write));
        let fsyncs: Vec<usize> = (0..3)
            .map(|_| streams[1].draw().request)
            .inspect(|request| assert_eq!(request.kind, OperationKind::Fsync))
            .map(|request| request.file)
            .collect();
        assert_eq!(fsyncs, [0, 1, 2]);
        assert_eq!(streams[1].draw().request.kind, OperationKind::Write);
    }

    #[test]
    fn reading_modes_never_fsync() {
        let mut stream = streams(&job(Mode::RndRd, 1, 8, 1), 1).remove(0);
        assert!((0..100).all(|_| stream.draw().request.kind == OperationKind::Read));
    }

    proptest! {
        #[test]
        fn random_requests_stay_in_the_files_and_reach_every_block(
            files in 1u32..5, blocks_per_file in 1u64..16, seed in any::<u64>(),
        ) {
            let job = job(Mode::RndRw, files, blocks_per_file, 0);
            let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut stream = Requests::new(&job, Arc::default(), rng);
            let mut seen = HashSet::new();
            let mut writes = 0;
            let draws = 5000;
            for _ in 0..draws {
                let request = stream.draw().request;
                prop_assert!(request.file < files as usize);
                prop_assert_eq!(request.offset % 4096, 0);
                prop_assert!(request.offset + 4096 <= job.file_size_bytes());
                writes += u64::from(request.kind == OperationKind::Write);
                seen.insert((request.file, request.offset));
            }
            prop_assert_eq!(seen.len() as u64, u64::from(files) * blocks_per_file);
            prop_assert_eq!(writes, draws * 2 / 5);
        }
    }
}
