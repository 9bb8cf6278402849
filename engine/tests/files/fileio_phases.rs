//! The order of the real binary's events, and `finishing` before its wait for the disk.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::harness::{Engine, disk_directory, job, named};
use serde_json::{Value, json};

/// The names of all events but intervals; phases by their own names, repetitions once.
fn story(events: &[Value]) -> Vec<&str> {
    let mut names: Vec<&str> = events
        .iter()
        .map(|event| match event["event"].as_str().unwrap() {
            "phase" => event["name"].as_str().unwrap(),
            other => other,
        })
        .filter(|&name| name != "interval")
        .collect();
    names.dedup();
    names
}

#[test]
fn prepare_and_run_say_finishing_before_they_wait_for_the_disk() {
    let directory = disk_directory();
    let tell = |phase, changes| {
        let (code, events) = Engine::run(&job(directory.path(), phase, changes)).wait();
        assert_eq!(code, 0, "{events:#?}");
        events
    };
    let prepared = tell("prepare", json!({}));
    let expected = [
        "hello",
        "preparing",
        "progress",
        "finishing",
        "progress",
        "finished",
    ];
    assert_eq!(story(&prepared), expected);
    // Existing data is not synced again.
    let again = tell("prepare", json!({}));
    assert_eq!(
        story(&again),
        ["hello", "preparing", "progress", "finished"]
    );
    for mode in ["rndwr", "rndrd"] {
        let events = tell("run", json!({"mode": mode}));
        let expected = [
            "hello",
            "preparing",
            "ready",
            "settling",
            "measuring",
            "closed",
            "result",
            "finishing",
            "finished",
        ];
        assert_eq!(story(&events), expected);
    }
}

#[test]
fn a_load_that_is_cut_off_does_not_say_finishing() {
    let directory = disk_directory();
    crate::harness::prepare(directory.path(), json!({}));
    let changes = json!({"measure_s": 600.0});
    let mut engine = Engine::run(&job(directory.path(), "run", changes));
    engine.wait_for_phase("measuring");
    let (code, events) = engine.finish();
    assert_eq!(code, 1);
    let phases = named(&events, "phase");
    assert!(phases.iter().all(|phase| phase["name"] != "finishing"));
}
