//! Connections to a real PostgreSQL: what statements come to, and what goes wrong.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod authority;
mod postgres;

use std::sync::OnceLock;

use ceteris_engine::db::argument::{ArgumentList, Arguments};
use ceteris_engine::db::error::Kind;
use ceteris_engine::db::postgres::Connection;
use ceteris_engine::db::{Connection as _, Execution};
use postgres::{Postgres, answer, execute, ints, prepared};

const BOTH: [Execution; 2] = [Execution::Prepared, Execution::Text];

/// One for all tests of this file.
fn postgres() -> &'static Postgres {
    static POSTGRES: OnceLock<Postgres> = OnceLock::new();
    POSTGRES.get_or_init(Postgres::start)
}

/// A connection on which a table of that name has been made anew, with rows 1 to 1000.
fn with_table(name: &str, statements: &[&str], execution: Execution) -> Connection {
    let mut first = postgres().connect(&[], Execution::Text);
    first
        .query(&format!(
            "DROP TABLE IF EXISTS {name};
             CREATE TABLE {name} (id int PRIMARY KEY, k bigint, c text, f double precision);
             INSERT INTO {name} SELECT i, i * 10, repeat('x', 120), i / 4.0 FROM generate_series(1, 1000) i"
        ))
        .unwrap();
    postgres().connect(statements, execution)
}

fn cell(connection: &mut Connection, sql: &str) -> Option<String> {
    let mut rows = connection.query(sql).unwrap();
    assert_eq!((rows.rows.len(), rows.rows[0].len()), (1, 1), "{sql}");
    rows.rows.remove(0).remove(0)
}

#[test]
fn statements_are_carried_out_prepared_and_as_text() {
    let statements = [
        "SELECT c FROM ways WHERE id = ?",
        "SELECT c FROM ways WHERE id BETWEEN ? AND ?",
        "INSERT INTO ways (id, k) VALUES (?, ?), (?, ?)",
        "UPDATE ways SET k = k + 1 WHERE id <= ?",
        "BEGIN",
        "ROLLBACK",
        "",
    ];
    for execution in BOTH {
        let mut connection = with_table("ways", &statements, execution);
        let mut rows = |statement: usize, values: &[i64]| {
            let list = ints(values);
            execute(&mut connection, statement, list.range(0..values.len()))
                .unwrap()
                .rows
        };
        assert_eq!(rows(0, &[17]), 1);
        assert_eq!(rows(0, &[-17]), 0);
        assert_eq!(rows(1, &[101, 200]), 100);
        assert_eq!(rows(4, &[]), 0);
        assert_eq!(rows(2, &[2001, 1, 2002, 2]), 2);
        assert_eq!(rows(3, &[50]), 50);
        assert_eq!(rows(1, &[1, 3000]), 1002);
        assert_eq!(rows(5, &[]), 0);
        assert_eq!(rows(1, &[1, 3000]), 1000);
        assert_eq!(rows(6, &[]), 0);
        assert_eq!(connection.receive().unwrap(), None);
    }
}

#[test]
fn values_arrive_as_they_are() {
    let texts = ["", "it's", "\\", "\\'; --", "ä€𝄞", "a\nb\t", "$1 ?", "NULL"];
    for execution in BOTH {
        let insert = "INSERT INTO kept VALUES (?, ?, ?, ?)";
        let mut connection = with_table("kept", &[insert], execution);
        connection.query("TRUNCATE kept").unwrap();
        for (id, text) in texts.iter().enumerate() {
            let mut list = ints(&[id as i64, i64::MIN + id as i64]);
            list.text(|value| value.push_str(text));
            list.float(-1.0 / 3.0 * 10f64.powi(id as i32 * 40));
            execute(&mut connection, 0, list.range(0..4)).unwrap();
        }
        let mut nulls = ints(&[100]);
        (0..3).for_each(|_| nulls.null());
        execute(&mut connection, 0, nulls.range(0..4)).unwrap();
        let rows = connection
            .query("SELECT k, c, f, id FROM kept ORDER BY id")
            .unwrap();
        assert_eq!(rows.columns, ["k", "c", "f", "id"]);
        for (id, text) in texts.iter().enumerate() {
            let found: Vec<_> = rows.rows[id].iter().flatten().collect();
            assert_eq!(found[0].parse(), Ok(i64::MIN + id as i64));
            assert_eq!(found[1], text);
            assert_eq!(
                found[2].parse(),
                Ok(-1.0 / 3.0 * 10f64.powi(id as i32 * 40))
            );
        }
        assert_eq!(rows.rows[8][..3], [None, None, None]);
    }
}

