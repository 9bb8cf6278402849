//! Every kind of event, field by field, compared with `golden/`. Consumers rely on the form of the
//! events, so a change has to appear in a diff.
//!
//! Numbers, paths and other values that vary from run to run are represented by their type. After
//! an intended change, `UPDATE_GOLDEN=1 cargo test --test files golden` writes the files again.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use crate::harness::{Engine, disk_directory, job};
use serde_json::{Value, json};

/// Fields whose text differs from machine to machine.
const VARIES: [&str; 8] = [
    "directory",
    "path",
    "histogram",
    "version",
    "message",
    "window",
    "capabilities",
    "registered_buffers",
];

fn masked(key: &str, value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| (key.clone(), masked(key, value)));
            Value::Object(fields.collect())
        }
        Value::Array(items) => items.iter().map(|item| masked(key, item)).collect(),
        // Null where no operation had to wait for its start.
        _ if key.starts_with("late_") => "<number or null>".into(),
        Value::Null => Value::Null,
        Value::Number(_) => "<number>".into(),
        Value::Bool(_) if VARIES.contains(&key) => "<bool>".into(),
        Value::String(_) if VARIES.contains(&key) => "<text>".into(),
        other => other.clone(),
    }
}

/// A line for each event; repetitions, such as intervals, appear once.
fn story_of(job: &Value) -> String {
    let (_, mut events) = Engine::run(job).wait();
    // A slow disk may leave an interval empty, and the events before the window depend on timing.
    events.retain(|event| {
        event["event"] != "interval" || (!event["window"].is_null() && event["operations"] != 0)
    });
    let mut lines: Vec<String> = events
        .iter()
        .map(|event| masked("", event).to_string())
        .collect();
    lines.dedup();
    lines.join("\n") + "\n"
}

fn hold_against(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(format!("{name}.jsonl"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, expected, "UPDATE_GOLDEN=1 writes {}", path.display());
}

#[test]
fn the_events_of_each_phase_keep_their_form() {
    let directory = disk_directory();
    let short = json!({"settle_s": 0.0, "measure_s": 0.3, "interval_s": 0.1});
    for (name, phase, changes) in [
        ("prepare", "prepare", json!({})),
        ("run-closed-loop", "run", short.clone()),
        ("cleanup", "cleanup", json!({})),
    ] {
        hold_against(name, &story_of(&job(directory.path(), phase, changes)));
    }
}

#[test]
fn the_events_of_an_open_loop_keep_their_form() {
    let directory = disk_directory();
    crate::harness::prepare(directory.path(), json!({}));
    let mut open_loop = job(directory.path(), "run", json!({"measure_s": 0.3}));
    open_loop["load"] = json!({"outstanding": 4, "rate_per_s": 200.0, "arrivals": "constant"});
    hold_against("run-open-loop", &story_of(&open_loop));
}

#[test]
fn the_events_of_a_matrix_keep_their_form() {
    let directory = disk_directory();
    let data = json!({"directory": directory.path(), "files": 1, "total_size_bytes": 8 << 20});
    let mut matrix = json!({
        "protocol": 2, "phase": "prepare",
        "workload": {"kind": "iomatrix", "data": data, "large_outstanding": 1},
        "load": {"outstanding": 2}, "measure_s": 0.3, "interval_s": 0.1,
    });
    assert_eq!(Engine::run(&matrix).wait().0, 0);
    matrix["phase"] = "run".into();
    hold_against("run-matrix", &story_of(&matrix));
}

#[test]
fn an_error_keeps_its_form() {
    let directory = disk_directory();
    let story = story_of(&job(directory.path(), "run", json!({})));
    hold_against("no-data", &story);
    hold_against(
        "bad-job",
        &story_of(&job(
            directory.path(),
            "run",
            json!({"block_size_bytes": 0}),
        )),
    );
}
