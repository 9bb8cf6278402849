//! Every failure under a load ends in one clear error event, never in a panic.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::harness::{Engine, binary, disk_directory, job, only_error, prepare};
use serde_json::{Value, json};

fn refused(job: &Value, code: i32) -> Value {
    only_error(Engine::run(job).wait(), code)
}

#[test]
fn bad_jobs_are_refused_with_the_name_of_the_field() {
    let directory = Path::new("/tmp");
    for (changes, word) in [
        (json!({"unknown": 1}), "unknown"),
        (json!({"blocksize": 4096}), "blocksize"),
        (json!({"mode": "sideways"}), "sideways"),
        (json!({"files": 0}), "files"),
        (
            json!({"block_size_bytes": 1000, "direct": true}),
            "block_size_bytes",
        ),
        (json!({"directory": "relative"}), "directory"),
        (json!({"load": {"outstanding": 0}}), "outstanding"),
        (json!({"load": {"outstanding": 1, "rate": 5}}), "rate"),
        (json!({"measure_s": -1.0}), "measure_s"),
        (json!({"total_size_bytes": 10}), "block"),
        (json!({"read_write_ratio": -1.0}), "read_write_ratio"),
    ] {
        let error = refused(&job(directory, "run", changes.clone()), 2);
        assert_eq!(error["class"], "bad-job", "{changes}");
        assert!(error["message"].as_str().unwrap().contains(word), "{error}");
    }
}

#[test]
fn another_protocol_and_no_job_are_refused() {
    let error = refused(&job(Path::new("/tmp"), "run", json!({"protocol": 3})), 2);
    assert_eq!(error["class"], "protocol-mismatch");
    let error = only_error(Engine::start(&["run"]).finish(), 2);
    assert_eq!(error["class"], "bad-job");
    let mut engine = Engine::start(&["run"]);
    engine.send(&json!("not a job"));
    assert_eq!(only_error(engine.wait(), 2)["class"], "bad-job");
}

#[test]
fn files_that_are_not_prepared_are_named() {
    let directory = disk_directory();
    let run = job(directory.path(), "run", json!({}));
    assert_eq!(refused(&run, 1)["class"], "not-prepared");
    prepare(directory.path(), json!({}));
    let larger = job(
        directory.path(),
        "run",
        json!({"total_size_bytes": 8 << 20}),
    );
    assert_eq!(refused(&larger, 1)["class"], "not-prepared");
    fs::remove_file(directory.path().join("paribus.2")).unwrap();
    let error = refused(&run, 1);
    assert_eq!(error["class"], "not-prepared");
    assert!(error["path"].as_str().unwrap().ends_with("paribus.2"));
}

#[test]
fn a_file_of_somebody_else_is_not_overwritten() {
    let directory = disk_directory();
    fs::write(directory.path().join("paribus.1"), "mine").unwrap();
    assert_eq!(
        refused(&job(directory.path(), "prepare", json!({})), 1)["class"],
        "not-ours"
    );
    assert_eq!(
        fs::read(directory.path().join("paribus.1")).unwrap(),
        b"mine"
    );
}

#[test]
fn a_directory_that_is_a_file_is_refused() {
    let directory = disk_directory();
    let path = directory.path().join("plain");
    fs::write(&path, "x").unwrap();
    for directory in [path.join("below"), path] {
        assert_eq!(
            refused(&job(&directory, "prepare", json!({})), 2)["class"],
            "bad-job"
        );
    }
}

#[test]
fn too_little_space_is_told_before_anything_is_written() {
    let directory = disk_directory();
    let changes = json!({"total_size_bytes": 1u64 << 60});
    let error = refused(&job(directory.path(), "prepare", changes), 1);
    assert_eq!(error["class"], "too-little-space");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_file_deleted_under_the_load_ends_it() {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    let changes = json!({"measure_s": 600.0, "engine": "io_uring"});
    let mut engine = Engine::run(&job(directory.path(), "run", changes));
    engine.wait_for_phase("measuring");
    fs::remove_file(directory.path().join("paribus.1")).unwrap();
    let error = only_error(engine.wait(), 1);
    assert_eq!(error["class"], "file-vanished");
    assert!(error["message"].as_str().unwrap().contains("paribus.1"));
}

#[test]
fn a_file_cut_short_under_the_load_ends_it() {
    let directory = disk_directory();
    prepare(directory.path(), json!({"files": 1}));
    let changes = json!({"measure_s": 600.0, "files": 1, "mode": "rndrd"});
    let mut engine = Engine::run(&job(directory.path(), "run", changes));
    engine.wait_for_phase("measuring");
    let file = OpenOptions::new()
        .write(true)
        .open(directory.path().join("paribus.0"))
        .unwrap();
    file.set_len(0).unwrap();
    assert_eq!(only_error(engine.wait(), 1)["class"], "short-io");
}

/// Files with their size but without allocated space: the load itself has to allocate it.
fn make_sparse(directory: &Path) {
    for index in 0..4 {
        let path = directory.join(format!("paribus.{index}"));
        let file = OpenOptions::new().write(true).open(path).unwrap();
        file.set_len(0).unwrap();
        file.set_len(1 << 20).unwrap();
    }
}

struct Mounted(tempfile::TempDir);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_ends_the_load() {
    if !paribus_engine::machine::is_root() {
        // Without the right to mount, the limit of file sizes replaces the end of the disk.
        return a_file_size_limit_ends_the_load_of("sync");
    }
    let mounted = Mounted(tempfile::tempdir().unwrap());
    let directory = mounted.0.path();
    let mount = ["-t", "tmpfs", "-o", "size=6m", "tmpfs"];
    assert!(
        Command::new("mount")
            .args(mount)
            .arg(directory)
            .status()
            .unwrap()
            .success()
    );
    for engine in ["sync", "io_uring"] {
        prepare(directory, json!({}));
        make_sparse(directory);
        let mut ballast = fs::File::create(directory.join("ballast")).unwrap();
        while ballast.write_all(&[1; 4096]).is_ok() {}
        let changes = json!({"mode": "rndwr", "engine": engine, "measure_s": 600.0});
        let error = refused(&job(directory, "run", changes), 1);
        assert_eq!(error["class"], "disk-full");
        assert!(error["message"].as_str().unwrap().contains("No space left"));
        fs::remove_file(directory.join("ballast")).unwrap();
        // A set with a truncated file must not count as complete.
        fs::remove_file(directory.join("paribus.0")).unwrap();
    }
}

#[test]
fn a_file_size_limit_ends_the_load() {
    a_file_size_limit_ends_the_load_of("sync");
    a_file_size_limit_ends_the_load_of("io_uring");
}

fn a_file_size_limit_ends_the_load_of(engine: &str) {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 64; exec \"$0\" run", binary()]);
    let mut limited = Engine::spawn(command);
    limited.send(&job(
        directory.path(),
        "run",
        json!({"mode": "seqwr", "engine": engine, "measure_s": 600.0}),
    ));
    assert_eq!(only_error(limited.wait(), 1)["class"], "file-too-large");
}
