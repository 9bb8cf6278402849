//! A disk of a storage layout, released: whatever lies on it taken apart, and the disk wiped.
//!
//! In: the disk, and all disks of the layout. Out: a disk with no signature, partition, holder or
//! mount. Called by `journal::action`.
//!
//! The undo of a layout reads the kernel's state instead of a list of steps. So it is the same
//! after any interruption: while an array was made, after a power cut, or after the boot assembled
//! the array under another name. The journal accepts the disk only while it is clean. What lies on
//! it later is therefore of the experiment, unless it also lies on a disk outside of the layout:
//! then it is not touched.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::program::output;
use super::{Undo, pools};
use crate::device::{Driver, StackedDevice};
use crate::machine::mounts;

const CLEAN: &str = "clean";
/// Programs that list devices hold them for a moment, and udev assembles what it finds.
const BUSY_PATIENCE: Duration = Duration::from_secs(30);
const RETRY: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleaseDisk {
    pub path: PathBuf,
    /// All disks of the layout.
    pub among: Vec<PathBuf>,
}

impl Undo for ReleaseDisk {
    fn subject(&self) -> String {
        self.path.display().to_string()
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn expected(&self) -> String {
        CLEAN.to_string()
    }

    fn read_back(&self) -> io::Result<String> {
        Ok(self.remains()?.unwrap_or_else(|| CLEAN.to_string()))
    }

    fn execute(&self) -> io::Result<()> {
        let deadline = Instant::now() + BUSY_PATIENCE;
        loop {
            let outcome = self.take_apart().and_then(|()| {
                self.refresh_udev();
                // An array that udev assembled meanwhile is taken apart in the next round.
                self.remains()
            });
            match outcome {
                Ok(None) => return Ok(()),
                Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => return Err(cause),
                Ok(Some(remains)) if Instant::now() >= deadline => {
                    return Err(io::Error::other(remains));
                }
                Err(cause) if Instant::now() >= deadline => return Err(cause),
                _ => thread::sleep(RETRY),
            }
        }
    }
}

impl ReleaseDisk {
    /// What is still on the disk; `None` where it is clean.
    fn remains(&self) -> io::Result<Option<String>> {
        let disk = StackedDevice::of_path(&self.path)?;
        let above: Vec<String> = disk.above().into_iter().map(|other| other.name).collect();
        if !above.is_empty() {
            return Ok(Some(format!("it has {}", above.join(", "))));
        }
        if let Some(mount) = mounts_of(&BTreeSet::from([disk.clone()]))?.first() {
            return Ok(Some(format!("it is mounted at {}", mount.display())));
        }
        let node = self.path.display().to_string();
        let listed = output(&["wipefs", "--noheadings", "--output", "TYPE", &node])?;
        let signatures: Vec<&str> = listed.split_whitespace().collect();
        if signatures.is_empty() {
            return Ok(None);
        }
        Ok(Some(format!("it holds {}", signatures.join(", "))))
    }

    /// Lets udev look again, where it runs: lsblk shows what it remembers. Waits for its rules.
    fn refresh_udev(&self) {
        let node = self.path.display().to_string();
        let _ = output(&["udevadm", "trigger", "--action=change", "--settle", &node]);
        settle_udev();
    }

