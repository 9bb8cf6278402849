//! Open loops with the real binary: offered, achieved and waiting operations.

#![allow(clippy::unwrap_used)]

mod harness;

use harness::{Engine, disk_directory, job, named, prepare};
use serde_json::{Value, json};

fn run(directory: &std::path::Path, changes: Value) -> Vec<Value> {
    let (code, events) = Engine::run(&job(directory, "run", changes)).wait();
    assert_eq!(code, 0, "{events:#?}");
    events
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn what_is_offered_is_done_when_there_is_room() {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    for (engine, arrivals) in [
        ("sync", "constant"),
        ("io_uring", "poisson"),
        ("null", "constant"),
    ] {
        let events = run(
            directory.path(),
            json!({"engine": engine, "mode": "rndrd", "measure_s": 1.0,
                   "load": {"outstanding": 8, "rate_per_s": 2000, "arrivals": arrivals}}),
        );
        let result = named(&events, "result")[0];
        let pacing = &result["pacing"];
        let offered = number(&pacing["offered"]) / number(&result["duration_s"]);
        // Independent arrivals vary by the root of their number, 2 %.
        assert!((1800.0..2200.0).contains(&offered), "{engine}: {pacing}");
        assert!(number(&pacing["backlog_at_end"]) < 500.0, "{pacing}");
        assert!(number(&pacing["late_mean_s"]) >= 0.0);
        let (response, service) = (&result["response"], &result["service"]);
        assert_eq!(response["count"], service["count"]);
        assert!(number(&response["sum_s"]) >= number(&service["sum_s"]));
    }
}

#[test]
fn an_overload_is_a_result_and_nothing_is_skipped() {
    let directory = disk_directory();
    let events = run(
        directory.path(),
        json!({"engine": "null", "measure_s": 0.5, "settle_s": 0.1,
               "load": {"outstanding": 1, "rate_per_s": 1e8}}),
    );
    let result = named(&events, "result")[0];
    let pacing = &result["pacing"];
    let whole = |name: &str| pacing[name].as_u64().unwrap();
    assert!(whole("backlog_at_start") > 0);
    assert!(whole("backlog_at_end") > whole("backlog_at_start"));
    assert_eq!(
        whole("offered") + whole("backlog_at_start"),
        whole("started") + whole("backlog_at_end")
    );
    assert!(number(&pacing["lag_s"]) > 0.1, "{pacing}");
    // The oldest operations go first, so each completed one has waited nearly as long as the lag.
    assert!(number(&result["response"]["max_s"]) > 0.1);
    assert!(number(&result["service"]["p50_s"]) < 0.01);
    let intervals = named(&events, "interval");
    let offered: u64 = intervals
        .iter()
        .filter(|interval| interval["window"] == "timed")
        .map(|interval| interval["offered"].as_u64().unwrap())
        .sum();
    assert_eq!(offered, whole("offered"));
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
    let started = std::time::Instant::now();
    run(
        directory.path(),
        json!({"engine": "null", "measure_s": 0.2, "load": {"outstanding": 2, "rate_per_s": 0.01}}),
    );
    assert!(started.elapsed().as_secs() < 20);
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
