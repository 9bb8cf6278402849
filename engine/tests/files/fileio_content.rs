//! The writes on real files: their blocks, their content, their system calls.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use crate::harness::{Engine, disk_directory, job, named, only_error, prepare};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::{Value, json};

fn run(directory: &Path, changes: Value) -> Value {
    let (code, events) = Engine::run(&job(directory, "run", changes)).wait();
    assert_eq!(code, 0, "{events:#?}");
    named(&events, "result")[0].clone()
}

/// The share of a file that a compressor removes, in units of 16 KiB.
fn removed(path: &Path) -> f64 {
    let bytes = fs::read(path).unwrap();
    let left: usize = bytes
        .chunks(16_384)
        .map(|chunk| {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(chunk).unwrap();
            encoder.finish().unwrap().len()
        })
        .sum();
    1.0 - left as f64 / bytes.len() as f64
}

#[test]
fn data_compresses_as_wished_when_prepared_and_when_rewritten() {
    let directory = disk_directory();
    let file = directory.path().join("paribus.0");
    for verified in [Value::Null, json!(16384)] {
        let changes = json!({"compressible": 0.6, "verified_block_bytes": verified,
                             "mode": "seqrewr", "engine": "io_uring", "fsync_every": 0});
        prepare(directory.path(), changes.clone());
        let prepared = removed(&file);
        assert!((prepared - 0.6).abs() < 0.03, "{prepared} when prepared");
        let before = fs::read(&file).unwrap();
        let result = run(directory.path(), changes);
        assert!(result["writes"].as_u64().unwrap() > 256, "each block once");
        let rewritten = removed(&file);
        assert!((rewritten - 0.6).abs() < 0.03, "{rewritten} when rewritten");
        let after = fs::read(&file).unwrap();
        let blocks = after.chunks(4096).zip(before.chunks(4096));
        assert!(blocks.clone().all(|(after, before)| after != before));
        let mut seen = HashMap::new();
        for (number, (block, _)) in blocks.enumerate() {
            let twin = seen.insert(block.to_vec(), number);
            assert_eq!(twin, None, "block {number} is like another");
        }
    }
}

#[test]
fn files_of_other_content_are_made_again() {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    for changes in [
        json!({"compressible": 0.5}),
        json!({"verified_block_bytes": 16384}),
    ] {
        let refused = Engine::run(&job(directory.path(), "run", changes.clone())).wait();
        let error = only_error(refused, 1);
        assert_eq!(error["class"], "not-prepared");
        assert!(error["message"].as_str().unwrap().contains("the job needs"));
        prepare(directory.path(), changes.clone());
        run(directory.path(), changes);
    }
}

#[test]
fn every_distribution_runs_on_every_engine() {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    for engine in ["sync", "io_uring", "null"] {
        for distribution in ["uniform", "zipf", "pareto", "hotspot"] {
            let changes = json!({"engine": engine, "distribution": distribution});
            let result = run(directory.path(), changes);
            assert!(result["operations"].as_u64().unwrap() > 0);
        }
    }
}

/// The flags of an open file of the engine, from the kernel.
fn flags_of(engine: &Engine, path: &Path) -> u32 {
    let process = format!("/proc/{}", engine.pid());
    for entry in fs::read_dir(format!("{process}/fd")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if fs::read_link(format!("{process}/fd/{name}")).is_ok_and(|target| target == path) {
            let text = fs::read_to_string(format!("{process}/fdinfo/{name}")).unwrap();
            let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
            return u32::from_str_radix(flags.unwrap().trim(), 8).unwrap();
        }
    }
    panic!("{} is not open", path.display());
}

#[test]
fn writes_are_as_synchronous_as_asked() {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    let file = fs::canonicalize(directory.path().join("paribus.0")).unwrap();
    for (sync_writes, expected) in [
        ("none", 0),
        ("dsync", libc::O_DSYNC),
        ("sync", libc::O_SYNC),
    ] {
        for engine in ["sync", "io_uring"] {
            let changes = json!({"sync_writes": sync_writes, "engine": engine, "measure_s": null,
                                 "mode": "rndwr", "fsync_call": "fdatasync", "fsync_every": 3});
            let mut engine = Engine::run(&job(directory.path(), "run", changes));
            engine.send(&json!({"open": "w"}));
            engine.wait_for_phase("measuring");
            assert_eq!(flags_of(&engine, &file) as i32 & libc::O_SYNC, expected);
            engine.send(&json!({"close": "w"}));
            let result = engine.wait_for("result");
            assert_eq!(result["errors"], json!({}));
            assert_eq!(engine.finish().0, 0);
        }
    }
}

#[test]
fn a_block_size_that_o_direct_cannot_do_is_refused_before_the_first_operation() {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    let changes = json!({"direct": true, "block_size_bytes": 512});
    let (code, events) = Engine::run(&job(directory.path(), "run", changes)).wait();
    // The disk under this directory decides whether 512 bytes are enough.
    if code != 0 {
        let error = only_error((code, events), 1);
        assert_eq!(error["class"], "direct-unsupported");
    }
}
