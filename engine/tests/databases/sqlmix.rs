//! A user's own transactions on SQLite: data created, transactions run, faults reported, everything
//! removed.

use std::path::Path;

use crate::harness::{disk_directory, events, only};
use rusqlite::Connection;
use serde_json::{Value, json};

const ACCOUNTS: i64 = 100;
const EACH: i64 = 1000;

/// Transfers of money between accounts, each recorded under a unique number, and a query over all
/// rows.
fn job(path: &Path, phase: &str, changes: Value) -> Value {
    let account = json!({"draw": "int", "low": 1, "high": ACCOUNTS, "distribution": "zipf"});
    let mut job = json!({
        "protocol": 2, "phase": phase, "interval_s": 0.1, "measure_s": 0.5, "load": {"outstanding": 4},
        "workload": {
            "kind": "sqlmix",
            "database": {"driver": "sqlite", "path": path, "pragmas": {"journal_mode": "wal"}},
            "schema": [
                "CREATE TABLE account (id INTEGER PRIMARY KEY, owner VARCHAR(40), balance INTEGER)",
                "CREATE TABLE IF NOT EXISTS history (id INTEGER PRIMARY KEY, account INTEGER, note VARCHAR(9))",
                "CREATE INDEX by_account ON history (account)",
            ],
            "rows": [{
                "count": ACCOUNTS, "insert": "INSERT INTO account VALUES (?, ?, ?)",
                "arguments": [
                    {"draw": "sequence", "start": 1}, {"draw": "text", "least": 3, "most": 20},
                    {"draw": "choice", "values": [EACH]},
                ],
            }],
            "transactions": [
                {"name": "transfer", "weight": 3, "rollback": 0.2, "statements": [
                    {"sql": "SELECT balance FROM account WHERE id = ?", "arguments": [account]},
                    {"sql": "UPDATE account SET balance = balance - ? WHERE id = ?", "arguments": [
                        {"draw": "int", "low": 1, "high": 10}, {"draw": "same", "argument": 1},
                    ]},
                    {"sql": "UPDATE account SET balance = balance + ? WHERE id = ?",
                     "arguments": [{"draw": "same", "argument": 2}, account]},
                    {"sql": "INSERT INTO history VALUES (?, ?, ?)", "arguments": [
                        {"draw": "sequence", "start": 1}, {"draw": "same", "argument": 1},
                        {"draw": "digits", "pattern": "###-###"},
                    ]},
                ]},
                {"name": "look", "transaction": false,
                 "statements": [{"sql": "SELECT SUM(balance) FROM account", "repeat": 2}]},
            ],
        },
    });
    for (key, value) in changes.as_object().unwrap() {
        job["workload"][key] = value.clone();
    }
    job
}

