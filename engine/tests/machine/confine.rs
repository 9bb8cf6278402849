//! A confined program: its writable and protected paths, on real mounts and devices.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::harness::binary;
use crate::harness::device::{Loop, may_make_devices};
use paribus_engine::device::DeviceIdentity;
use serde_json::json;

/// A directory outside /tmp, which a confined program does not see.
fn disk_directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/var/tmp").unwrap()
}

fn confined(directory: &Path, options: &[&str], script: &str) -> Output {
    Command::new(binary())
        .arg("confine")
        .args(options)
        .args(["--", "sh", "-c", script])
        .current_dir(directory)
        .output()
        .unwrap()
}

fn error(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn only_the_named_directory_is_writable() {
    if !may_make_devices() {
        return;
    }
    let (writable_directory, other) = (disk_directory(), disk_directory());
    let writable = format!("--writable={}", writable_directory.path().display());
    let outcome = confined(
        writable_directory.path(),
        &[&writable],
        "echo x > made && cat made",
    );
    assert!(outcome.status.success(), "{outcome:?}");
    assert_eq!(
        fs::read(writable_directory.path().join("made")).unwrap(),
        b"x\n"
    );
    for script in [
        &format!("touch {}/made-by-a-test", other.path().display()),
        "touch /etc/made-by-a-test",
        "cat /proc/sys/vm/swappiness > /proc/sys/vm/swappiness",
    ] {
        let message = error(&confined(writable_directory.path(), &[&writable], script));
        assert!(message.contains("Read-only file system"), "{message}");
    }
    let remount = confined(
        writable_directory.path(),
        &[&writable],
        "mount -o remount,rw /",
    );
    assert!(!remount.status.success());
}

#[test]
fn a_device_that_lies_elsewhere_cannot_be_opened() {
    if !may_make_devices() {
        return;
    }
    let (writable_directory, other) = (disk_directory(), disk_directory());
    let writable = format!("--writable={}", writable_directory.path().display());
    for directory in [writable_directory.path(), other.path()] {
        let node = directory.join("null");
        let made = Command::new("mknod")
            .arg(&node)
            .args(["c", "1", "3"])
            .status();
        assert!(made.unwrap().success());
        fs::write(&node, "x").unwrap();
        let script = format!("echo x > {}", node.display());
        let message = error(&confined(writable_directory.path(), &[&writable], &script));
        assert!(message.contains("Permission denied"), "{message}");
    }
}

#[test]
fn tmp_is_private_but_for_what_is_named() {
    if !may_make_devices() {
        return;
    }
    let writable_directory = disk_directory();
    let outside = tempfile::Builder::new()
        .prefix("paribus-confine-")
        .tempdir_in("/tmp")
        .unwrap();
    let file = outside.path().join("script");
    fs::write(&file, "text").unwrap();
    let writable = format!("--writable={}", writable_directory.path().display());
    let readable = format!("--readable={}", file.display());
    let script = format!("cat {}", file.display());
    let hidden = error(&confined(writable_directory.path(), &[&writable], &script));
    assert!(hidden.contains("No such file"), "{hidden}");
    let readable_outcome = confined(writable_directory.path(), &[&writable, &readable], &script);
    assert_eq!(readable_outcome.stdout, b"text", "{readable_outcome:?}");
    let script = format!("echo more >> {}", file.display());
    error(&confined(
        writable_directory.path(),
        &[&writable, &readable],
        &script,
    ));
    assert_eq!(fs::read(&file).unwrap(), b"text");
    let private = "/tmp/paribus-confine-private";
    let outcome = confined(
        writable_directory.path(),
        &[&writable],
        &format!("touch {private}"),
    );
    assert!(outcome.status.success(), "{outcome:?}");
    assert!(!Path::new(private).exists());
}

#[test]
fn dev_has_the_named_device_alone() {
    if !may_make_devices() {
        return;
    }
    let (named, other) = (Loop::new(&[]), Loop::new(&[]));
    let directory = disk_directory();
    let identity = DeviceIdentity::of_path(&named.path).unwrap();
    let option = |identity: &DeviceIdentity| {
        let device = json!({"path": named.path, "identity": identity});
        format!("--device={device}")
    };
    let write = |device: &Loop| format!("printf data | dd of={} conv=notrunc,fsync", device.name());
    let written = confined(directory.path(), &[&option(&identity)], &write(&named));
    assert!(written.status.success(), "{written:?}");
    assert_eq!(fs::read(&named.backing).unwrap()[..4], *b"data");
    let message = error(&confined(
        directory.path(),
        &[&option(&identity)],
        &write(&other),
    ));
    assert!(
        message.contains("No such file") || message.contains("Read-only"),
        "{message}"
    );
    assert_eq!(fs::read(&other.backing).unwrap()[..4], [0; 4]);
    let another = DeviceIdentity::of_path(&other.path).unwrap();
    let message = error(&confined(directory.path(), &[&option(&another)], "true"));
    assert!(message.contains("is another device than"), "{message}");
    let listed = confined(directory.path(), &[], "ls -A /dev");
    let names = String::from_utf8(listed.stdout).unwrap();
    assert!(names.contains("null") && !names.contains("loop"), "{names}");
}

#[test]
fn no_program_only_tries_and_the_root_cannot_be_writable() {
    if !may_make_devices() {
        return;
    }
    let directory = disk_directory();
    let run = |options: &[&str]| {
        let mut command = Command::new(binary());
        command.args(options).current_dir(directory.path());
        command.output().unwrap()
    };
    assert!(run(&["confine"]).status.success());
    let message = error(&run(&["confine", "--writable=/", "--", "true"]));
    assert!(message.contains("nothing read-only"), "{message}");
    let message = error(&run(&["confine", "--", "/no/such/program"]));
    assert!(
        message.contains("cannot start /no/such/program"),
        "{message}"
    );
}
