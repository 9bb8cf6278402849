//! Device identities on real loop devices, whose names are reused.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::symlink;

use crate::harness::device::{Loop, SIZE, command, may_make_devices};
use paribus_engine::device::DeviceIdentity;

#[test]
fn another_file_under_the_same_loop_name_is_another_device() {
    if !may_make_devices() {
        return;
    }
    let device = Loop::numbered(701);
    let first = DeviceIdentity::of_path(&device.path).unwrap();
    let opened = DeviceIdentity::of_file(&File::open(&device.path).unwrap()).unwrap();
    assert_eq!(opened.differs_from(&first), None, "{opened} {first}");
    assert!(opened.backing_inode.is_some());
    assert_eq!(first.size_bytes, Some(SIZE));

    let other = device.backing.with_file_name("other");
    File::create(&other).unwrap().set_len(SIZE).unwrap();
    device.attach_instead(&other);
    let second = DeviceIdentity::of_path(&device.path).unwrap();
    assert_eq!(second.major_minor, first.major_minor);
    let difference = second.differs_from(&first).unwrap();
    assert!(difference.contains("diskseq was "), "{difference}");
    let reopened = DeviceIdentity::of_file(&File::open(&device.path).unwrap()).unwrap();
    let difference = reopened.differs_from(&opened).unwrap();
    assert!(difference.contains("inode"), "{difference}");
}

#[test]
fn a_descriptor_keeps_its_identity_when_the_link_leads_elsewhere() {
    if !may_make_devices() {
        return;
    }
    let (first, second) = (Loop::new(&[]), Loop::new(&[]));
    let link = first.backing.with_file_name("link");
    symlink(&first.path, &link).unwrap();
    let expected = DeviceIdentity::of_path(&link).unwrap();
    let file = OpenOptions::new().read(true).open(&link).unwrap();
    std::fs::remove_file(&link).unwrap();
    symlink(&second.path, &link).unwrap();
    let held = DeviceIdentity::of_file(&file).unwrap();
    assert_eq!(held.differs_from(&expected), None);
    let named = DeviceIdentity::of_path(&link).unwrap();
    let difference = named.differs_from(&expected).unwrap();
    assert!(difference.contains("device number was"), "{difference}");
}

#[test]
fn a_grown_loop_device_is_still_the_same() {
    if !may_make_devices() {
        return;
    }
    let device = Loop::new(&[]);
    let before = DeviceIdentity::of_path(&device.path).unwrap();
    let backing = OpenOptions::new()
        .write(true)
        .open(&device.backing)
        .unwrap();
    backing.set_len(2 * SIZE).unwrap();
    command("losetup", &["-c", device.name()]);
    let grown = DeviceIdentity::of_path(&device.path).unwrap();
    assert_eq!(grown.size_bytes, Some(2 * SIZE));
    assert_eq!(grown.differs_from(&before), None);
}
