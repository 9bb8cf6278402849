//! Loads whose times and rates follow from the job.

#![allow(clippy::unwrap_used, clippy::panic)]

use serde_json::{Value, json};

use crate::harness::{Engine, disk_directory, job, named, prepare};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn run(directory: &std::path::Path, changes: Value) -> Vec<Value> {
    let (code, events) = Engine::run(&job(directory, "run", changes)).wait();
    assert_eq!(code, 0, "{events:#?}");
    events
}

/// On a busy machine a worker waits for a processor between two operations.
const ATTEMPTS: usize = 40;

#[test]
fn outstanding_operations_obey_littles_law() {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    for (engine, outstanding) in [("sync", 3), ("io_uring", 24)] {
        let changes = json!({"engine": engine, "load": {"outstanding": outstanding}, "mode": "rndrd",
                             "measure_s": 0.5});
        let expected = f64::from(outstanding);
        let is_seen = (0..ATTEMPTS).any(|_| {
            let (_, events) = Engine::run(&job(directory.path(), "run", changes.clone())).wait();
            let result = named(&events, "result")[0].clone();
            let mean = number(&result["response"]["sum_s"]) / number(&result["duration_s"]);
            assert!(
                mean < expected * 1.1,
                "{mean} outstanding, wanted {expected}"
            );
            mean > expected * 0.9
        });
        assert!(is_seen, "never nearly {expected} outstanding");
    }
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
