//! Verified data on real files and devices: right data passes, every kind of damage is found and
//! named, under load and after a crash.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use crate::harness::device::{Loop, may_make_devices};
use crate::harness::{Engine, change, disk_directory, job, named, only_error};
use serde_json::{Value, json};

const BLOCK: usize = 16_384;

fn verified(directory: &Path, phase: &str, changes: &Value) -> Value {
    let mut job = job(directory, phase, json!({"verified_block_bytes": BLOCK}));
    change(&mut job, changes);
    job
}

fn succeed(job: &Value) -> Vec<Value> {
    let (code, events) = Engine::run(job).wait();
    assert_eq!(code, 0, "{events:#?}");
    events
}

/// The last durable report of a run.
fn durable(events: &[Value]) -> Value {
    let reports = named(events, "durable");
    let sequences: Vec<Vec<u64>> = reports
        .iter()
        .map(|event| serde_json::from_value(event["sequences"].clone()).unwrap())
        .collect();
    for pair in sequences.windows(2) {
        let grows = pair[0]
            .iter()
            .zip(&pair[1])
            .all(|(before, after)| before <= after);
        assert!(grows, "nothing is taken back: {pair:?}");
    }
    reports.last().unwrap()["sequences"].clone()
}

fn corrupt(job: &Value) -> String {
    let error = only_error(Engine::run(job).wait(), 1);
    assert_eq!(error["class"], "data-corrupt", "{error}");
    error["message"].as_str().unwrap().to_string()
}

#[test]
fn every_mode_reads_what_was_written_and_the_phase_verify_proves_it() {
    let directory = disk_directory();
    let first = json!({});
    succeed(&verified(directory.path(), "prepare", &first));
    let events = succeed(&verified(directory.path(), "verify", &first));
    let report = named(&events, "verified")[0];
    assert_eq!(
        (&report["blocks"], &report["written"]),
        (&json!(256), &json!(0))
    );
    for engine in ["sync", "io_uring"] {
        for mode in ["seqrd", "rndrd", "rndwr", "rndrw", "seqrewr"] {
            for outstanding in [1, 13] {
                let mut changes = json!({"engine": engine, "mode": mode, "distribution": "zipf",
                    "load": {"outstanding": outstanding}, "direct": outstanding == 13});
                let events = succeed(&verified(directory.path(), "run", &changes));
                let result = named(&events, "result")[0];
                assert_eq!(result["errors"], json!({}));
                assert!(result["operations"].as_u64().unwrap() > 0);
                if mode.ends_with("rd") {
                    assert!(named(&events, "durable").is_empty());
                    continue;
                }
                changes["durable"] = durable(&events);
                assert_eq!(changes["durable"].as_array().unwrap().len(), outstanding);
                let events = succeed(&verified(directory.path(), "verify", &changes));
                let report = named(&events, "verified")[0];
                assert!(report["acknowledged"].as_u64().unwrap() > 10, "{report}");
                assert!(report["acknowledged"].as_u64() <= report["written"].as_u64());
            }
        }
    }
}

#[test]
fn an_open_loop_reaches_all_blocks_though_it_is_seldom_busy() {
    let directory = disk_directory();
    let mut changes = json!({"engine": "io_uring", "mode": "seqrewr", "measure_s": 0.5,
        "load": {"outstanding": 16, "rate_per_s": 4000.0}});
    succeed(&verified(directory.path(), "prepare", &changes));
    let events = succeed(&verified(directory.path(), "run", &changes));
    changes["durable"] = durable(&events);
    let events = succeed(&verified(directory.path(), "verify", &changes));
    assert_eq!(named(&events, "verified")[0]["acknowledged"], 256);
}

#[test]
fn what_is_durable_is_told_while_the_load_runs() {
    let directory = disk_directory();
    succeed(&verified(directory.path(), "prepare", &json!({})));
    for changes in [
        json!({"fsync_every": 20}),
        json!({"fsync_every": 20, "engine": "io_uring", "fsync_call": "fdatasync"}),
        json!({"fsync_every": 0, "sync_writes": "dsync"}),
        json!({"fsync_every": 0, "sync_writes": "sync", "direct": true}),
    ] {
        let mut changes = changes;
        changes["mode"] = json!("rndwr");
        changes["measure_s"] = json!(600.0);
        let mut engine = Engine::run(&verified(directory.path(), "run", &changes));
        for _ in 0..3 {
            engine.wait_for("durable");
        }
        // The writes of a killed process stay in the kernel.
        engine.signal(libc::SIGKILL);
        let (_, events) = engine.wait();
        let mut changes = changes.clone();
        changes["durable"] = durable(&events);
        succeed(&verified(directory.path(), "verify", &changes));
    }
}

