//! Creating and removing data: reused files, removed files, and foreign files.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;

use crate::harness::{Engine, disk_directory, job, only_error, prepare};
use serde_json::json;

#[test]
fn closing_stdin_stops_a_prepare_and_cleanup_removes_its_pieces() {
    let parent = disk_directory();
    let directory = parent.path().join("a/b");
    let changes = json!({"total_size_bytes": 4u64 << 30});
    let mut engine = Engine::run(&job(&directory, "prepare", changes.clone()));
    engine.wait_for("progress");
    assert_eq!(only_error(engine.finish(), 1)["class"], "interrupted");
    let refused = Engine::run(&job(&directory, "run", changes.clone())).wait();
    assert_eq!(only_error(refused, 1)["class"], "not-prepared");
    let (code, _) = Engine::run(&job(&directory, "cleanup", changes)).wait();
    assert_eq!(code, 0);
    assert!(
        !parent.path().join("a").exists(),
        "directories it made are gone"
    );
}

#[test]
fn prepare_keeps_what_is_right_and_cleanup_keeps_what_is_not_ours() {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    let file = directory.path().join("paribus.1");
    let made = fs::metadata(&file).unwrap().modified().unwrap();
    let content = fs::read(&file).unwrap();
    assert_eq!(content.len(), 1 << 20);
    assert_ne!(content[..4096], content[4096..8192], "data does not repeat");
    prepare(directory.path(), json!({}));
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), made);

    prepare(directory.path(), json!({"files": 2}));
    assert!(!directory.path().join("paribus.2").exists());
    fs::write(directory.path().join("mine"), "x").unwrap();
    let (code, _) = Engine::run(&job(directory.path(), "cleanup", json!({}))).wait();
    assert_eq!(code, 0);
    let left: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(left.len(), 1);
}

#[test]
fn of_data_side_by_side_the_last_that_goes_takes_the_directories_made_for_all() {
    let parent = disk_directory();
    let [first, second] = ["a/b/one", "a/b/other"].map(|name| parent.path().join(name));
    let cleanup = |directory| {
        let (code, _) = Engine::run(&job(directory, "cleanup", json!({}))).wait();
        assert_eq!(code, 0);
    };
    prepare(&first, json!({}));
    prepare(&second, json!({}));
    // The data that created the directories is removed and created again.
    cleanup(&first);
    prepare(&first, json!({}));
    cleanup(&second);
    assert!(first.exists());
    cleanup(&first);
    assert!(!parent.path().join("a").exists());
    assert!(parent.path().exists(), "this was there before");
}
