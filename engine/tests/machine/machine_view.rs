//! `sample` and `probe` as processes.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::harness::{Engine, named, only_error};
use serde_json::{Value, json};

fn a_block_device() -> Vec<String> {
    let names = fs::read_dir("/sys/class/block").map(|entries| {
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.take(1).collect()
    });
    names.unwrap_or_default()
}

#[test]
fn samples_come_every_interval_and_a_census_on_command() {
    let devices = a_block_device();
    let mut engine = Engine::start(&["sample"]);
    engine.send(&json!({"protocol": 2, "devices": devices, "interval_s": 0.1}));
    engine.wait_for("hello");
    engine.send(&json!({"census": "before"}));
    assert!(engine.wait_for("census")["duration_s"].is_null());
    for _ in 0..2 {
        let sample = engine.wait_for("sample");
        let duration_s = sample["duration_s"].as_f64().unwrap();
        assert!(duration_s > 0.05, "{duration_s}");
        assert!(sample["memory"]["total_bytes"].as_u64().unwrap() > 0);
        assert!(sample["cores"].as_u64().unwrap() >= 1);
        for device in &devices {
            assert!(sample["devices"][device]["utilisation"].as_f64().is_some());
        }
    }
    engine.send(&json!({"census": "after"}));
    let census = engine.wait_for("census");
    assert_eq!(census["label"], "after");
    assert!(census["duration_s"].as_f64().unwrap() > 0.0);
    let engine_pid = i64::from(engine.pid());
    let listed = census["processes"].as_array().unwrap();
    assert!(listed.iter().all(|process| process["pid"] != engine_pid));
    assert_eq!(engine.finish().0, 0);
}

#[test]
fn a_servers_counters_are_read_at_each_sample_for_as_long_as_is_asked() {
    let place = crate::harness::disk_directory();
    let file = place.path().join("d");
    fs::write(&file, "").unwrap();
    let database = json!({"driver": "sqlite", "path": file});
    let mut engine = Engine::start(&["sample"]);
    engine.send(&json!({"protocol": 2, "interval_s": 0.05}));
    engine.wait_for("hello");
    let opening = "CREATE TABLE t AS SELECT 'reads' AS name, 7 AS value";
    let server =
        json!({"database": database, "opening": opening, "statement": "SELECT name, value FROM t"});
    engine.send(&json!({"server": server}));
    let first = engine.wait_for("counted");
    assert!(first["duration_s"].is_null() && first["failed"].is_null());
    assert_eq!(
        (&first["counters"], &first["grown"]),
        (&json!({"reads": 7.0}), &json!({}))
    );
    let next = engine.wait_for("counted");
    assert!(next["duration_s"].as_f64().unwrap() > 0.02);
    assert!(next["took_s"].as_f64().unwrap() > 0.0);
    assert_eq!(next["grown"], json!({"reads": 0.0}));

    let wrong = json!({"database": database, "opening": "SELECT 1", "statement": "SELECT no_such"});
    engine.send(&json!({"server": wrong}));
    let failed = loop {
        let counted = engine.wait_for("counted");
        if !counted["failed"].is_null() {
            break counted;
        }
    };
    assert!(failed["failed"].as_str().unwrap().contains("no_such"));
    engine.send(&json!({"server": null}));
    for _ in 0..3 {
        engine.wait_for("sample"); // the machine's samples go on
    }
    assert_eq!(engine.finish().0, 0);
}

/// The census entry of one process.
fn census_of(engine: &mut Engine, pid: u32) -> Option<Value> {
    engine.send(&json!({"census": "now"}));
    let census = engine.wait_for("census");
    let listed = census["processes"].as_array().unwrap();
    listed.iter().find(|process| process["pid"] == pid).cloned()
}

#[test]
fn what_a_reaped_child_wrote_in_its_life_is_not_its_parents() {
    let directory = crate::harness::disk_directory();
    // The inner shell has written before the first census and ends on a line from stdin.
    let inner = "dd if=/dev/zero of=file bs=1M count=8 2>/dev/null; echo; read go";
    let script = format!("sh -c '{inner}'; echo; read go");
    let mut shell = Command::new("sh")
        .args(["-c", &script])
        .current_dir(directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = shell.stdin.take().unwrap();
    let mut lines = BufReader::new(shell.stdout.take().unwrap()).lines();
    let mut engine = Engine::start(&["sample"]);
    engine.send(&json!({"protocol": 2, "interval_s": 3600}));
    engine.wait_for("hello");
    lines.next().unwrap().unwrap();
    census_of(&mut engine, shell.id());
    writeln!(stdin, "go").unwrap();
    lines.next().unwrap().unwrap();
    let reaped = census_of(&mut engine, shell.id()).expect("it is listed as unknown");
    assert!(reaped["read_bytes"].is_null() && reaped["written_bytes"].is_null());
    let later = census_of(&mut engine, shell.id());
    let written = later.map_or(json!(0), |process| process["written_bytes"].clone());
    assert_eq!(written, 0, "only that census does not know");
    writeln!(stdin, "go").unwrap();
    assert!(shell.wait().unwrap().success());
    assert_eq!(engine.finish().0, 0);
}

#[test]
fn sampling_refuses_what_it_does_not_know() {
    for (job, code, class) in [
        (
            json!({"protocol": 2, "devices": ["no-such"]}),
            1,
            "no-such-device",
        ),
        (json!({"protocol": 2, "devices": ["../../x"]}), 2, "bad-job"),
        (json!({"protocol": 2, "disks": []}), 2, "bad-job"),
        (json!({"protocol": 9}), 2, "protocol-mismatch"),
        (json!({"protocol": 2, "interval_s": 0}), 2, "bad-job"),
    ] {
        let mut engine = Engine::start(&["sample"]);
        engine.send(&job);
        assert_eq!(only_error(engine.wait(), code)["class"], class, "{job}");
    }
}

#[test]
fn a_probe_tells_of_the_directory_and_leaves_nothing_there() {
    let directory = crate::harness::disk_directory();
    let path = directory.path().join("not/yet");
    let (code, events) = Engine::start(&["probe", path.to_str().unwrap()]).finish();
    assert_eq!(code, 0);
    let probe = named(&events, "probe")[0];
    assert_eq!(probe["directory"]["path"], path.to_str().unwrap());
    assert!(probe["directory"]["free_bytes"].as_u64().unwrap() > 0);
    assert!(probe["directory"]["writable"].is_null());
    assert!(
        !probe["directory"]["filesystem"]
            .as_str()
            .unwrap()
            .is_empty()
    );
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}
