//! sysbench's OLTP on SQLite: tables created, every mix run, faults reported, everything removed.

use std::collections::BTreeMap;
use std::path::Path;

use crate::harness::{disk_directory, events, only};
use rusqlite::Connection;
use serde_json::{Value, json};

const MIXES: [&str; 8] = [
    "point_select",
    "read_only",
    "write_only",
    "read_write",
    "insert",
    "update_index",
    "update_non_index",
    "delete",
];

fn job(path: &Path, phase: &str, changes: Value) -> Value {
    let mut job = json!({
        "protocol": 2, "phase": phase, "interval_s": 0.1, "measure_s": 0.3, "load": {"outstanding": 2},
        "workload": {
            "kind": "oltp", "mix": "read_write", "tables": 2, "table_size": 1000,
            "database": {"driver": "sqlite", "path": path, "pragmas": {"journal_mode": "wal"}},
        },
    });
    for (key, value) in changes.as_object().unwrap() {
        let of_the_job = ["seed", "load", "measure_s"].contains(&key.as_str());
        let place = if of_the_job {
            &mut job
        } else {
            &mut job["workload"]
        };
        place[key] = value.clone();
    }
    job
}

#[test]
fn the_tables_are_those_of_sysbench_and_follow_from_the_seed() {
    let (first, second) = (disk_directory(), disk_directory());
    let paths = [first.path().join("a/b/x.db"), second.path().join("y.db")];
    let dump = |path: &Path| -> Vec<(i64, i64, String, String)> {
        let connection = Connection::open(path).unwrap();
        let mut query = connection
            .prepare("SELECT id, k, c, pad FROM sbtest2 ORDER BY id")
            .unwrap();
        let rows = query.query_map([], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        });
        rows.unwrap().map(Result::unwrap).collect()
    };
    for path in &paths {
        events(&job(path, "prepare", json!({"seed": 5})));
    }
    let rows = dump(&paths[0]);
    assert_eq!(rows, dump(&paths[1]));
    assert_eq!((rows.len(), rows[0].0, rows[999].0), (1000, 1, 1000));
    assert!(
        rows.iter()
            .all(|(_, k, c, pad)| (1..=1000).contains(k) && c.len() == 119 && pad.len() == 59)
    );
    let connection = Connection::open(&paths[0]).unwrap();
    let names: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_master WHERE name LIKE 'k_%' OR name LIKE 'sbtest%' ORDER BY name")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(names, ["k_1", "k_2", "sbtest1", "sbtest2"]);
    drop(connection);
    for path in &paths {
        events(&job(path, "cleanup", json!({})));
        assert!(!path.exists());
    }
    assert!(!first.path().join("a").exists(), "what was made goes");
    assert!(second.path().exists(), "what was there stays");
}

#[test]
fn every_mix_runs_with_as_many_statements_as_sysbench_counts() {
    let directory = disk_directory();
    let path = directory.path().join("x.db");
    events(&job(&path, "prepare", json!({})));
    let expected: BTreeMap<&str, (u64, u64, u64)> = MIXES
        .into_iter()
        .zip([
            (1, 0, 0),
            (14, 0, 2),
            (0, 4, 2),
            (14, 4, 2),
            (0, 1, 0),
            (0, 1, 0),
            (0, 1, 0),
            (0, 1, 0),
        ])
        .collect();
    for (mix, (reads, writes, others)) in expected {
        for prepared in [true, false] {
            let seen = events(&job(
                &path,
                "run",
                json!({"mix": mix, "prepared": prepared}),
            ));
            let result = only(&seen, "result");
            let (done, made_of) = (
                result["operations"].as_u64().unwrap(),
                &result["statements"],
            );
            assert!(done > 0 && result["errors"] == json!({}), "{mix}: {result}");
            // At each end of the window, every connection may have a transaction that is partly
            // inside.
            for (name, each) in [
                ("read_queries", reads),
                ("write_queries", writes),
                ("other_queries", others),
            ] {
                let counted = made_of[name].as_u64().unwrap();
                assert!(
                    counted.abs_diff(done * each) <= 2 * 20,
                    "{mix}: {counted} {name} in {done}"
                );
            }
        }
    }
}

