//! Open loops with the real binary: offered, achieved and waiting operations.

#![allow(clippy::unwrap_used)]

use crate::harness::{Engine, disk_directory, job, named, prepare};
use serde_json::{Value, json};

fn run(directory: &std::path::Path, changes: Value) -> Vec<Value> {
    let (code, events) = Engine::run(&job(directory, "run", changes)).wait();
    assert_eq!(code, 0, "{events:#?}");
    events
}

#[test]
fn a_closed_loop_has_no_pacing() {
    let directory = disk_directory();
    let events = run(directory.path(), json!({"engine": "null"}));
    assert!(named(&events, "result")[0]["pacing"].is_null());
    assert!(named(&events, "interval")[0]["offered"].is_null());
}

#[test]
fn a_slow_rate_is_stopped_without_waiting_for_its_next_turn() {
    let directory = disk_directory();
    run(
        directory.path(),
        json!({"engine": "null", "measure_s": 0.2, "load": {"outstanding": 2, "rate_per_s": 0.01}}),
    );
}

#[test]
fn a_matrix_counts_its_small_and_large_operations_apart() {
    let directory = disk_directory();
    prepare(directory.path(), json!({"total_size_bytes": 64 << 20}));
    let mut job = job(
        directory.path(),
        "run",
        json!({"engine": "io_uring", "total_size_bytes": 64 << 20}),
    );
    let parts = job["workload"].clone();
    job["workload"] = json!({"kind": "iomatrix", "data": parts["data"], "io": parts["io"],
        "small_block_size_bytes": 8192, "large_block_size_bytes": 1 << 20,
        "write_share": 0.2, "large_outstanding": 2});
    let (code, events) = Engine::run(&job).wait();
    assert_eq!(code, 0, "{events:#?}");
    let result = named(&events, "result")[0];
    let count = |part: &Value, name: &str| part[name].as_u64().unwrap();
    let (small, large) = (&result["parts"]["small"], &result["parts"]["large"]);
    for (part, block) in [(small, 8192), (large, 1 << 20)] {
        assert!(
            count(part, "reads") > 0 && count(part, "writes") > 0,
            "{result}"
        );
        let moved = count(part, "read_bytes") + count(part, "written_bytes");
        assert_eq!(moved, block * count(part, "operations"));
    }
    assert_eq!(
        count(result, "operations"),
        count(small, "operations") + count(large, "operations")
    );

    job["load"]["outstanding"] = json!(0);
    let (code, events) = Engine::run(&job).wait();
    assert_eq!(code, 0, "{events:#?}");
    let parts = &named(&events, "result")[0]["parts"];
    assert!(parts["small"].is_null() && count(&parts["large"], "reads") > 0);
}
