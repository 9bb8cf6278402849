//! The identity of a block device: facts that distinguish it from another device of the same name.
//!
//! In: a device's number, sysfs directory, path or open descriptor. Out: a `DeviceIdentity`, and
//! the differences between two of them in words. Called by `io::device`, `users` and `journal`.
//!
//! The kernel reuses a name such as `/dev/sdb` or `/dev/loop3`, and its number, for the next
//! device. The kernel gives each device (and each use of a loop device) its own `diskseq`, which
//! counts from 1 in each boot. Serial, WWN and UUID survive a reboot.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::{major, minor};
use serde::{Deserialize, Serialize};

use super::facts::{backing_inode, diskseq_of, read_sysfs};

/// The kernel's facts about one block device; `None` for facts that it does not report.
///
/// For a partition, all fields but `major_minor`, `partition` and `size_bytes` are of its disk.
/// Unknown fields are ignored when reading: newer engines may record more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceIdentity {
    /// As `8:16`.
    pub major_minor: String,
    /// The boot in which number, `diskseq`, `members` and `backing_inode` were read.
    pub boot_id: Option<String>,
    pub diskseq: Option<u64>,
    pub serial: Option<String>,
    pub wwn: Option<String>,
    /// UUID of a device-mapper device or of an array.
    pub uuid: Option<String>,
    /// As `1 at sector 2048`.
    pub partition: Option<String>,
    /// The devices below a device-mapper device, each as `8:16 diskseq 4`, sorted.
    pub members: Option<Vec<String>>,
    /// A loop device's file.
    pub backing_file: Option<String>,
    /// A loop device's file as `DEVICE:INODE`; read from an open descriptor only.
    pub backing_inode: Option<String>,
    pub size_bytes: Option<u64>,
}

impl DeviceIdentity {
    /// The present device with this number.
    ///
    /// # Errors
    ///
    /// `NotFound` where no device has it; any error of reading sysfs.
    pub fn of_number(major: u32, minor: u32) -> io::Result<DeviceIdentity> {
        DeviceIdentity::of_sysfs(Path::new(&format!("/sys/dev/block/{major}:{minor}")))
    }

    /// The device of a sysfs directory, such as `/sys/block/sda` or `/sys/block/sda/sda1`.
    ///
    /// # Errors
    ///
    /// As `of_number`; `Other` where another device took the directory over during the reads.
    pub fn of_sysfs(directory: &Path) -> io::Result<DeviceIdentity> {
        let identity = read_sysfs(directory)?;
        match read_sysfs(directory)?.differs_from(&identity) {
            None => Ok(identity),
            Some(difference) => Err(io::Error::other(format!(
                "the device changed while it was examined: {difference}"
            ))),
        }
    }

    /// The block device at the end of a path; links are followed.
    ///
    /// # Errors
    ///
    /// As `of_number`; `InvalidInput` where the path leads to no block device.
    pub fn of_path(path: &Path) -> io::Result<DeviceIdentity> {
        DeviceIdentity::of_metadata(&fs::metadata(path)?)
    }

    /// The block device of an open descriptor, independent of the device's present name.
    ///
    /// # Errors
    ///
    /// As `of_path`; `Other` where its number already belongs to another device.
    pub fn of_file(device: &File) -> io::Result<DeviceIdentity> {
        let mut identity = DeviceIdentity::of_metadata(&device.metadata()?)?;
        if let Some(diskseq) = diskseq_of(device) {
            if identity.diskseq.is_some_and(|named| named != diskseq) {
                return Err(io::Error::other(format!(
                    "the device was removed while it was open: its diskseq is {diskseq}, and device number {} now belongs to {identity}",
                    identity.major_minor
                )));
            }
            identity.diskseq = Some(diskseq);
        }
        if identity.backing_file.is_some() {
            identity.backing_inode = backing_inode(device);
        }
        Ok(identity)
    }

