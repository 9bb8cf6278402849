//! The kernel's facts about one block device: what sysfs and the device's driver report.
//!
//! In: a sysfs directory or an open device. Out: the fields of a `DeviceIdentity`. Called by
//! `device::identity`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::ioctl::{Getter, Opcode, ioctl, opcode};

use super::DeviceIdentity;
use crate::machine;

const BLKGETDISKSEQ: Opcode = opcode::read::<u64>(0x12, 128);
const LOOP_GET_STATUS64: Opcode = 0x4C05;
const SECTOR_BYTES: u64 = 512;
/// Multipath devices lose and regain paths; all other mapped devices change content with them.
const MULTIPATH_PREFIX: &str = "mpath-";

/// The facts that sysfs has about the device of a directory, and of its disk if it is a partition.
pub fn read_sysfs(directory: &Path) -> io::Result<DeviceIdentity> {
    let device_directory = fs::canonicalize(directory)?;
    let major_minor = fs::read_to_string(device_directory.join("dev"))?
        .trim()
        .to_string();
    let number = text(&device_directory.join("partition"));
    let disk = match &number {
        Some(_) => device_directory
            .parent()
            .map_or_else(|| device_directory.clone(), Path::to_path_buf),
        None => device_directory.clone(),
    };
    let first_of = |names: &[&str]| names.iter().find_map(|name| text(&disk.join(name)));
    let start = text(&device_directory.join("start")).unwrap_or_default();
    let uuid = first_of(&["dm/uuid", "md/uuid"]);
    let is_multipath = uuid
        .as_ref()
        .is_some_and(|uuid| uuid.starts_with(MULTIPATH_PREFIX));
    Ok(DeviceIdentity {
        major_minor,
        boot_id: Some(machine::boot_id()).filter(|id| !id.is_empty()),
        diskseq: first_of(&["diskseq"]).and_then(|number| number.parse().ok()),
        serial: first_of(&["serial", "device/serial"]).or_else(|| unit_serial(&disk)),
        wwn: first_of(&["wwid", "device/wwid"]),
        partition: number.map(|number| format!("{number} at sector {start}")),
        members: (disk.join("dm").is_dir() && !is_multipath).then(|| members(&disk)),
        uuid,
        backing_file: first_of(&["loop/backing_file"]),
        backing_inode: None,
        size_bytes: text(&device_directory.join("size"))
            .and_then(|sectors| Some(sectors.parse::<u64>().ok()? * SECTOR_BYTES)),
    })
}

/// A file's text without surrounding blanks; `None` where it is missing or empty.
fn text(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    printable(&bytes)
}

fn printable(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let trimmed =
        text.trim_matches(|character: char| character.is_whitespace() || character == '\0');
    (!trimmed.is_empty()).then(|| trimmed.to_string())
}

/// SCSI's page 0x80: four bytes of header, then the serial.
fn unit_serial(disk: &Path) -> Option<String> {
    let page = fs::read(disk.join("device/vpd_pg80")).ok()?;
    printable(page.get(4..)?)
}

fn members(disk: &Path) -> Vec<String> {
    let entries = fs::read_dir(disk.join("slaves")).into_iter().flatten();
    let paths = entries.flatten().map(|entry| entry.path());
    let mut members: Vec<String> = paths.map(|path| member(&path)).collect();
    members.sort();
    members
}

fn member(directory: &Path) -> String {
    let device_directory = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_path_buf());
    let disk: PathBuf = match device_directory.parent() {
        Some(parent) if device_directory.join("partition").exists() => parent.to_path_buf(),
        _ => device_directory.clone(),
    };
    let number = text(&device_directory.join("dev")).unwrap_or_default();
    match text(&disk.join("diskseq")) {
        Some(diskseq) => format!("{number} diskseq {diskseq}"),
        None => number,
    }
}

/// `None` before Linux 5.15.
pub fn diskseq_of(device: &File) -> Option<u64> {
    // SAFETY: the answer of this request is 64 bits.
    unsafe { ioctl(device, Getter::<BLKGETDISKSEQ, u64>::new()) }.ok()
}

