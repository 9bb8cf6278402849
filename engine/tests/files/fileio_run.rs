//! Runs of the real binary on real files: every mode, every engine, windows, and the end.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::os::fd::AsRawFd;
use std::path::Path;

use crate::harness::{Engine, disk_directory, job, named, only_error, prepare};
use paribus_engine::io::fileset::{FileAccess, FileSet};
use serde_json::{Value, json};

const MODES: [&str; 6] = ["seqrd", "rndrd", "rndwr", "rndrw", "seqrewr", "seqwr"];

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn every_mode_runs_on_every_engine_and_its_numbers_agree() {
    let directory = disk_directory();
    for engine in ["sync", "io_uring", "null"] {
        for mode in MODES {
            prepare(directory.path(), json!({}));
            let changes = json!({"mode": mode, "engine": engine, "measure_s": null});
            let mut run = Engine::run(&job(directory.path(), "run", changes));
            run.wait_for_phase("settling");
            let result = run.window("w");
            let (code, events) = run.finish();
            assert_eq!(code, 0, "{mode} on {engine}: {events:#?}");
            check_result(&result, &events, mode);
        }
    }
}

fn check_result(result: &Value, events: &[Value], mode: &str) {
    let count = |name: &str| result[name].as_u64().unwrap();
    let (reads, writes, fsyncs) = (count("reads"), count("writes"), count("fsyncs"));
    let duration_s = number(&result["duration_s"]);
    assert_eq!(count("operations"), reads + writes + fsyncs);
    assert_eq!(result["response"]["count"], result["operations"]);
    assert_eq!(
        (count("read_bytes"), count("written_bytes")),
        (reads * 16384, writes * 16384)
    );
    assert_eq!(result["errors"], json!({}));
    assert!(
        (number(&result["throughput_per_s"]) * duration_s - (reads + writes) as f64).abs() < 1.0
    );
    match mode {
        "seqrd" | "rndrd" => assert!(reads > 0 && writes == 0 && fsyncs == 0),
        "rndrw" if reads + writes < 1000 => {}
        "rndrw" => {
            let share = writes as f64 / (reads + writes) as f64;
            assert!((share - 0.4).abs() < 0.02, "{reads} reads, {writes} writes");
        }
        _ => assert!(writes > 0 && reads == 0),
    }
    if mode != "seqrd" && mode != "rndrd" && reads + writes > 2000 {
        let per_request = fsyncs as f64 / (reads + writes) as f64;
        assert!((per_request - 0.04).abs() < 0.01, "{fsyncs} fsyncs");
    }
    let intervals = named(events, "interval");
    let in_window: u64 = intervals
        .iter()
        .filter(|interval| interval["window"] == "w")
        .map(|interval| interval["operations"].as_u64().unwrap())
        .sum();
    assert_eq!(
        in_window,
        count("operations"),
        "intervals add up to the result"
    );
}

#[test]
fn the_effective_job_has_every_default_filled_in() {
    let job = json!({"protocol": 2, "phase": "run", "measure_s": 0.05, "workload":
        {"kind": "fileio", "data": {"directory": "/nowhere", "files": 2, "total_size_bytes": 1 << 20}, "io": {"engine": "null"}}});
    let (code, events) = Engine::run(&job).wait();
    assert_eq!(code, 0, "the null engine needs no files: {events:#?}");
    let effective = &named(&events, "hello")[0]["effective"];
    assert_eq!(effective["workload"]["access"]["block_size_bytes"], 16384);
    assert_eq!(effective["load"]["outstanding"], 1);
    assert_eq!(effective["workload"]["access"]["read_write_ratio"], 1.5);
}

#[test]
fn windows_are_opened_and_closed_by_command() {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    let mut engine = Engine::run(&job(directory.path(), "run", json!({"measure_s": null})));
    engine.wait_for_phase("settling");
    for id in ["t1", "t2"] {
        let result = engine.window(id);
        assert_eq!(result["window"], id);
        let phases = named(&engine.seen, "phase");
        let times: Vec<f64> = ["measuring", "closed"]
            .iter()
            .map(|name| phases.iter().rfind(|phase| phase["name"] == *name).unwrap())
            .map(|phase| number(&phase["monotonic_s"]))
            .collect();
        assert_eq!(number(&result["start_s"]), times[0]);
        assert!((number(&result["duration_s"]) - (times[1] - times[0])).abs() < 1e-6);
        assert!(result["operations"].as_u64().unwrap() > 0);
    }
    let (code, events) = engine.finish();
    assert_eq!(code, 0, "the end of stdin is the usual end: {events:#?}");
    assert_eq!(named(&events, "phase").last().unwrap()["name"], "finished");
}

#[test]
fn windows_that_are_timed_settle_first_and_the_load_goes_on_between_them() {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    let mut engine = Engine::run(&job(directory.path(), "run", json!({"measure_s": null})));
    engine.wait_for_phase("settling");
    for id in ["t1", "t2"] {
        engine.send(&json!({"measure": {"window": id, "settle_s": 0.1, "measure_s": 0.2}}));
        assert_eq!(engine.wait_for_phase("measuring")["window"], id);
        let result = engine.wait_for("result");
        assert_eq!(result["window"], id);
        assert!(number(&result["duration_s"]) >= 0.2);
    }
    assert_eq!(engine.finish().0, 0, "the end of stdin is the usual end");
}