fn ask(path: &Path, sql: &str) -> i64 {
    let connection = Connection::open(path).unwrap();
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn no_money_is_lost_and_rollbacks_leave_nothing_behind() {
    let directory = disk_directory();
    let path = directory.path().join("a/b/x.db");
    let seen = events(&job(&path, "prepare", json!({})));
    let last = seen
        .iter()
        .rfind(|event| event["event"] == "progress")
        .unwrap();
    assert_eq!(last["done_bytes"], last["total_bytes"]);
    assert_eq!(ask(&path, "SELECT COUNT(*) FROM account"), ACCOUNTS);
    assert_eq!(
        ask(
            &path,
            "SELECT COUNT(*) FROM account WHERE LENGTH(owner) BETWEEN 3 AND 20"
        ),
        ACCOUNTS
    );

    let mut written = 0;
    for prepared in [true, false] {
        let seen = events(&job(&path, "run", json!({"prepared": prepared})));
        let result = only(&seen, "result");
        let (done, made_of) = (
            result["operations"].as_i64().unwrap(),
            &result["statements"],
        );
        assert!(done > 20 && result["errors"] == json!({}), "{result}");
        let rollbacks = made_of["rollbacks"].as_i64().unwrap();
        assert!(rollbacks > 0, "{made_of}");
        // Windows do not cover the moments before and after, so slightly more was done than
        // measured.
        let moves = made_of["write_queries"].as_i64().unwrap() / 3;
        let (before, now) = (written, ask(&path, "SELECT COUNT(*) FROM history"));
        assert!(
            now - before >= moves - rollbacks - 8,
            "{now} - {before}: {made_of}"
        );
        let committed = moves as f64 / (now - before) as f64;
        assert!(
            (1.0..1.6).contains(&committed),
            "a fifth is taken back, {committed}"
        );
        written = now;
    }
    assert_eq!(
        ask(&path, "SELECT SUM(balance) FROM account"),
        ACCOUNTS * EACH
    );
    assert_eq!(
        ask(
            &path,
            "SELECT COUNT(*) FROM history WHERE note NOT GLOB '[0-9][0-9][0-9]-[0-9][0-9][0-9]'"
        ),
        0
    );
    events(&job(&path, "warm", json!({})));
    events(&job(&path, "cleanup", json!({})));
    assert!(!directory.path().join("a").exists());
}

#[test]
fn data_that_is_whole_is_kept_and_other_data_is_made_anew() {
    let directory = disk_directory();
    let path = directory.path().join("x.db");
    for _ in 0..2 {
        events(&job(&path, "prepare", json!({})));
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch("UPDATE account SET owner = 'me' WHERE id = 7")
            .unwrap();
    }
    let count_of_mine = "SELECT COUNT(*) FROM account WHERE owner = 'me'";
    assert_eq!(ask(&path, count_of_mine), 1);
    let more = job(&path, "prepare", json!({}));
    let mut rows = more["workload"]["rows"].clone();
    rows[0]["count"] = json!(5000);
    events(&job(&path, "prepare", json!({"rows": rows})));
    assert_eq!(ask(&path, count_of_mine), 0);
    assert_eq!(ask(&path, "SELECT MAX(id) FROM account"), 5000);
}

#[test]
fn what_is_wrong_or_not_ours_is_told() {
    let directory = disk_directory();
    let path = directory.path().join("x.db");
    for (phase, changes, class, words) in [
        ("run", json!({}), "not-prepared", ""),
        (
            "prepare",
            json!({"schema": ["CREATE TABLE account (id INT)", "CREATE TABEL t"]}),
            "sql-error",
            "schema[1]: near \"TABEL\"",
        ),
        (
            "prepare",
            json!({"schema": ["CREATE TABLE account (id INT)"]}),
            "sql-error",
            "rows[0]: table account has 1 columns",
        ),
        (
            "run",
            json!({}),
            "not-prepared",
            "creating the tables was interrupted",
        ),
        (
            "prepare",
            json!({"transactions": [{"name": "odd", "statements": [{"sql": "SELECT 1"}, {"sql": "SELECT b FROM acount"}]}]}),
            "sql-error",
            "transaction `odd`, statement 2: no such table: acount",
        ),
        (
            "prepare",
            json!({"transactions": [{"name": "odd", "statements": [{"sql": "SELECT ?"}]}]}),
            "bad-job",
            "transaction `odd`, statement 1 has 1 parameters and 0 arguments",
        ),
    ] {
        let seen = events(&job(&path, phase, changes));
        let error = only(&seen, "error");
        let message = error["message"].as_str().unwrap();
        assert!(
            error["class"] == class && message.contains(words),
            "{error}"
        );
    }
    let other = directory.path().join("y.db");
    let theirs = Connection::open(&other).unwrap();
    theirs
        .execute_batch("CREATE TABLE account (a); INSERT INTO account VALUES (42)")
        .unwrap();
    let seen = events(&job(&other, "prepare", json!({})));
    assert_eq!(only(&seen, "error")["class"], "not-ours");
    assert_eq!(ask(&other, "SELECT a FROM account"), 42);
}
