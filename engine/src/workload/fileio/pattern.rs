//! Patterns: a workload's parameters as blocks, orders and shares of writes.
//!
//! In: a job's workload. Out: its streams of operations. Called by `load::workers`; `requests`
//! draws from a pattern.

use crate::job::{Data, FileIo, Files, IoMatrix, Load, Mode};
use crate::workload::fileio::distribution::Shape;
use crate::workload::fileio::layout::Layout;
use crate::workload::fileio::mix::ReadWriteMix;

/// The order in which blocks are visited.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Order {
    /// All workers together go once through all blocks, and repeat.
    Sequential,
    /// This many cursors, evenly spread and taken in turn, each going through all blocks.
    Streams(u64),
    /// Each block is drawn independently.
    Random(Shape),
}

#[derive(Debug, Clone)]
pub struct Pattern {
    pub layout: Layout,
    pub order: Order,
    pub mix: ReadWriteMix,
    /// 0: never.
    pub fsync_every: u64,
    /// Whether a file is emptied before it is written again.
    pub empties_files: bool,
}

/// Operations of one pattern: the number outstanding, counted together.
#[derive(Debug, Clone)]
pub struct OperationStream {
    /// The name as in the result; empty where there is only one stream.
    pub name: &'static str,
    pub pattern: Pattern,
    pub outstanding: usize,
}

/// The streams of a workload, without those that have nothing outstanding.
pub fn streams(files: &Files, load: &Load) -> Vec<OperationStream> {
    let mut streams = match files {
        Files::FileIo(fileio) => vec![OperationStream {
            name: "",
            pattern: Pattern::of_mode(fileio),
            outstanding: load.outstanding,
        }],
        Files::IoMatrix(matrix) => vec![
            OperationStream {
                name: "small",
                pattern: Pattern::of_part(
                    matrix,
                    matrix.small_block_size_bytes,
                    Order::Random(Shape::Uniform),
                ),
                outstanding: load.outstanding,
            },
            OperationStream {
                name: "large",
                pattern: Pattern::of_part(
                    matrix,
                    matrix.large_block_size_bytes,
                    Order::Streams(matrix.large_outstanding as u64),
                ),
                outstanding: matrix.large_outstanding,
            },
        ],
    };
    streams.retain(|stream| stream.outstanding > 0);
    streams
}

impl Pattern {
    /// The same pattern on one of `lanes` equal shares of the blocks, without fsyncs.
    pub fn lane(&self, lane: u64, lanes: u64) -> Pattern {
        Pattern {
            layout: self.layout.lane(lane, lanes),
            fsync_every: 0,
            ..self.clone()
        }
    }

    fn of_mode(job: &FileIo) -> Pattern {
        let access = &job.access;
        let mode = access.mode;
        Pattern {
            layout: layout(&job.data, access.block_size_bytes),
            order: if mode.is_sequential() {
                Order::Sequential
            } else {
                Order::Random(Shape::of(access))
            },
            mix: match mode {
                Mode::SeqRd | Mode::RndRd => ReadWriteMix::READS,
                Mode::SeqWr | Mode::SeqRewr | Mode::RndWr => ReadWriteMix::WRITES,
                Mode::RndRw => ReadWriteMix::of_ratio(access.read_write_ratio),
            },
            fsync_every: if mode.writes() { access.fsync_every } else { 0 },
            empties_files: mode == Mode::SeqWr,
        }
    }

    fn of_part(job: &IoMatrix, block_size_bytes: u64, order: Order) -> Pattern {
        Pattern {
            layout: layout(&job.data, block_size_bytes),
            order,
            mix: ReadWriteMix::of_share(job.write_share),
            fsync_every: 0,
            empties_files: false,
        }
    }
}

fn layout(data: &Data, block_size_bytes: u64) -> Layout {
    Layout::new(
        u64::from(data.files),
        data.file_size_bytes(),
        block_size_bytes,
    )
}
