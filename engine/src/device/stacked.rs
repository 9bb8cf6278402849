//! Devices stacked on a disk: partitions, arrays, logical volumes, caches, encrypted devices.
//!
//! In: the path of a block device. Out: what lies on it and under it, as the kernel shows it in
//! sysfs. Called by `journal::action`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

const BLOCK: &str = "/sys/class/block";

/// A block device, by its name in the kernel: `sda1`, `dm-0`, `md127`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StackedDevice {
    pub name: String,
}

/// The driver that a device belongs to, with what names it there.
#[derive(Debug, PartialEq, Eq)]
pub enum Driver {
    Mapper { name: String },
    Array,
    Bcache,
    Partition,
    Other,
}

impl StackedDevice {
    /// The device that a path leads to, also by a link.
    pub fn of_path(path: &Path) -> io::Result<StackedDevice> {
        let metadata = fs::metadata(path)?;
        if !metadata.file_type().is_block_device() {
            let message = format!("{} is not a block device", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let number = metadata.rdev();
        StackedDevice::of_number(&format!("{}:{}", libc::major(number), libc::minor(number)))
    }

    /// The device with a number such as `8:1`.
    pub fn of_number(number: &str) -> io::Result<StackedDevice> {
        let directory = fs::canonicalize(format!("/sys/dev/block/{number}"))?;
        let name = directory.file_name().unwrap_or_default();
        Ok(StackedDevice {
            name: name.to_string_lossy().into_owned(),
        })
    }

    pub fn directory(&self) -> PathBuf {
        Path::new(BLOCK).join(&self.name)
    }

    /// Its node, which every kernel names like this.
    pub fn node(&self) -> PathBuf {
        Path::new("/dev").join(self.name.replace('!', "/"))
    }

    /// `8:1`.
    pub fn number(&self) -> Option<String> {
        let text = fs::read_to_string(self.directory().join("dev")).ok()?;
        Some(text.trim().to_string())
    }

    pub fn driver(&self) -> Driver {
        let directory = self.directory();
        if let Ok(name) = fs::read_to_string(directory.join("dm/name")) {
            return Driver::Mapper {
                name: name.trim().to_string(),
            };
        }
        if directory.join("md").is_dir() {
            return Driver::Array;
        }
        if directory.join("partition").exists() {
            return Driver::Partition;
        }
        if self.name.starts_with("bcache") {
            return Driver::Bcache;
        }
        Driver::Other
    }

    pub fn partitions(&self) -> Vec<StackedDevice> {
        let directory = self.directory();
        let Ok(entries) = fs::read_dir(&directory) else {
            return Vec::new();
        };
        let names = entries.flatten().map(|entry| entry.file_name());
        let mut partitions: Vec<StackedDevice> = names
            .filter(|name| directory.join(name).join("partition").exists())
            .map(|name| StackedDevice {
                name: name.to_string_lossy().into_owned(),
            })
            .collect();
        partitions.sort();
        partitions
    }

    /// What lies directly on it, its partitions included.
    pub fn above(&self) -> Vec<StackedDevice> {
        let mut above = self.linked("holders");
        above.extend(self.partitions());
        above
    }

    /// What it lies directly on; a partition lies on its disk.
    pub fn below(&self) -> Vec<StackedDevice> {
        if self.driver() == Driver::Partition {
            let directory = fs::canonicalize(self.directory()).unwrap_or_default();
            let disk = directory.parent().and_then(Path::file_name);
            return disk
                .map(|name| StackedDevice {
                    name: name.to_string_lossy().into_owned(),
                })
                .into_iter()
                .collect();
        }
        self.linked("slaves")
    }

    /// Itself and everything that lies on it, the lowest first.
    pub fn with_all_above(&self) -> Vec<StackedDevice> {
        let mut stack = vec![self.clone()];
        let mut next = 0;
        while let Some(device) = stack.get(next).cloned() {
            for above in device.above() {
                // What is reached twice comes after all that it lies on.
                stack.retain(|other| *other != above);
                stack.push(above);
            }
            next = stack
                .iter()
                .position(|other| *other == device)
                .map_or(next + 1, |position| position + 1);
        }
        stack
    }

    /// What it lies on at last: devices of `ground`, which may be partitions, else disks.
    pub fn bottom(&self, ground: &BTreeSet<StackedDevice>) -> BTreeSet<StackedDevice> {
        let below = self.below();
        if below.is_empty() || ground.contains(self) {
            return BTreeSet::from([self.clone()]);
        }
        below
            .iter()
            .flat_map(|device| device.bottom(ground))
            .collect()
    }

    fn linked(&self, folder: &str) -> Vec<StackedDevice> {
        let Ok(entries) = fs::read_dir(self.directory().join(folder)) else {
            return Vec::new();
        };
        let names = entries.flatten().map(|entry| entry.file_name());
        let mut devices: Vec<StackedDevice> = names
            .map(|name| StackedDevice {
                name: name.to_string_lossy().into_owned(),
            })
            .collect();
        devices.sort();
        devices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_its_own_bottom_and_its_partitions_lie_on_it() {
        for entry in fs::read_dir("/sys/block").unwrap().flatten() {
            let disk = StackedDevice {
                name: entry.file_name().to_string_lossy().into_owned(),
            };
            if !disk.below().is_empty() {
                continue;
            }
            let itself = BTreeSet::from([disk.clone()]);
            assert_eq!(disk.bottom(&BTreeSet::new()), itself);
            for partition in disk.partitions() {
                assert_eq!(partition.driver(), Driver::Partition);
                assert_eq!(partition.below(), std::slice::from_ref(&disk));
                assert!(disk.with_all_above().contains(&partition));
                assert_eq!(partition.bottom(&BTreeSet::new()), itself);
                let ground = BTreeSet::from([partition.clone()]);
                assert_eq!(partition.bottom(&ground), ground);
            }
        }
    }

    #[test]
    fn what_is_no_block_device_is_refused() {
        let cause = StackedDevice::of_path(Path::new("/dev/null")).unwrap_err();
        assert!(cause.to_string().contains("not a block device"), "{cause}");
    }
}