#[test]
fn a_large_row_passes_and_a_large_text_arrives() {
    for execution in BOTH {
        let statements = [
            "SELECT repeat('y', ?) FROM generate_series(1, 3)",
            "SELECT length(?)",
        ];
        let mut connection = postgres().connect(&statements, execution);
        let length = ints(&[3_000_000]);
        let rows = execute(&mut connection, 0, length.range(0..1))
            .unwrap()
            .rows;
        assert_eq!(rows, 3);
        let mut long = ArgumentList::default();
        long.text(|text| (0..5_000_000).for_each(|_| text.push('z')));
        assert_eq!(
            execute(&mut connection, 1, long.range(0..1)).unwrap().rows,
            1
        );
        let text = cell(&mut connection, "SELECT repeat('w', 2000000)").unwrap();
        assert_eq!(text.len(), 2_000_000);
    }
}

#[test]
fn the_last_result_of_several_statements_counts() {
    let mut connection = postgres().connect(&[], Execution::Text);
    let rows = connection
        .query("SELECT 1 AS a; SELECT 2 AS b, NULL; BEGIN; COMMIT")
        .unwrap();
    assert_eq!(rows.columns, ["b", "?column?"]);
    assert_eq!(rows.rows, [[Some("2".to_string()), None]]);
    assert!(connection.query("").unwrap().columns.is_empty());
    let name = cell(&mut connection, "SHOW application_name");
    assert_eq!(name.as_deref(), Some("ceteris"));
    connection
        .query("DO $$ BEGIN RAISE WARNING 'passed over'; END $$; LISTEN a; NOTIFY a")
        .unwrap();
    connection.query("SET application_name TO other").unwrap();
    assert_eq!(
        cell(&mut connection, "SELECT 'a' || 1").as_deref(),
        Some("a1")
    );
}

#[test]
fn a_connection_goes_on_after_an_error() {
    for execution in BOTH {
        let statements = ["SELECT 1 / ?", "SELECT c FROM goes_on WHERE id = ?"];
        let mut connection = with_table("goes_on", &statements, execution);
        for _ in 0..3 {
            let error = execute(&mut connection, 0, ints(&[0]).range(0..1)).unwrap_err();
            assert_eq!((error.kind, error.code.as_str()), (Kind::Refused, "22012"));
            assert!(execute(&mut connection, 1, ints(&[7]).range(0..1)).is_ok());
            let error = connection.query("SELECT 1; SELECT nonsense").unwrap_err();
            assert_eq!(error.code, "42703");
        }
        if execution == Execution::Prepared {
            let error = execute(&mut connection, 1, Arguments::NONE).unwrap_err();
            assert_eq!((error.kind, error.code.as_str()), (Kind::Protocol, "08P01"));
            assert!(execute(&mut connection, 1, ints(&[7]).range(0..1)).is_ok());
        }
    }
}

#[test]
fn a_duplicate_key_is_a_conflict() {
    for execution in BOTH {
        let mut connection = with_table("twice", &["INSERT INTO twice (id) VALUES (?)"], execution);
        let error = execute(&mut connection, 0, ints(&[5]).range(0..1)).unwrap_err();
        assert_eq!((error.kind, error.code.as_str()), (Kind::Conflict, "23505"));
        assert!(error.can_retry());
    }
}

#[test]
fn of_two_in_a_deadlock_one_is_in_conflict() {
    for execution in BOTH {
        let statements = ["BEGIN", "UPDATE crossed SET k = 0 WHERE id = ?", "COMMIT"];
        let mut one = with_table("crossed", &statements, execution);
        let mut other = postgres().connect(&statements, execution);
        for (connection, id) in [(&mut one, 1), (&mut other, 2)] {
            execute(connection, 0, Arguments::NONE).unwrap();
            execute(connection, 1, ints(&[id]).range(0..1)).unwrap();
        }
        one.send(1, ints(&[2]).range(0..1)).unwrap();
        assert_eq!(one.receive().unwrap(), None);
        other.send(1, ints(&[1]).range(0..1)).unwrap();
        let both = [answer(&mut one), answer(&mut other)];
        let errors: Vec<_> = both
            .iter()
            .filter_map(|answer| answer.as_ref().err())
            .collect();
        assert_eq!(errors.len(), 1, "{both:?}");
        assert_eq!(
            (errors[0].kind, errors[0].code.as_str()),
            (Kind::Conflict, "40P01")
        );
    }
}

#[test]
fn who_waits_too_long_for_a_lock_may_try_again() {
    let mut holder = with_table("held", &[], Execution::Text);
    holder.query("BEGIN; LOCK TABLE held").unwrap();
    let mut other = postgres().connect(&[], Execution::Text);
    let error = other
        .query("SET lock_timeout = 50; SELECT * FROM held")
        .unwrap_err();
    assert_eq!(
        (error.kind, error.code.as_str()),
        (Kind::LockTimeout, "55P03")
    );
}

#[test]
fn a_table_that_is_not_there_is_missing() {
    let server = postgres().by_socket("trusted");
    let statements = prepared(&["SELECT 1", "SELECT c FROM nowhere"]);
    let error = Connection::open(&server, &statements, Execution::Prepared)
        .err()
        .unwrap();
    assert_eq!((error.kind, error.code.as_str()), (Kind::Missing, "42P01"));
    assert!(error.message.contains("nowhere"));
    let mut connection = Connection::open(&server, &statements, Execution::Text).unwrap();
    let error = execute(&mut connection, 1, Arguments::NONE).unwrap_err();
    assert_eq!(error.kind, Kind::Missing);
}

