//! The real binary under valgrind: checks the promises of the executed unsafe blocks.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::process::Command;

use crate::harness::{Engine, binary, disk_directory, job, named, prepare};
use serde_json::{Value, json};

/// Exits with 99 after a use of invalid or uninitialised memory, and after a leak.
fn checked(arguments: &[&str]) -> Engine {
    let mut command = Command::new("valgrind");
    command.args([
        "--quiet",
        // Otherwise threads that never wait starve the conductor.
        "--fair-sched=yes",
        "--error-exitcode=99",
        "--leak-check=full",
        "--errors-for-leak-kinds=definite",
        binary(),
    ]);
    command.args(arguments);
    let mut engine = Engine::spawn(command);
    engine.patience *= 10;
    engine
}

fn told_by(phase: &str, directory: &Path, changes: Value) -> Vec<Value> {
    let mut engine = checked(&["run"]);
    engine.send(&job(directory, phase, changes));
    let (code, events) = engine.wait();
    assert_eq!(code, 0, "see what valgrind says of it: {events:#?}");
    events
}

#[test]
fn loads_use_memory_as_they_should() {
    let directory = disk_directory();
    told_by("prepare", directory.path(), json!({}));
    for (engine, direct) in [("sync", false), ("io_uring", false), ("io_uring", true)] {
        // On a busy machine little work happens under valgrind in a short time.
        let is_seen = [0.2, 1.0, 5.0, 25.0].into_iter().any(|measure_s| {
            let changes = json!({"engine": engine, "direct": direct, "fsync_every": 10,
                                 "measure_s": measure_s, "load": {"outstanding": 8}});
            let events = told_by("run", directory.path(), changes);
            let result = named(&events, "result")[0];
            result["reads"].as_u64() > Some(0) && result["fsyncs"].as_u64() > Some(0)
        });
        assert!(is_seen, "{engine} {direct}");
    }
}

#[test]
fn a_load_that_ends_with_operations_outstanding_leaves_their_memory_alone() {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    for engine in ["sync", "io_uring"] {
        let mut run = checked(&["run"]);
        let changes = json!({"engine": engine, "direct": true, "measure_s": 600.0,
                             "load": {"outstanding": 32}});
        run.send(&job(directory.path(), "run", changes));
        run.wait_for_phase("measuring");
        let (code, events) = run.finish();
        assert_eq!(code, 1, "see what valgrind says of it: {events:#?}");
    }
}

#[test]
fn asking_the_kernel_fills_only_what_is_ours() {
    let directory = disk_directory();
    let (code, events) = checked(&["probe", directory.path().to_str().unwrap()]).finish();
    assert_eq!(code, 0, "{events:#?}");

    let mut sampler = checked(&["sample"]);
    sampler.send(&json!({"protocol": 2, "devices": [], "interval_s": 60.0}));
    sampler.send(&json!({"census": "first"}));
    sampler.wait_for("census");
    let (code, events) = sampler.finish();
    assert_eq!(code, 0, "{events:#?}");
}
