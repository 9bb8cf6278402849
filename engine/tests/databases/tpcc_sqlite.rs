//! TPC-C on SQLite: loaded, driven, consistent; a fault in each of the twelve conditions is found.

use std::path::Path;
use std::time::Duration;

use crate::harness::{Engine, disk_directory, only};
use rusqlite::Connection;
use serde_json::{Value, json};

fn job(path: &Path, phase: &str, changes: Value) -> Value {
    let mut job = json!({
        "protocol": 2, "phase": phase, "interval_s": 0.5, "measure_s": 2.0, "seed": 5,
        "load": {"outstanding": 4},
        "workload": {
            "kind": "tpcc", "warehouses": 1,
            "database": {"driver": "sqlite", "path": path, "pragmas": {"synchronous": "off"}},
        },
    });
    for (key, value) in changes.as_object().unwrap() {
        job["workload"][key] = value.clone();
    }
    job
}

/// Loading and checking take seconds, and longer beside other tests.
fn events(job: &Value) -> Vec<Value> {
    let mut engine = Engine::run(job);
    engine.patience = Duration::from_secs(300);
    engine.wait().1
}

/// A change that violates the condition of this number, and does not touch earlier ones.
const FAULTS: [&str; 12] = [
    "UPDATE warehouse SET w_ytd = w_ytd + 1",
    "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 3",
    "DELETE FROM new_orders WHERE no_d_id = 4 AND no_o_id = \
     (SELECT MIN(no_o_id) + 1 FROM new_orders WHERE no_d_id = 4)",
    "DELETE FROM order_line WHERE ol_d_id = 5 AND ol_o_id = 7 AND ol_number = 1",
    "UPDATE orders SET o_carrier_id = NULL WHERE o_d_id = 6 AND o_id = 9",
    "UPDATE orders SET o_ol_cnt = o_ol_cnt + CASE o_id WHEN 8 THEN 1 ELSE -1 END \
     WHERE o_d_id = 7 AND o_id IN (8, 9)",
    "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_d_id = 8 AND ol_o_id = 10 AND ol_number = 2",
    "UPDATE history SET h_amount = h_amount + 0.01 WHERE rowid = 11",
    "UPDATE history SET h_d_id = 1 + h_d_id % 10 WHERE rowid = 12",
    "UPDATE customer SET c_balance = c_balance + 0.01, c_ytd_payment = c_ytd_payment - 0.01 \
     WHERE c_d_id = 9 AND c_id = 13",
    "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 WHERE c_d_id = 10 AND c_id = 14",
    "UPDATE customer SET c_ytd_payment = c_ytd_payment + 0.01 WHERE c_d_id = 2 AND c_id = 15",
];

#[test]
fn a_load_leaves_it_consistent_and_each_fault_is_found_by_its_number() {
    let folder = disk_directory();
    let path = folder.path().join("t.db");
    events(&job(&path, "prepare", json!({})));
    let verify = || events(&job(&path, "verify", json!({})));
    assert_eq!(only(&verify(), "verified")["blocks"], 12);
    let result = only(
        &events(&job(&path, "run", json!({"home": "fixed"}))),
        "result",
    )
    .clone();
    let of_kind = |kind: &str| result["kinds"][kind]["count"].as_f64().unwrap();
    let all = result["operations"].as_f64().unwrap();
    let kinds = [
        "new_order",
        "payment",
        "order_status",
        "delivery",
        "stock_level",
    ];
    assert_eq!(kinds.map(of_kind).iter().sum::<f64>(), all);
    assert!(all > 100.0, "{all}");
    // Each worker deals whole decks but for the last, and a transaction at each end is cut off.
    assert!((of_kind("new_order") - 0.45 * all).abs() < 4.0 * 45.0);
    assert!(of_kind("delivery") > 0.0 && of_kind("stock_level") > 0.0);
    assert_eq!(result["errors"], json!({}));
    assert_eq!(only(&verify(), "verified")["blocks"], 12);
    let hurt = folder.path().join("hurt.db");
    for (number, fault) in (1..).zip(FAULTS) {
        std::fs::copy(&path, &hurt).unwrap();
        let changed = Connection::open(&hurt).unwrap().execute(fault, []).unwrap();
        assert!(changed > 0, "{fault}");
        let found = events(&job(&hurt, "verify", json!({})));
        let message = only(&found, "error")["message"].as_str().unwrap();
        let named = format!("condition 3.3.2.{number} of TPC-C does not hold: ");
        assert!(message.contains(&named), "{message}");
    }
}
