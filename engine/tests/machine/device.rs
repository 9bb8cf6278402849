//! A block device in place of the files: real loop devices, and the refusals that protect data.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use crate::harness::device::{Loop, SIZE, command, may_make_devices};
use crate::harness::{Engine, job, named, only_error};
use serde_json::{Value, json};

fn succeed(job: &Value) -> Vec<Value> {
    let (code, events) = Engine::run(job).wait();
    assert_eq!(code, 0, "{events:#?}");
    events
}

fn refused(job: &Value, code: i32, class: &str) -> String {
    let error = only_error(Engine::run(job).wait(), code);
    assert_eq!(error["class"], class, "{error}");
    error["message"].as_str().unwrap().to_string()
}

#[test]
fn every_mode_runs_on_a_device_and_prepare_fills_it() {
    if !may_make_devices() {
        return;
    }
    let device = Loop::new(&[]);
    succeed(&device.job("run", json!({"mode": "rndrd"})));
    let zeroes = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == 0).count();
    assert_eq!(
        zeroes(&fs::read(&device.backing).unwrap()) as u64,
        SIZE,
        "reading needs no prepare"
    );

    let half = json!({"total_size_bytes": SIZE / 2});
    let events = succeed(&device.job("prepare", half));
    assert_eq!(
        named(&events, "progress").last().unwrap()["done_bytes"],
        SIZE / 2
    );
    let content = fs::read(&device.backing).unwrap();
    assert!(zeroes(&content[..SIZE as usize / 2]) < SIZE as usize / 200);
    assert_eq!(
        zeroes(&content[SIZE as usize / 2..]),
        SIZE as usize / 2,
        "no more than asked for"
    );
    for engine in ["sync", "io_uring"] {
        for mode in ["seqrd", "rndrd", "rndwr", "rndrw", "seqrewr"] {
            for direct in [false, true] {
                let changes = json!({"engine": engine, "mode": mode, "direct": direct,
                                     "cache": "cold", "measure_s": 0.05});
                // A busy machine may let the load do nothing in so short a time.
                let works = (0..50).any(|_| {
                    let events = succeed(&device.job("run", changes.clone()));
                    let result = named(&events, "result")[0];
                    assert_eq!(result["errors"], json!({}), "{mode} on {engine}");
                    result["operations"].as_u64().unwrap() > 0
                });
                assert!(works, "{mode} on {engine}");
            }
        }
    }
    let before = fs::read(&device.backing).unwrap();
    succeed(&device.job("cleanup", json!({})));
    assert_eq!(
        fs::read(&device.backing).unwrap(),
        before,
        "nothing is removed"
    );
    let message = refused(&device.job("run", json!({"mode": "seqwr"})), 2, "bad-job");
    assert!(message.contains("seqrewr"), "{message}");
}

#[test]
fn a_device_in_use_is_not_written_to() {
    if !may_make_devices() {
        return;
    }
    let device = Loop::new(&[]);
    command("mkfs.ext4", &["-q", device.name()]);
    let place = tempfile::tempdir().unwrap();
    command("mount", &[device.name(), place.path().to_str().unwrap()]);
    let write = refused(
        &device.job("run", json!({"mode": "rndrw"})),
        1,
        "device-in-use",
    );
    let prepare = refused(&device.job("prepare", json!({})), 1, "device-in-use");
    let read = Engine::run(&device.job("run", json!({"mode": "rndrd"})))
        .wait()
        .0;
    command("umount", &[place.path().to_str().unwrap()]);
    assert!(write.contains("mounted") && prepare.contains(device.name()));
    assert_eq!(read, 0, "reading harms nobody");
}

#[test]
fn a_disk_with_partitions_is_not_written_to_but_one_of_them_is() {
    if !may_make_devices() {
        return;
    }
    let device = Loop::new(&[]);
    // Passed to the kernel, since not every kernel reads partition tables.
    command("addpart", &[device.name(), "1", "2048", "4096"]);
    let message = refused(
        &device.job("run", json!({"mode": "rndwr"})),
        1,
        "device-in-use",
    );
    let partition = format!("{}p1", device.name());
    let on_partition = json!({"mode": "rndwr", "device": partition, "total_size_bytes": 2 << 20});
    let (code, events) = Engine::run(&device.job("run", on_partition)).wait();
    command("delpart", &[device.name(), "1"]);
    assert!(message.contains(&partition["/dev/".len()..]), "{message}");
    assert_eq!(code, 0, "{events:#?}");
}

#[test]
fn what_is_no_fit_device_is_refused_with_the_reason() {
    if !may_make_devices() {
        return;
    }
    let device = Loop::new(&["--read-only"]);
    let message = refused(
        &device.job("run", json!({"mode": "rndwr"})),
        1,
        "permission",
    );
    assert!(message.contains("read-only"), "{message}");
    let too_large = json!({"mode": "rndrd", "total_size_bytes": SIZE + 4096});
    let message = refused(&device.job("run", too_large), 2, "bad-job");
    assert!(message.contains(&SIZE.to_string()), "{message}");
    let uneven = json!({"mode": "rndrd", "total_size_bytes": SIZE - 100});
    let message = refused(&device.job("run", uneven), 2, "bad-job");
    assert!(message.contains("512"), "{message}");
    let no_device = json!({"device": device.backing, "mode": "rndrd"});
    let message = refused(&device.job("run", no_device), 2, "bad-job");
    assert!(message.contains("not a block device"), "{message}");
    let missing = json!({"device": "/dev/no-such-device", "mode": "rndrd"});
    refused(&device.job("run", missing), 1, "no-such-device");
}

#[test]
fn a_device_with_large_sectors_refuses_small_direct_blocks_with_the_number() {
    if !may_make_devices() {
        return;
    }
    let device = Loop::new(&["-b", "4096"]);
    let small = json!({"mode": "rndrw", "direct": true, "block_size_bytes": 2048});
    let message = refused(&device.job("run", small), 1, "direct-unsupported");
    assert!(
        message.contains("4096") && message.contains("2048"),
        "{message}"
    );
    succeed(&device.job(
        "run",
        json!({"mode": "rndrw", "direct": true, "block_size_bytes": 8192}),
    ));
    succeed(&device.job("run", json!({"mode": "rndrw", "block_size_bytes": 2048})));
}

#[test]
fn a_device_and_a_directory_exclude_each_other() {
    let both = job(
        Path::new("/tmp"),
        "run",
        json!({"device": "/dev/null", "files": 1}),
    );
    let message = refused(&both, 2, "bad-job");
    assert!(message.contains("either"), "{message}");
}
