//! The requests of a pattern, one after the other.
//!
//! In: a pattern, and the counters that workers share. Out: an endless sequence of requests. Called
//! by `workload::fileio`, one sequence per worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::io::Operation;
use crate::io::Request;
use crate::workload::fileio::distribution::{BlockDistribution, Shape};
use crate::workload::fileio::pattern::{Order, Pattern};

/// Counts the requests drawn by all workers of a stream, without fsyncs. It has a cache line of its
/// own, since all workers write to it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct DrawCounter(AtomicU64);

#[derive(Debug)]
pub struct Requests {
    pattern: Pattern,
    /// Present in a random order.
    distribution: BlockDistribution,
    /// Whether the number of a request must be unique among all workers.
    numbers_are_shared: bool,
    drawn: Arc<DrawCounter>,
    drawn_here: u64,
    rng: Xoshiro256PlusPlus,
    /// Files still to be fsynced before the next read or write: the last ones of the set.
    fsyncs_due: u64,
}

/// A request, and whether it restarts a file that an earlier pass has written in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    pub request: Request,
    pub starts_over: bool,
}

impl Requests {
    pub fn new(pattern: Pattern, drawn: Arc<DrawCounter>, rng: Xoshiro256PlusPlus) -> Self {
        let (is_random, shape) = match pattern.order {
            Order::Random(shape) => (true, shape),
            _ => (false, Shape::Uniform),
        };
        Requests {
            // A purely random pattern has no reason to share a counter.
            numbers_are_shared: !is_random || pattern.fsync_every > 0,
            distribution: BlockDistribution::new(shape, pattern.layout.blocks()),
            pattern,
            drawn,
            drawn_here: 0,
            rng,
            fsyncs_due: 0,
        }
    }

    // Inlined, a request stays in registers. Passed through memory, it would be written in small
    // parts and read back in large ones, which stalls the processor.
    #[inline(always)]
    pub fn draw(&mut self) -> Draw {
        if self.fsyncs_due > 0 {
            return self.draw_fsync();
        }
        let number = self.count();
        let layout = &self.pattern.layout;
        let blocks = layout.blocks();
        let block = match self.pattern.order {
            Order::Random(_) => self.distribution.draw(&mut self.rng),
            Order::Sequential => number % blocks,
            Order::Streams(streams) => {
                let (stream, step) = (number % streams, number / streams);
                (stream * blocks / streams + step) % blocks
            }
        };
        let (file, offset) = self.pattern.layout.position(block);
        let kind = if self.pattern.mix.is_write(number) {
            Operation::Write
        } else {
            Operation::Read
        };
        Draw {
            request: Request {
                kind,
                file,
                offset,
                length: self.pattern.layout.block_size_bytes,
            },
            starts_over: self.pattern.empties_files && offset == 0 && number >= blocks,
        }
    }

    /// The fsync that is due. `None` means that a read or write is due, which is counted and may be
    /// drawn elsewhere.
    pub fn fsync_or_count(&mut self) -> Option<Request> {
        if self.fsyncs_due > 0 {
            return Some(self.draw_fsync().request);
        }
        self.count();
        None
    }

    /// The number of the next read or write.
    #[inline]
    fn count(&mut self) -> u64 {
        let number = if self.numbers_are_shared {
            self.drawn.0.fetch_add(1, Ordering::Relaxed)
        } else {
            self.drawn_here += 1;
            self.drawn_here - 1
        };
        let fsync_every = self.pattern.fsync_every;
        if fsync_every > 0 && (number + 1).is_multiple_of(fsync_every) {
            self.fsyncs_due = self.pattern.layout.files;
        }
        number
    }

