//! Bulk rows into a real MariaDB server, and the fallback where it accepts none.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::{Mutex, PoisonError};

use crate::mariadb::{DATABASE, PASSWORD, shared};
use paribus_engine::db::Connection as _;
use paribus_engine::db::mysql::MySqlConnection;
use serde_json::json;

/// Whether client files are accepted is a setting of the whole server.
static SERVER: Mutex<()> = Mutex::new(());

fn administrator() -> MySqlConnection {
    let mut administrator = shared().administrator();
    administrator.query(&format!("USE {DATABASE}")).unwrap();
    administrator
}

fn rows(connection: &mut MySqlConnection, sql: &str) -> Vec<Vec<Option<String>>> {
    connection.query(sql).unwrap().rows
}

#[test]
fn lines_become_rows_and_those_passed_over_are_told() {
    let _alone = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    let mut connection = administrator();
    rows(&mut connection, "SET GLOBAL local_infile = ON");
    rows(
        &mut connection,
        "CREATE TABLE bulk (id INT PRIMARY KEY, t CHAR(9))",
    );
    let many: String = (0..70_000).map(|id| format!("{id}\tx{id}\n")).collect();
    let into = "bulk (id, t)";
    assert!(connection.load_data(into, many.as_bytes(), 70_000).unwrap());
    let loaded = rows(
        &mut connection,
        "SELECT COUNT(*), MAX(id) FROM bulk WHERE t = CONCAT('x', id)",
    );
    assert_eq!(loaded, [[Some("70000".into()), Some("69999".into())]]);

    let twice = connection.load_data(into, b"69999\ta\n70000\tb\n", 2);
    let message = twice.unwrap_err().message;
    assert!(message.contains("1 of 2 rows into bulk"), "{message}");
    let nowhere = connection.load_data("nowhere", b"", 0).unwrap_err();
    assert_eq!(nowhere.code, "1146");
    assert_eq!(rows(&mut connection, "SELECT 1"), [[Some("1".into())]]);
}

#[test]
fn tables_are_the_same_where_files_of_clients_are_forbidden() {
    let _alone = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    let mut connection = administrator();
    let mut sums = Vec::new();
    for allowed in ["ON", "OFF"] {
        rows(
            &mut connection,
            &format!("SET GLOBAL local_infile = {allowed}"),
        );
        let mut job = crate::harness::job(shared().path(), "prepare", json!({}));
        job["workload"] = json!({
            "kind": "oltp", "mix": "read_write", "tables": 2, "table_size": 7_001,
            "database": {
                "driver": "mysql", "socket": shared().path().join("socket"), "user": "native",
                "password": PASSWORD, "database": DATABASE,
            },
        });
        let (code, events) = crate::harness::Engine::run(&job).wait();
        assert_eq!(code, 0, "{events:?}");
        let checksum = "CHECKSUM TABLE sbtest1, sbtest2";
        sums.push(rows(&mut connection, checksum));
        let counted = "SELECT COUNT(*), SUM(k > 0) FROM sbtest2 FORCE INDEX (k_2)";
        assert_eq!(
            rows(&mut connection, counted),
            [[Some("7001".into()), Some("7001".into())]]
        );
        rows(
            &mut connection,
            "DROP TABLE sbtest1, sbtest2, paribus_prepared",
        );
    }
    assert_eq!(sums[0], sums[1]);
    assert_ne!(sums[0][0][1], sums[0][1][1]);
}