#[test]
fn windows_open_at_a_time_of_the_engines_clock() {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    let changes = json!({"measure_s": null, "histograms": true});
    let mut engine = Engine::run(&job(directory.path(), "run", changes));
    engine.wait_for_phase("settling");
    engine.send(&json!({"clock": "a"}));
    let reading = engine.wait_for("clock");
    assert_eq!(reading["label"], "a");
    let at_s = number(&reading["monotonic_s"]) + 0.3;
    let request = json!({"window": "b", "settle_s": 0.0, "measure_s": 0.2, "at_s": at_s});
    engine.send(&json!({"measure": request}));
    engine.wait_for_phase("measuring");
    let result = engine.wait_for("result");
    assert!(number(&result["start_s"]) >= at_s);
    let intervals = named(&engine.seen, "interval");
    let of_window: Vec<_> = intervals
        .iter()
        .filter(|each| each["window"] == "b")
        .collect();
    assert!(!of_window.is_empty());
    assert!(of_window.iter().all(|each| each["histogram"].is_string()));
    assert_eq!(engine.finish().0, 0);
}

#[test]
fn commands_that_do_not_fit_are_refused() {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    let commanded = job(directory.path(), "run", json!({"measure_s": null}));
    for lines in [
        vec![json!({"close": "a"})],
        vec![json!({"open": "a"}), json!({"open": "b"})],
        vec![json!({"dance": "a"})],
        vec![timed(0.5), timed(0.5)],
        vec![timed(-1.0)],
        vec![json!({"measure": {"window": "b", "settle_s": 0, "measure_s": 1, "at_s": -1}})],
        vec![json!({"open": "a"}), timed(0.0)],
    ] {
        let mut engine = Engine::run(&commanded);
        lines.iter().for_each(|line| engine.send(line));
        assert_eq!(only_error(engine.wait(), 2)["class"], "bad-command");
    }
}

fn timed(settle_s: f64) -> Value {
    json!({"measure": {"window": "b", "settle_s": settle_s, "measure_s": 0.5}})
}

#[test]
fn closing_stdin_stops_a_load_at_once() {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    for engine_name in ["sync", "io_uring", "null"] {
        let changes = json!({"engine": engine_name, "measure_s": 600.0});
        let mut engine = Engine::run(&job(directory.path(), "run", changes));
        engine.wait_for_phase("measuring");
        assert_eq!(only_error(engine.finish(), 1)["class"], "interrupted");
    }
}

#[test]
fn sequential_writing_from_scratch_begins_with_empty_files() {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    let changes = json!({"mode": "seqwr", "measure_s": null, "total_size_bytes": 4 << 20});
    let mut engine = Engine::run(&job(directory.path(), "run", changes));
    engine.wait_for_phase("ready");
    let (code, _) = engine.finish();
    assert_eq!(code, 0);
    // Only the truncated file is created again.
    prepare(directory.path(), json!({}));
    assert_eq!(
        fs::metadata(directory.path().join("paribus.3"))
            .unwrap()
            .len(),
        1 << 20
    );
}

/// The number of bytes of a file in the page cache.
fn cached_bytes(path: &Path) -> usize {
    let file = fs::File::open(path).unwrap();
    let length = file.metadata().unwrap().len() as usize;
    let mut pages = vec![0u8; length.div_ceil(4096)];
    // SAFETY: maps a file for looking only, asks about exactly that range into a vector with one
    // byte a page, and unmaps it; no reference into the mapping is ever made.
    unsafe {
        let (read, shared) = (libc::PROT_READ, libc::MAP_SHARED);
        let map = libc::mmap(
            std::ptr::null_mut(),
            length,
            read,
            shared,
            file.as_raw_fd(),
            0,
        );
        assert_ne!(map, libc::MAP_FAILED);
        assert_eq!(libc::mincore(map, length, pages.as_mut_ptr()), 0);
        libc::munmap(map, length);
    }
    pages.iter().filter(|&&page| page & 1 == 1).count() * 4096
}

#[test]
fn a_cold_start_drops_the_files_from_the_cache() {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    let path = directory.path().join("paribus.0");
    assert_eq!(
        cached_bytes(&path),
        1 << 20,
        "a buffered prepare leaves it warm"
    );
    let access = FileAccess {
        write: true,
        ..FileAccess::default()
    };
    let files = FileSet::open(vec![path.clone()], access).unwrap();
    files.drop_cache().unwrap();
    assert_eq!(cached_bytes(&path), 0);
    let changes = json!({"cache": "cold", "fsync_every": 0, "mode": "rndwr"});
    let (code, events) = Engine::run(&job(directory.path(), "run", changes)).wait();
    assert_eq!(code, 0, "{events:#?}");
}

#[test]
fn memory_file_systems_take_buffered_runs_and_no_direct_ones() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
        panic!("this test needs /dev/shm, as every Linux has it");
    };
    prepare(directory.path(), json!({}));
    let (code, _) = Engine::run(&job(directory.path(), "run", json!({}))).wait();
    assert_eq!(code, 0);
    let direct = job(directory.path(), "run", json!({"direct": true}));
    // Newer kernels allow O_DIRECT on tmpfs, where it has no meaning.
    let error = only_error(Engine::run(&direct).wait(), 1);
    assert_eq!(error["class"], "direct-unsupported");
    assert!(error["message"].as_str().unwrap().contains("paribus.0"));
    let elsewhere = job(
        &directory.path().join("new"),
        "prepare",
        json!({"direct": true}),
    );
    let error = only_error(Engine::run(&elsewhere).wait(), 1);
    assert_eq!(error["class"], "direct-unsupported");
    assert!(!directory.path().join("new").exists());
}
