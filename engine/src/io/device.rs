//! Block devices in place of files: their properties, and the refusals that protect them.
//!
//! In: the path of a device and the identity it should have. Out: a descriptor, size and sector; or
//! a refusal that names the user of the device or the other device. Called by `io::fileset`,
//! `io::direct` and `workload::fileio::prepare`.
//!
//! Writing to a device destroys its data. So it is opened exclusively. The kernel refuses that
//! while a file system, a volume group, a RAID or a swap area uses the device. A whole disk with
//! partitions is refused too, whether they are in use or not. A name may lead to another device at
//! any time. So all checks use the open descriptor, and so does all I/O.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{ioctl_blksszget, major, minor};
use rustix::ioctl::{Getter, Opcode, ioctl, opcode};

use crate::device::DeviceIdentity;
use crate::error::{Class, EngineError, Result};

const BLKROGET: Opcode = opcode::none(0x12, 94);
const BLKGETSIZE64: Opcode = opcode::read::<usize>(0x12, 114);

/// After a load is killed, its device stays busy until the kernel has closed its io_uring.
const PATIENCE: Duration = Duration::from_secs(1);
const NAP: Duration = Duration::from_millis(20);

/// Opens a device with these additional flags; `write` opens it exclusively.
///
/// # Errors
///
/// `DeviceChanged` where the opened device is not the `expected` one.
pub fn open(
    path: &Path,
    write: bool,
    flags: i32,
    expected: Option<&DeviceIdentity>,
) -> Result<File> {
    let named = fs::metadata(path).map_err(|cause| missing(path, &cause))?;
    refuse_unfit(path, &named, write)?;
    if write {
        refuse_read_only(path)?;
    }
    let device = open_named(path, write, flags)?;
    let opened = device
        .metadata()
        .map_err(|cause| EngineError::from_io("examine", path, &cause))?;
    refuse_another(path, &device, expected)?;
    refuse_unfit(path, &opened, write)?;
    Ok(device)
}

fn refuse_unfit(path: &Path, metadata: &fs::Metadata, write: bool) -> Result<()> {
    if !metadata.file_type().is_block_device() {
        return Err(EngineError::bad_job(format!(
            "workload.data.device {} is not a block device",
            path.display()
        ))
        .at(path));
    }
    if write {
        refuse_partitioned(path, metadata.rdev())?;
    }
    Ok(())
}

/// Refuses an opened device that is not the `expected` one; `None` accepts any device.
pub fn refuse_another(path: &Path, device: &File, expected: Option<&DeviceIdentity>) -> Result<()> {
    let Some(expected) = expected else {
        return Ok(());
    };
    let difference = match DeviceIdentity::of_file(device) {
        Ok(identity) => match identity.differs_from(expected) {
            None => return Ok(()),
            Some(difference) => format!("found {identity}: {difference}"),
        },
        Err(cause) => cause.to_string(),
    };
    Err(EngineError::new(
        Class::DeviceChanged,
        format!(
            "{} is another device than the one that was checked: expected {expected}, {difference}",
            path.display()
        ),
        "nothing was written; give the expected device its name again (ls -l, lsblk and losetup show the present names), or start a new experiment",
    )
    .at(path))
}

fn open_named(path: &Path, write: bool, flags: i32) -> Result<File> {
    let exclusive = if write { libc::O_EXCL } else { 0 };
    let deadline = Instant::now() + PATIENCE;
    loop {
        let opened = OpenOptions::new()
            .read(true)
            .write(write)
            .custom_flags(flags | exclusive)
            .open(path);
        return match opened {
            Err(cause) if cause.raw_os_error() == Some(libc::EBUSY) => {
                if Instant::now() < deadline {
                    thread::sleep(NAP);
                    continue;
                }
                let why = "it is mounted, used as swap, or part of a volume group or RAID";
                Err(in_use(path, why))
            }
            Err(cause) => Err(EngineError::from_io("open", path, &cause)),
            Ok(device) => Ok(device),
        };
    }
}

/// Checks that the device has `size_bytes`, in whole sectors.
pub fn check_size(device: &File, path: &Path, size_bytes: u64) -> Result<()> {
    let ask = |cause| EngineError::from_io("read the size of", path, &cause);
    let device_bytes = size(device).map_err(ask)?;
    let sector = u64::from(sector(device).map_err(ask)?);
    if size_bytes > device_bytes {
        return Err(EngineError::bad_job(format!(
            "workload.data.total_size_bytes is {size_bytes}; {} has {device_bytes} bytes",
            path.display()
        ))
        .at(path));
    }
    if !size_bytes.is_multiple_of(sector) {
        return Err(EngineError::bad_job(format!(
            "workload.data.total_size_bytes is {size_bytes}; {} has sectors of {sector} bytes, and the size must be a multiple of that",
            path.display()
        ))
        .at(path));
    }
    Ok(())
}

pub fn size(device: &File) -> io::Result<u64> {
    // SAFETY: the answer is 64 bits wide on every architecture, whatever the request's name says.
    let size = unsafe { ioctl(device, Getter::<BLKGETSIZE64, u64>::new()) }?;
    Ok(size)
}

/// The logical sector: the smallest unit of reads and writes of the device.
pub fn sector(device: &File) -> io::Result<u32> {
    Ok(ioctl_blksszget(device)?)
}

fn refuse_read_only(path: &Path) -> Result<()> {
    let read_only = File::open(path)
        .and_then(|device| {
            // SAFETY: the answer is an int.
            let answer = unsafe { ioctl(&device, Getter::<BLKROGET, libc::c_int>::new()) };
            Ok(answer?)
        })
        .map_err(|cause| EngineError::from_io("open", path, &cause))?;
    if read_only == 0 {
        return Ok(());
    }
    Err(EngineError::new(
        Class::Permission,
        format!("{} is read-only", path.display()),
        "make it writable (blockdev --setrw), or use a mode that only reads",
    )
    .at(path))
}

fn refuse_partitioned(path: &Path, number: u64) -> Result<()> {
    let (major, minor) = (major(number), minor(number));
    let entries = fs::read_dir(format!("/sys/dev/block/{major}:{minor}"));
    // Without sysfs there is no check; the exclusive opening still refuses partitions in use.
    let mut partitions: Vec<String> = entries
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().join("partition").exists())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    if partitions.is_empty() {
        return Ok(());
    }
    partitions.sort();
    let why = format!("it has the partitions {}", partitions.join(", "));
    Err(in_use(path, &why))
}

fn in_use(path: &Path, why: &str) -> EngineError {
    EngineError::new(
        Class::DeviceInUse,
        format!("{} is in use: {why}", path.display()),
        "choose an unused device; lsblk and /proc/swaps show the users of this one",
    )
    .at(path)
}

fn missing(path: &Path, cause: &io::Error) -> EngineError {
    match cause.kind() {
        io::ErrorKind::NotFound => EngineError::new(
            Class::NoSuchDevice,
            format!("there is no device {}", path.display()),
            "list the devices of this machine: lsblk",
        )
        .at(path),
        _ => EngineError::from_io("examine", path, cause),
    }
}