    #[cold]
    fn draw_fsync(&mut self) -> Draw {
        let file = (self.pattern.layout.files - self.fsyncs_due) as usize;
        self.fsyncs_due -= 1;
        Draw {
            request: Request {
                kind: Operation::Fsync,
                file,
                offset: 0,
                length: 0,
            },
            starts_over: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Files, Load, Mode};
    use crate::workload::fileio::pattern::streams as streams_of;
    use proptest::prelude::*;
    use rand_core::SeedableRng;
    use std::collections::HashSet;

    fn pattern(mode: Mode, files: u32, blocks_per_file: u64, fsync_every: u64) -> Pattern {
        let size = u64::from(files) * (blocks_per_file * 4096 + 100);
        let job = serde_json::json!({
            "kind": "fileio",
            "data": {"directory": "/d", "files": files, "total_size_bytes": size},
            "access": {"mode": mode, "block_size_bytes": 4096, "fsync_every": fsync_every},
        });
        pattern_of(job)
    }

    fn pattern_of(workload: serde_json::Value) -> Pattern {
        let workload: Files = serde_json::from_value(workload).unwrap();
        let mut streams = streams_of(&workload, &Load::default());
        streams.remove(streams.len() - 1).pattern
    }

    fn streams(pattern: &Pattern, workers: u64) -> Vec<Requests> {
        let drawn = Arc::<DrawCounter>::default();
        (0..workers)
            .map(|seed| {
                let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
                Requests::new(pattern.clone(), Arc::clone(&drawn), rng)
            })
            .collect()
    }

    #[test]
    fn sequential_workers_share_one_cursor_over_the_files_in_order() {
        let mut streams = streams(&pattern(Mode::SeqRd, 3, 2, 0), 2);
        let places: Vec<(usize, u64)> = (0..8)
            .map(|number| streams[number % 2].draw().request)
            .map(|request| (request.file, request.offset))
            .collect();
        let once = [(0, 0), (0, 4096), (1, 0), (1, 4096), (2, 0), (2, 4096)];
        assert_eq!(places[..6], once);
        assert_eq!(places[6..], once[..2], "it wraps");
    }

    #[test]
    fn large_streams_are_spread_and_each_is_sequential() {
        let pattern = pattern_of(serde_json::json!({
            "kind": "iomatrix", "data": {"directory": "/d", "total_size_bytes": 8 << 20},
            "large_outstanding": 2, "write_share": 0.5,
        }));
        let mut stream = streams(&pattern, 1).remove(0);
        let requests: Vec<Request> = (0..10).map(|_| stream.draw().request).collect();
        let offsets: Vec<u64> = requests
            .iter()
            .map(|request| request.offset >> 20)
            .collect();
        assert_eq!(offsets, [0, 4, 1, 5, 2, 6, 3, 7, 4, 0]);
        let writes = requests
            .iter()
            .filter(|request| request.kind == Operation::Write)
            .count();
        assert_eq!(writes, 5);
    }

    #[test]
    fn only_sequential_writing_from_scratch_starts_files_over_and_not_in_the_first_pass() {
        let starts = |mode| -> Vec<usize> {
            let mut stream = streams(&pattern(mode, 2, 2, 0), 1).remove(0);
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
        let mut streams = streams(&pattern(Mode::RndWr, 3, 8, 4), 2);
        let kinds: Vec<Operation> = (0..4).map(|n| streams[n % 2].draw().request.kind).collect();
        assert!(kinds.iter().all(|&kind| kind == Operation::Write));
        let fsyncs: Vec<usize> = (0..3)
            .map(|_| streams[1].draw().request)
            .inspect(|request| assert_eq!(request.kind, Operation::Fsync))
            .map(|request| request.file)
            .collect();
        assert_eq!(fsyncs, [0, 1, 2]);
        assert_eq!(streams[1].draw().request.kind, Operation::Write);
    }

    #[test]
    fn reading_modes_never_fsync() {
        let mut stream = streams(&pattern(Mode::RndRd, 1, 8, 1), 1).remove(0);
        assert!((0..100).all(|_| stream.draw().request.kind == Operation::Read));
    }

    proptest! {
        #[test]
        fn random_requests_stay_in_the_files_and_reach_every_block(
            files in 1u32..5, blocks_per_file in 1u64..16, seed in any::<u64>(),
        ) {
            let pattern = pattern(Mode::RndRw, files, blocks_per_file, 0);
            let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut stream = Requests::new(pattern, Arc::default(), rng);
            let mut seen = HashSet::new();
            let mut writes = 0;
            let draws = 5000;
            for _ in 0..draws {
                let request = stream.draw().request;
                prop_assert!(request.file < files as usize);
                prop_assert_eq!(request.offset % 4096, 0);
                prop_assert!(request.offset + 4096 <= blocks_per_file * 4096 + 100);
                writes += u64::from(request.kind == Operation::Write);
                seen.insert((request.file, request.offset));
            }
            prop_assert_eq!(seen.len() as u64, u64::from(files) * blocks_per_file);
            prop_assert_eq!(writes, draws * 2 / 5);
        }
    }
}
