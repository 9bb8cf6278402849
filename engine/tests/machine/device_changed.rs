//! A name that leads to another device or file than the checked one: nothing is written.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::harness::device::{Loop, SIZE, command, may_make_devices};
use crate::harness::{Engine, binary, disk_directory, job, only_error};
use paribus_engine::device::DeviceIdentity;
use serde_json::{Value, json};

/// A job on this path that expects this device.
fn expecting(device: &Loop, phase: &str, path: &Path, identity: &DeviceIdentity) -> Value {
    let mut job = device.job(phase, json!({"mode": "rndwr"}));
    job["workload"]["data"]["device"] = json!(path);
    job["workload"]["data"]["device_identity"] = json!(identity);
    job
}

fn refusal(job: &Value, class: &str) -> String {
    let error = only_error(Engine::run(job).wait(), 1);
    assert_eq!(error["class"], class, "{error}");
    error["message"].as_str().unwrap().to_string()
}

fn is_empty(file: &Path) -> bool {
    fs::read(file).unwrap().iter().all(|&byte| byte == 0)
}

#[test]
fn a_link_that_leads_to_another_device_is_refused_with_both_devices() {
    if !may_make_devices() {
        return;
    }
    let (checked, other) = (Loop::new(&[]), Loop::new(&[]));
    let link = checked.backing.with_file_name("link");
    symlink(&checked.path, &link).unwrap();
    let identity = DeviceIdentity::of_path(&link).unwrap();
    let job_of = |phase| expecting(&checked, phase, &link, &identity);
    let (code, events) = Engine::run(&job_of("run")).wait();
    assert_eq!(code, 0, "{events:#?}");
    assert!(!is_empty(&checked.backing));

    fs::remove_file(&link).unwrap();
    symlink(&other.path, &link).unwrap();
    for phase in ["run", "prepare"] {
        let message = refusal(&job_of(phase), "device-changed");
        for device in [&checked, &other] {
            let backing = device.backing.display().to_string();
            assert!(message.contains(&backing), "{message}");
        }
        assert!(message.contains("diskseq was "), "{message}");
    }
    assert!(is_empty(&other.backing));
}

#[test]
fn a_loop_name_that_has_another_file_is_refused() {
    if !may_make_devices() {
        return;
    }
    let device = Loop::numbered(702);
    let identity = DeviceIdentity::of_path(&device.path).unwrap();
    let other = device.backing.with_file_name("other");
    File::create(&other).unwrap().set_len(SIZE).unwrap();
    device.attach_instead(&other);
    let message = refusal(
        &expecting(&device, "run", &device.path, &identity),
        "device-changed",
    );
    assert!(message.contains("diskseq was "), "{message}");
    assert!(is_empty(&other));
}

#[test]
fn users_reports_the_identity_and_how_it_differs_from_an_expected_one() {
    if !may_make_devices() {
        return;
    }
    let device = Loop::numbered(703);
    let users = |expected: &[&str]| -> Value {
        let arguments = [&["users"], expected, &[device.name()]].concat();
        serde_json::from_str(&command(binary(), &arguments)).unwrap()
    };
    let first = users(&[]);
    let identity = first["identity"].to_string();
    assert_eq!(users(&["--expected", &identity])["difference"], Value::Null);
    let other = device.backing.with_file_name("other");
    File::create(&other).unwrap().set_len(SIZE).unwrap();
    device.attach_instead(&other);
    let second = users(&["--expected", &identity]);
    let difference = second["difference"].as_str().unwrap();
    assert!(difference.contains("diskseq was"), "{difference}");
}

#[test]
fn another_file_or_a_link_in_place_of_a_prepared_file_is_not_written_to() {
    let directory = disk_directory();
    let job_of = |phase| job(directory.path(), phase, json!({"mode": "rndwr"}));
    let (code, events) = Engine::run(&job_of("prepare")).wait();
    assert_eq!(code, 0, "{events:#?}");
    let (file, elsewhere) = (directory.path().join("paribus.0"), disk_directory());
    let foreign = elsewhere.path().join("mine");
    fs::write(
        &foreign,
        vec![0; fs::metadata(&file).unwrap().len() as usize],
    )
    .unwrap();

    fs::rename(&file, directory.path().join("aside")).unwrap();
    symlink(&foreign, &file).unwrap();
    let message = refusal(&job_of("run"), "not-ours");
    assert!(message.contains("symbolic link"), "{message}");
    fs::remove_file(&file).unwrap();
    fs::hard_link(&foreign, &file)
        .or_else(|_| fs::copy(&foreign, &file).map(drop))
        .unwrap();
    let message = refusal(&job_of("run"), "not-ours");
    assert!(
        message.contains("not the file that was prepared"),
        "{message}"
    );
    assert!(is_empty(&foreign));
}

#[test]
fn preparing_anew_replaces_a_link_and_leaves_what_it_led_to() {
    let directory = disk_directory();
    let job_of = |size: u64| {
        job(
            directory.path(),
            "prepare",
            json!({"total_size_bytes": size}),
        )
    };
    let (code, events) = Engine::run(&job_of(4 << 20)).wait();
    assert_eq!(code, 0, "{events:#?}");
    let elsewhere = disk_directory();
    let foreign = elsewhere.path().join("mine");
    fs::write(&foreign, [0; 64]).unwrap();
    let file = directory.path().join("paribus.0");
    fs::remove_file(&file).unwrap();
    symlink(&foreign, &file).unwrap();
    let (code, events) = Engine::run(&job_of(4 << 20)).wait();
    assert_eq!(code, 0, "{events:#?}");
    assert_eq!(fs::read(&foreign).unwrap(), [0; 64]);
    assert!(!fs::symlink_metadata(&file).unwrap().is_symlink());
}