#[test]
fn rows_are_copied_in() {
    let mut connection = with_table("filled", &[], Execution::Text);
    let copy = "COPY filled (id, c) FROM STDIN";
    let mut next = 1000;
    let mut rows = |chunk: &mut Vec<u8>| {
        next += 1;
        chunk.extend_from_slice(format!("{next}\tnumber {next}\n").as_bytes());
        next < 101_000
    };
    assert_eq!(connection.copy_in(copy, &mut rows).unwrap(), 100_000);
    let sum = cell(
        &mut connection,
        "SELECT sum(id) FROM filled WHERE c = 'number ' || id",
    );
    assert_eq!(sum.unwrap(), (1001..=101_000u64).sum::<u64>().to_string());
    assert_eq!(connection.copy_in(copy, &mut |_| false).unwrap(), 0);

    let mut asked = 0;
    let mut endless = |chunk: &mut Vec<u8>| {
        asked += 1;
        chunk.extend_from_slice(b"1\ttwice\n");
        asked < 100_000_000
    };
    let error = connection.copy_in(copy, &mut endless).unwrap_err();
    assert_eq!(error.kind, Kind::Conflict);
    let error = connection.copy_in("SELECT 1", &mut |_| false).unwrap_err();
    assert_eq!(error.kind, Kind::Refused);
    let error = connection.copy_in("COPY nowhere FROM STDIN", &mut |_| false);
    assert_eq!(error.unwrap_err().kind, Kind::Missing);
    assert_eq!(cell(&mut connection, "SELECT 1").as_deref(), Some("1"));
}

#[test]
fn copies_that_nobody_asked_for_are_refused() {
    let statements = [
        "COPY unasked FROM STDIN",
        "COPY unasked TO STDOUT",
        "SELECT 1",
    ];
    for execution in BOTH {
        let mut connection = with_table("unasked", &[], execution);
        // Not preparable: executed as they are.
        for sql in &statements[..2] {
            let error = connection.query(sql).unwrap_err();
            assert!(matches!(error.kind, Kind::Refused), "{error}");
            assert_eq!(cell(&mut connection, "SELECT 1").as_deref(), Some("1"));
        }
        let mut connection = postgres().connect(&statements, execution);
        for statement in 0..2 {
            let error = execute(&mut connection, statement, Arguments::NONE).unwrap_err();
            assert_eq!(error.kind, Kind::Refused, "{error}");
            assert_eq!(
                execute(&mut connection, 2, Arguments::NONE).unwrap().rows,
                1
            );
        }
    }
}

#[test]
fn who_is_sent_away_hears_why() {
    for execution in BOTH {
        let mut connection = postgres().connect(&["SELECT pg_sleep(60)", "SELECT 1"], execution);
        let number = cell(&mut connection, "SELECT pg_backend_pid()").unwrap();
        connection.send(0, Arguments::NONE).unwrap();
        let mut other = postgres().connect(&[], Execution::Text);
        let end = format!("SELECT pg_terminate_backend({number}, 5000)");
        assert_eq!(cell(&mut other, &end).as_deref(), Some("t"));
        let error = answer(&mut connection).unwrap_err();
        assert_eq!((error.kind, error.code.as_str()), (Kind::Lost, "57P01"));
        assert!(connection.send(1, Arguments::NONE).is_err() || connection.receive().is_err());
    }
}

#[test]
fn who_is_sent_away_while_idle_hears_why() {
    let mut connection = postgres().connect(&["SELECT 1"], Execution::Prepared);
    let number = cell(&mut connection, "SELECT pg_backend_pid()").unwrap();
    let mut other = postgres().connect(&[], Execution::Text);
    cell(
        &mut other,
        &format!("SELECT pg_terminate_backend({number}, 5000)"),
    );
    let error = execute(&mut connection, 0, Arguments::NONE).unwrap_err();
    assert_eq!((error.kind, error.code.as_str()), (Kind::Lost, "57P01"));
}

#[test]
fn a_server_that_is_killed_is_lost() {
    let doomed = Postgres::start();
    let mut connection = doomed.connect(&["SELECT pg_sleep(60)"], Execution::Prepared);
    connection.send(0, Arguments::NONE).unwrap();
    assert_eq!(connection.receive().unwrap(), None);
    doomed.kill();
    assert_eq!(answer(&mut connection).unwrap_err().kind, Kind::Lost);
    assert_eq!(connection.query("SELECT 1").unwrap_err().kind, Kind::Lost);
    let again = Connection::open(&doomed.by_tcp("trusted"), &[], Execution::Text);
    assert_eq!(again.err().unwrap().kind, Kind::Lost);
}