    fn of_metadata(metadata: &fs::Metadata) -> io::Result<DeviceIdentity> {
        if !metadata.file_type().is_block_device() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is not a block device",
            ));
        }
        let number = metadata.rdev();
        DeviceIdentity::of_number(major(number), minor(number))
    }

    /// The differences from the device `earlier`, as `diskseq was 14, is 17`; `None` where no
    /// common fact differs.
    ///
    /// Number, `diskseq`, members and inode are compared within one boot only. The path of a
    /// backing file and the size may change during a device's life. So they count only where no
    /// permanent fact was compared.
    pub fn differs_from(&self, earlier: &DeviceIdentity) -> Option<String> {
        let same_boot = match (&earlier.boot_id, &self.boot_id) {
            (Some(before), Some(now)) => before == now,
            _ => true,
        };
        let mut comparison = Comparison::default();
        if same_boot {
            let number = |of: &DeviceIdentity| {
                Some(of.major_minor.clone()).filter(|number| !number.is_empty())
            };
            comparison.changeable("device number", &number(earlier), &number(self));
            comparison.lasting("diskseq", &earlier.diskseq, &self.diskseq);
            comparison.lasting(
                "inode of the backing file",
                &earlier.backing_inode,
                &self.backing_inode,
            );
            let joined =
                |of: &DeviceIdentity| of.members.as_ref().map(|members| members.join(" and "));
            comparison.changeable("underlying device", &joined(earlier), &joined(self));
        }
        comparison.lasting("serial", &earlier.serial, &self.serial);
        comparison.lasting("WWN", &earlier.wwn, &self.wwn);
        comparison.lasting("UUID", &earlier.uuid, &self.uuid);
        comparison.changeable("partition", &earlier.partition, &self.partition);
        if !comparison.has_lasting {
            comparison.changeable("backing file", &earlier.backing_file, &self.backing_file);
            comparison.changeable("size in bytes", &earlier.size_bytes, &self.size_bytes);
        }
        (!comparison.differences.is_empty()).then(|| comparison.differences.join(", "))
    }
}

/// As `7:3 (diskseq 14, backing file /srv/a.img)`.
impl fmt::Display for DeviceIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts: Vec<String> = [
            self.diskseq.map(|number| format!("diskseq {number}")),
            self.serial.as_ref().map(|text| format!("serial {text}")),
            self.wwn.as_ref().map(|text| format!("WWN {text}")),
            self.uuid.as_ref().map(|text| format!("UUID {text}")),
            self.partition
                .as_ref()
                .map(|text| format!("partition {text}")),
            self.members
                .as_ref()
                .map(|members| format!("on {}", members.join(" and "))),
            self.backing_file
                .as_ref()
                .map(|text| format!("backing file {text}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        write!(formatter, "{}", self.major_minor)?;
        if facts.is_empty() {
            return Ok(());
        }
        write!(formatter, " ({})", facts.join(", "))
    }
}

#[derive(Default)]
struct Comparison {
    differences: Vec<String>,
    /// Whether a compared fact is permanent and unique to a device.
    has_lasting: bool,
}

impl Comparison {
    fn lasting<T: PartialEq + fmt::Display>(
        &mut self,
        name: &str,
        before: &Option<T>,
        now: &Option<T>,
    ) {
        self.has_lasting |= before.is_some() && now.is_some();
        self.changeable(name, before, now);
    }

    fn changeable<T: PartialEq + fmt::Display>(
        &mut self,
        name: &str,
        before: &Option<T>,
        now: &Option<T>,
    ) {
        if let (Some(before), Some(now)) = (before, now)
            && before != now
        {
            self.differences
                .push(format!("{name} was {before}, is {now}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn within_a_boot_a_new_diskseq_is_another_device_and_after_one_it_says_nothing() {
        let before = DeviceIdentity {
            major_minor: "7:3".into(),
            boot_id: Some("b1".into()),
            diskseq: Some(14),
            backing_file: Some("/a.img".into()),
            ..DeviceIdentity::default()
        };
        let mut now = DeviceIdentity {
            diskseq: Some(17),
            ..before.clone()
        };
        assert_eq!(now.differs_from(&before).unwrap(), "diskseq was 14, is 17");
        now.boot_id = Some("b2".into());
        now.major_minor = "7:9".into();
        assert_eq!(now.differs_from(&before), None);
        now.backing_file = Some("/b.img".into());
        assert_eq!(
            now.differs_from(&before).unwrap(),
            "backing file was /a.img, is /b.img"
        );
    }

    #[test]
    fn what_may_change_during_a_devices_life_counts_only_where_nothing_lasting_is_known() {
        let before = DeviceIdentity {
            serial: Some("S1".into()),
            size_bytes: Some(10),
            ..DeviceIdentity::default()
        };
        let mut grown = before.clone();
        grown.size_bytes = Some(20);
        assert_eq!(grown.differs_from(&before), None);
        grown.serial = None;
        assert_eq!(
            grown.differs_from(&before).unwrap(),
            "size in bytes was 10, is 20"
        );
        let other = DeviceIdentity {
            serial: Some("S2".into()),
            ..before.clone()
        };
        assert_eq!(other.differs_from(&before).unwrap(), "serial was S1, is S2");
    }

    #[test]
    fn an_identity_of_a_newer_engine_is_read() {
        let text = r#"{"major_minor":"8:0","diskseq":4,"colour":"green"}"#;
        let read: DeviceIdentity = serde_json::from_str(text).unwrap();
        assert_eq!(read.to_string(), "8:0 (diskseq 4)");
    }

    #[test]
    fn a_file_has_no_identity_of_a_device() {
        let file = tempfile::tempfile().unwrap();
        let error = DeviceIdentity::of_file(&file).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
