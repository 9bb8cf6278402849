//! Queries one after the other, on a database file; other tests cover servers.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::harness::{Engine, disk_directory, only_error};
use serde_json::{Value, json};

fn sql(database: &Value) -> Engine {
    let mut engine = Engine::start(&["sql"]);
    engine.send(&json!({"protocol": 2, "database": database}));
    engine
}

fn file(name: &str) -> (tempfile::TempDir, Value) {
    let place = disk_directory();
    let path = place.path().join(name);
    std::fs::write(&path, "").unwrap();
    (place, json!({"driver": "sqlite", "path": path}))
}

#[test]
fn each_query_is_answered_in_order() {
    let (_place, database) = file("d");
    let mut engine = sql(&database);
    engine.wait_for("hello");
    for query in [
        "CREATE TABLE t (a INTEGER, b TEXT)",
        "INSERT INTO t VALUES (1, 'x'), (2, NULL)",
    ] {
        engine.send(&json!({"query": query}));
        engine.wait_for("rows");
    }
    engine.send(&json!({"query": "SELECT * FROM t ORDER BY a"}));
    engine.send(&json!({"query": "SELECT * FROM nothing"}));
    engine.send(&json!({"query": "SELECT 3"}));
    let rows = engine.wait_for("rows");
    assert_eq!(rows["columns"], json!(["a", "b"]));
    assert_eq!(rows["rows"], json!([["1", "x"], ["2", null]]));
    let refused = engine.wait_for_any();
    assert_eq!(refused["event"], "refused");
    assert!(refused["message"].as_str().unwrap().contains("nothing"));
    assert!(refused["kind"].is_string() && refused["code"].is_string());
    assert_eq!(engine.wait_for("rows")["rows"], json!([["3"]]));
    assert_eq!(engine.finish().0, 0);
}

#[test]
fn what_cannot_be_opened_is_an_error_that_names_it() {
    let place = disk_directory();
    let gone = place.path().join("gone");
    let error = only_error(sql(&json!({"driver": "sqlite", "path": gone})).wait(), 1);
    assert!(error["message"].as_str().unwrap().contains("gone"));

    let server = json!({"driver": "mysql", "socket": gone, "user": "u", "password": "hidden", "database": "d"});
    let error = only_error(sql(&server).wait(), 1);
    assert_eq!(error["class"], "connection-lost");
    assert!(!error.to_string().contains("hidden"));
}

#[test]
fn what_is_no_job_or_no_query_is_refused_without_repeating_it() {
    only_error(sql(&json!({"driver": "oracle"})).wait(), 2);
    let (_place, database) = file("d");
    let mut engine = sql(&database);
    engine.wait_for("hello");
    engine.send(&json!({"statement": "ALTER USER u IDENTIFIED BY 'hidden'"}));
    let error = only_error(engine.wait(), 2);
    assert_eq!(error["class"], "bad-command");
    assert!(!error.to_string().contains("hidden"));
}