#[test]
fn without_fsyncs_nothing_is_durable_before_the_end() {
    let directory = disk_directory();
    let changes = json!({"fsync_every": 0, "mode": "rndwr"});
    succeed(&verified(directory.path(), "prepare", &changes));
    let events = succeed(&verified(directory.path(), "run", &changes));
    assert_eq!(named(&events, "durable").len(), 1);
    let position = |name: &str| events.iter().position(|event| event["event"] == name);
    assert!(position("durable") > position("result"));
}

#[test]
fn damage_is_found_and_named() {
    let directory = disk_directory();
    let file = directory.path().join("paribus.1");
    let mut changes = json!({"mode": "seqrewr", "measure_s": 0.3});
    succeed(&verified(directory.path(), "prepare", &changes));
    let prepared = fs::read(&file).unwrap();
    let events = succeed(&verified(directory.path(), "run", &changes));
    changes["durable"] = durable(&events);
    let verify = verified(directory.path(), "verify", &changes);
    succeed(&verify);
    let written = fs::read(&file).unwrap();
    let block = |bytes: &[u8], number: usize| bytes[number * BLOCK..][..BLOCK].to_vec();
    let disk = OpenOptions::new().write(true).open(&file).unwrap();
    let at = 5 * BLOCK as u64;

    let mut torn = block(&written, 5);
    torn[..4096].copy_from_slice(&block(&prepared, 5)[..4096]);
    for (damage, word) in [
        (torn, "torn"),
        (block(&written, 6), "misplaced"),
        (block(&prepared, 5), "stale"),
        (vec![0; BLOCK], "not a verified block"),
    ] {
        disk.write_all_at(&damage, at).unwrap();
        let message = corrupt(&verify);
        assert!(message.contains(word), "{message}");
        assert!(message.contains("paribus.1 at offset 81920"), "{message}");
        assert!(message.contains("expected write "), "{message}");
    }
    disk.write_all_at(&block(&prepared, 5), at).unwrap();
    changes.as_object_mut().unwrap().remove("durable");
    succeed(&verified(directory.path(), "verify", &changes));
}

#[test]
fn a_write_that_is_lost_under_load_ends_it() {
    let directory = disk_directory();
    let changes = json!({"files": 1, "measure_s": 600.0, "fsync_every": 0});
    succeed(&verified(directory.path(), "prepare", &changes));
    let path = directory.path().join("paribus.0");
    let prepared = fs::read(&path).unwrap();
    for engine in ["sync", "io_uring"] {
        let mut changes = changes.clone();
        changes["engine"] = json!(engine);
        let mut engine = Engine::run(&verified(directory.path(), "run", &changes));
        engine.wait_for_phase("measuring");
        std::thread::sleep(Duration::from_millis(300));
        let disk = OpenOptions::new().write(true).open(&path).unwrap();
        disk.write_all_at(&prepared, 0).unwrap();
        let error = only_error(engine.wait(), 1);
        assert_eq!(error["class"], "data-corrupt");
        let message = error["message"].as_str().unwrap();
        // A block may also be half overwritten at that moment.
        assert!(
            message.contains("stale") || message.contains("torn"),
            "{message}"
        );
        assert!(message.contains("paribus.0 at offset "), "{message}");
    }
}

#[test]
fn jobs_that_cannot_be_verified_are_refused() {
    let directory = Path::new("/tmp");
    for (phase, changes, word) in [
        ("run", json!({"mode": "seqwr"}), "seqwr"),
        ("run", json!({"engine": "null"}), "engine"),
        (
            "run",
            json!({"block_size_bytes": 4096}),
            "verified_block_bytes",
        ),
        ("run", json!({"load": {"outstanding": 300}}), "at most 256"),
        ("run", json!({"durable": [0]}), "durable"),
        ("verify", json!({"durable": [0]}), "durable"),
        (
            "verify",
            json!({"verified_block_bytes": null}),
            "verified_block_bytes",
        ),
    ] {
        let job = verified(directory, phase, &changes);
        let error = only_error(Engine::run(&job).wait(), 2);
        assert_eq!(error["class"], "bad-job", "{changes}");
        assert!(error["message"].as_str().unwrap().contains(word), "{error}");
    }
}

#[test]
fn a_device_is_verified_like_files() {
    if !may_make_devices() {
        return;
    }
    let device = Loop::new(&[]);
    let mut changes = json!({"verified_block_bytes": BLOCK, "direct": true, "engine": "io_uring"});
    let message = corrupt(&device.job("verify", changes.clone()));
    assert!(message.contains("not a verified block"), "{message}");
    succeed(&device.job("prepare", changes.clone()));
    let events = succeed(&device.job("run", changes.clone()));
    changes["durable"] = durable(&events);
    succeed(&device.job("verify", changes));
}