#[test]
fn writers_that_meet_try_again_and_no_update_is_lost() {
    let directory = disk_directory();
    let path = directory.path().join("x.db");
    let few =
        json!({"tables": 1, "table_size": 5, "mix": "update_index", "load": {"outstanding": 4}});
    events(&job(&path, "prepare", few.clone()));
    let sum = || -> i64 {
        let connection = Connection::open(&path).unwrap();
        connection
            .query_row("SELECT SUM(k) FROM sbtest1", [], |row| row.get(0))
            .unwrap()
    };
    let before = sum();
    let seen = events(&job(&path, "run", few));
    // Windows do not cover the moments before and after, so the work done is at least the measured
    // work.
    let measured = only(&seen, "result")["operations"].as_i64().unwrap();
    assert!(
        sum() - before >= measured,
        "{} of {measured}",
        sum() - before
    );
}

#[test]
fn a_pragma_that_is_not_taken_is_refused_before_the_load() {
    let directory = disk_directory();
    let path = directory.path().join("x.db");
    events(&job(&path, "prepare", json!({})));
    for (pragmas, words) in [
        (
            json!({"page_size": "16384"}),
            "pragma page_size is 4096 after it was set to 16384",
        ),
        (json!({"no_such_pragma": "1"}), "no pragma no_such_pragma"),
    ] {
        let mut wrong = job(&path, "run", json!({}));
        wrong["workload"]["database"]["pragmas"] = pragmas;
        let seen = events(&wrong);
        let error = only(&seen, "error");
        assert_eq!(error["class"], "condition-refused", "{error}");
        assert!(
            error["message"].as_str().unwrap().contains(words),
            "{error}"
        );
    }
}

#[test]
fn what_is_not_there_or_not_ours_is_told_and_never_touched() {
    let directory = disk_directory();
    let path = directory.path().join("x.db");
    let seen = events(&job(&path, "run", json!({})));
    assert_eq!(only(&seen, "error")["class"], "not-prepared");
    assert!(!path.exists(), "looking makes nothing");

    let theirs = Connection::open(&path).unwrap();
    theirs
        .execute_batch("CREATE TABLE sbtest1 (a); INSERT INTO sbtest1 VALUES (42)")
        .unwrap();
    let seen = events(&job(&path, "prepare", json!({})));
    assert_eq!(only(&seen, "error")["class"], "not-ours");
    let value: i64 = theirs
        .query_row("SELECT a FROM sbtest1", [], |row| row.get(0))
        .unwrap();
    assert_eq!(value, 42);
}

#[test]
fn prepare_that_was_cut_off_begins_anew_and_a_whole_one_is_kept() {
    let directory = disk_directory();
    let path = directory.path().join("x.db");
    events(&job(&path, "prepare", json!({})));
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch("UPDATE paribus_prepared SET complete = 0; DELETE FROM sbtest1 WHERE id > 10; DROP INDEX k_2")
        .unwrap();
    let seen = events(&job(&path, "run", json!({})));
    assert!(
        only(&seen, "error")["message"]
            .as_str()
            .unwrap()
            .contains("interrupted")
    );
    for _ in 0..2 {
        events(&job(&path, "prepare", json!({})));
        let rows: i64 = connection
            .query_row("SELECT COUNT(*) FROM sbtest1", [], |row| row.get(0))
            .unwrap();
        assert_eq!(rows, 1000);
        connection
            .execute_batch("UPDATE sbtest1 SET k = 7 WHERE id = 3")
            .unwrap();
    }
    let k: i64 = connection
        .query_row("SELECT k FROM sbtest1 WHERE id = 3", [], |row| row.get(0))
        .unwrap();
    assert_eq!(k, 7, "data that is whole is used as it is");
}

#[test]
fn a_full_database_ends_the_load_and_says_so() {
    let directory = disk_directory();
    let path = directory.path().join("x.db");
    events(&job(&path, "prepare", json!({"tables": 1})));
    let mut full = job(
        &path,
        "run",
        json!({"tables": 1, "mix": "insert", "measure_s": 10.0}),
    );
    full["workload"]["database"]["pragmas"] = json!({"max_page_count": "100"});
    let seen = events(&full);
    assert_eq!(only(&seen, "error")["class"], "disk-full");
}