/// `struct loop_info64` of `linux/loop.h`.
#[repr(C)]
struct LoopStatus {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    names: [u8; 64 + 64 + 32],
    init: [u64; 2],
}

/// `None` where the descriptor belongs to no loop device in use.
fn loop_status(device: &File) -> Option<LoopStatus> {
    // SAFETY: the kernel's answer has this layout, and all of its bit patterns are valid.
    unsafe { ioctl(device, Getter::<LOOP_GET_STATUS64, LoopStatus>::new()) }.ok()
}

/// A loop device's file as `DEVICE:INODE`.
pub fn backing_inode(device: &File) -> Option<String> {
    loop_status(device).map(|status| format!("{}:{}", status.device, status.inode))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        directory
    }

    fn identity(files: &[(&str, &[u8])]) -> DeviceIdentity {
        DeviceIdentity::of_sysfs(directory(files).path()).unwrap()
    }

    #[test]
    fn serial_and_wwn_are_found_where_each_bus_has_them() {
        let virtio = identity(&[("dev", b"253:0\n"), ("serial", b"abc"), ("size", b"8\n")]);
        assert_eq!(virtio.serial.as_deref(), Some("abc"));
        assert_eq!(virtio.size_bytes, Some(4096));
        let nvme = identity(&[
            ("dev", b"259:0\n"),
            ("device/serial", b"S4NZ  \n"),
            ("wwid", b"eui.0025\n"),
        ]);
        assert_eq!(nvme.serial.as_deref(), Some("S4NZ"));
        assert_eq!(nvme.wwn.as_deref(), Some("eui.0025"));
        let scsi = identity(&[
            ("dev", b"8:0\n"),
            ("device/vpd_pg80", b"\0\x80\0\x04WD-7"),
            ("device/wwid", b"naa.5000\n"),
        ]);
        assert_eq!(scsi.serial.as_deref(), Some("WD-7"));
        assert_eq!(scsi.wwn.as_deref(), Some("naa.5000"));
    }

    #[test]
    fn a_partition_has_the_identity_of_its_disk_and_its_own_place() {
        let disk = directory(&[
            ("dev", b"8:0\n"),
            ("diskseq", b"4\n"),
            ("device/serial", b"S1\n"),
            ("sda1/dev", b"8:1\n"),
            ("sda1/partition", b"1\n"),
            ("sda1/start", b"2048\n"),
        ]);
        let part = DeviceIdentity::of_sysfs(&disk.path().join("sda1")).unwrap();
        assert_eq!(part.major_minor, "8:1");
        assert_eq!(
            (part.diskseq, part.serial.as_deref()),
            (Some(4), Some("S1"))
        );
        assert_eq!(part.partition.as_deref(), Some("1 at sector 2048"));
        fs::write(disk.path().join("sda1/start"), "4096").unwrap();
        let moved = DeviceIdentity::of_sysfs(&disk.path().join("sda1")).unwrap();
        let difference = moved.differs_from(&part).unwrap();
        assert_eq!(
            difference,
            "partition was 1 at sector 2048, is 1 at sector 4096"
        );
    }

    #[test]
    fn a_mapped_device_is_told_by_what_it_lies_on_unless_it_is_multipath() {
        let files: [(&str, &[u8]); 4] = [
            ("dev", b"252:0\n"),
            ("dm/uuid", b"LVM-x\n"),
            ("slaves/sda/dev", b"8:0\n"),
            ("slaves/sda/diskseq", b"3\n"),
        ];
        let linear = identity(&files);
        assert_eq!(linear.members, Some(vec!["8:0 diskseq 3".into()]));
        let mut moved = files;
        moved[3].1 = b"9\n";
        assert_eq!(
            identity(&moved).differs_from(&linear).unwrap(),
            "underlying device was 8:0 diskseq 3, is 8:0 diskseq 9"
        );
        let mut multipath = files;
        multipath[1].1 = b"mpath-3600\n";
        assert_eq!(identity(&multipath).members, None);
    }
}
