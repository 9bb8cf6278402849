//! The parameters of work on files: the data, the I/O engine, and the operations.
//!
//! In: JSON. Out: plain data, checked by `check`. Read by `workload::fileio`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::device::DeviceIdentity;

/// Work on files or a device.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Files {
    FileIo(FileIo),
    IoMatrix(IoMatrix),
}

/// File I/O in one of the modes of sysbench.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileIo {
    pub data: Data,
    #[serde(default)]
    pub io: IoMethod,
    #[serde(default)]
    pub access: Access,
}

/// One point of Orion's matrix: small random I/O together with large sequential I/O. The load level
/// is that of the small I/O.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IoMatrix {
    pub data: Data,
    #[serde(default)]
    pub io: IoMethod,
    #[serde(default = "eight_kib")]
    pub small_block_size_bytes: u64,
    #[serde(default = "one_mib")]
    pub large_block_size_bytes: u64,
    /// The share of operations that write, for both sizes.
    #[serde(default)]
    pub write_share: f64,
    /// Large operations outstanding, each a sequential stream.
    #[serde(default)]
    pub large_outstanding: usize,
}

/// The files of a directory, or a block device; exactly one of the two.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    #[serde(default)]
    pub directory: Option<PathBuf>,
    #[serde(default)]
    pub device: Option<PathBuf>,
    /// The device that the path must lead to; null: any.
    #[serde(default)]
    pub device_identity: Option<DeviceIdentity>,
    #[serde(default = "one_file")]
    pub files: u32,
    pub total_size_bytes: u64,
    /// The share of all written data that compresses away.
    #[serde(default)]
    pub compressible: f64,
    /// Blocks of this size carry a checksum and a label of their position; null: no labels.
    #[serde(default)]
    pub verified_block_bytes: Option<u64>,
}

impl Data {
    pub fn file_size_bytes(&self) -> u64 {
        self.total_size_bytes / u64::from(self.files)
    }

    /// The directory or the device.
    pub fn location(&self) -> &Path {
        self.device
            .as_deref()
            .or(self.directory.as_deref())
            .unwrap_or(Path::new(""))
    }
}

/// The I/O engine and its options.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IoMethod {
    #[serde(default)]
    pub engine: Engine,
    #[serde(default)]
    pub direct: bool,
    #[serde(default)]
    pub sync_writes: SyncWrites,
    /// Buffers in huge pages, where the kernel has some.
    #[serde(default)]
    pub huge_pages: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    #[default]
    Sync,
    IoUring,
    /// Completes at once without a system call: measures the engine itself.
    Null,
}

/// Whether each write returns only after it is on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SyncWrites {
    #[default]
    None,
    /// O_DSYNC: the data, and the metadata needed to read it.
    Dsync,
    /// O_SYNC: all metadata too.
    Sync,
}

/// The operations, their positions and their order.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Access {
    pub mode: Mode,
    pub block_size_bytes: u64,
    /// Reads per write in `rndrw`.
    pub read_write_ratio: f64,
    pub distribution: Distribution,
    pub zipf_exponent: f64,
    /// 0.2: four of five requests go to a fifth of the blocks, and so on within each part.
    pub pareto_h: f64,
    /// The hot part of the blocks, as a share, gets this share of the requests.
    pub hot_part: f64,
    pub hot_share: f64,
    /// All files are fsynced after this many requests of a writing mode; 0 is never.
    pub fsync_every: u64,
    pub fsync_call: FsyncCall,
    pub fsync_at_end: bool,
}

impl Default for Access {
    fn default() -> Self {
        Access {
            mode: Mode::default(),
            block_size_bytes: 16_384,
            read_write_ratio: 1.5,
            distribution: Distribution::default(),
            zipf_exponent: 0.8,
            pareto_h: 0.2,
            hot_part: 0.1,
            hot_share: 0.9,
            fsync_every: 100,
            fsync_call: FsyncCall::default(),
            fsync_at_end: true,
        }
    }
}

/// The file modes, with the names and the meaning of sysbench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    SeqWr,
    SeqRewr,
    SeqRd,
    RndRd,
    RndWr,
    #[default]
    RndRw,
}

impl Mode {
    pub fn writes(self) -> bool {
        !matches!(self, Mode::SeqRd | Mode::RndRd)
    }

    pub fn is_sequential(self) -> bool {
        matches!(self, Mode::SeqWr | Mode::SeqRewr | Mode::SeqRd)
    }
}

/// The distribution of the blocks of a random mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    #[default]
    Uniform,
    Zipf,
    Pareto,
    Hotspot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FsyncCall {
    #[default]
    Fsync,
    Fdatasync,
}

impl Files {
    pub fn data(&self) -> &Data {
        match self {
            Files::FileIo(fileio) => &fileio.data,
            Files::IoMatrix(matrix) => &matrix.data,
        }
    }

    pub fn io(&self) -> &IoMethod {
        match self {
            Files::FileIo(fileio) => &fileio.io,
            Files::IoMatrix(matrix) => &matrix.io,
        }
    }

    /// The sizes of its operations.
    pub fn block_sizes_bytes(&self) -> Vec<u64> {
        match self {
            Files::FileIo(fileio) => vec![fileio.access.block_size_bytes],
            Files::IoMatrix(matrix) => {
                vec![matrix.small_block_size_bytes, matrix.large_block_size_bytes]
            }
        }
    }

    pub fn fsync_call(&self) -> FsyncCall {
        match self {
            Files::FileIo(fileio) => fileio.access.fsync_call,
            Files::IoMatrix(_) => FsyncCall::default(),
        }
    }

    /// Whether files are empty at the start of a run.
    pub fn empties_files(&self) -> bool {
        matches!(self, Files::FileIo(fileio) if fileio.access.mode == Mode::SeqWr)
    }

    pub fn writes(&self) -> bool {
        match self {
            Files::FileIo(fileio) => fileio.access.mode.writes(),
            Files::IoMatrix(matrix) => matrix.write_share > 0.0,
        }
    }
}

fn one_file() -> u32 {
    1
}
fn eight_kib() -> u64 {
    8192
}
fn one_mib() -> u64 {
    1 << 20
}