    /// One round, from the top to the disk itself.
    fn take_apart(&self) -> io::Result<()> {
        let disk = StackedDevice::of_path(&self.path)?;
        let layout: BTreeSet<StackedDevice> = self
            .among
            .iter()
            .filter_map(|path| StackedDevice::of_path(path).ok())
            .chain([disk.clone()])
            .collect();
        let mut stack: BTreeSet<StackedDevice> = BTreeSet::new();
        for member in &layout {
            stack.extend(member.with_all_above());
        }
        pools::destroy(&layout)?;
        // A file system may lie on several disks and name another one as its source.
        for point in mounts_of(&stack)?.iter().rev() {
            output(&["umount", &point.display().to_string()])?;
        }
        let devices = disk.with_all_above();
        for device in devices.iter().rev().filter(|device| **device != disk) {
            refuse_foreign(device, &layout)?;
            dismantle(device)?;
        }
        stop_caching(&disk);
        refuse_users(&disk)?;
        wipe(&disk)?;
        // wipefs asks the kernel once to forget the partitions, which it does not do while one is
        // looked at. Later there is no table whose removal would make it ask again.
        if disk.partitions().is_empty() {
            return Ok(());
        }
        output(&["blockdev", "--rereadpt", &disk.node().display().to_string()]).map(drop)
    }
}

/// The mount points of devices, in the order in which they were mounted.
fn mounts_of(devices: &BTreeSet<StackedDevice>) -> io::Result<Vec<PathBuf>> {
    let is_of = |mount: &mounts::Mount| {
        let by_number = StackedDevice::of_number(&mount.major_minor).ok();
        // A btrfs has a number of its own.
        let device = by_number.or_else(|| StackedDevice::of_path(Path::new(&mount.source)).ok());
        device.is_some_and(|device| devices.contains(&device))
    };
    let present = mounts::present()?;
    Ok(present
        .into_iter()
        .filter(is_of)
        .map(|mount| mount.point)
        .collect())
}

fn refuse_foreign(device: &StackedDevice, layout: &BTreeSet<StackedDevice>) -> io::Result<()> {
    let bottom = device.bottom(layout);
    let Some(other) = bottom.iter().find(|disk| !layout.contains(disk)) else {
        return Ok(());
    };
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!(
            "{} also lies on {}, which is no disk of this layout, so it was not touched",
            device.name, other.name
        ),
    ))
}

/// Takes away one device on which nothing lies any more.
fn dismantle(device: &StackedDevice) -> io::Result<()> {
    if !device.directory().exists() {
        return Ok(());
    }
    refuse_users(device)?;
    // Else the same array, made again, would show what was on it.
    let _ = wipe(device);
    match device.driver() {
        Driver::Mapper { name } => output(&["dmsetup", "remove", "--retry", &name]).map(drop),
        Driver::Array => stop_array(device),
        Driver::Bcache => fs::write(device.directory().join("bcache/stop"), "1"),
        // The table is wiped with the disk.
        Driver::Partition => {
            stop_caching(device);
            Ok(())
        }
        Driver::Other => Err(io::Error::other(format!(
            "nothing here knows how to take {} apart",
            device.name
        ))),
    }
}

/// Stops an array. Opening its node, as udev does for an event that waits, makes the kernel create an
/// empty array of that number: so events are waited for, and an empty array is stopped too.
fn stop_array(device: &StackedDevice) -> io::Result<()> {
    let node = device.node().display().to_string();
    let deadline = Instant::now() + BUSY_PATIENCE;
    loop {
        settle_udev();
        output(&["mdadm", "--stop", &node])?;
        settle_udev();
        if !is_empty_array(device) || Instant::now() >= deadline {
            return Ok(());
        }
    }
}

fn is_empty_array(device: &StackedDevice) -> bool {
    let state = fs::read_to_string(device.directory().join("md/array_state"));
    state.is_ok_and(|state| state.trim() == "clear")
}

/// Waits until udev's rules have seen all events, where it runs.
fn settle_udev() {
    let _ = output(&["udevadm", "settle", "--timeout=10"]);
}

/// A disk that is registered with bcache has no holder once its cached device is stopped.
fn stop_caching(device: &StackedDevice) {
    for file in ["bcache/set/stop", "bcache/stop"] {
        let path = device.directory().join(file);
        if path.exists() {
            let _ = fs::write(path, "1");
        }
    }
}

fn refuse_users(device: &StackedDevice) -> io::Result<()> {
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    let mut paths = swaps
        .lines()
        .skip(1)
        .filter_map(|line| line.split(' ').next());
    if paths.any(|path| StackedDevice::of_path(Path::new(path)).is_ok_and(|swap| swap == *device)) {
        let message = format!("{} is used as swap, so it was not touched", device.name);
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    Ok(())
}

/// Removes every signature. Nobody may have the device open exclusively.
fn wipe(device: &StackedDevice) -> io::Result<()> {
    let node = device.node();
    // Only to read: udev would assemble what still is there when a writer closes it.
    OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_EXCL)
        .open(&node)
        .map_err(|cause| io::Error::new(cause.kind(), format!("{}: {cause}", node.display())))?;
    output(&["wipefs", "--all", "--quiet", &node.display().to_string()]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_disk_is_an_error_and_never_clean() {
        let release = ReleaseDisk {
            path: "/dev/null".into(),
            among: vec![],
        };
        assert!(release.read_back().is_err());
        assert!(release.take_apart().is_err());
    }
}
