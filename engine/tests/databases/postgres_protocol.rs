//! Connections to a real PostgreSQL: the results of statements.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::postgres::{cell, execute, ints, shared};
use paribus_engine::db::argument::{ArgumentList, Arguments};
use paribus_engine::db::error::DbErrorKind;
use paribus_engine::db::{Connection as _, Execution};

const BOTH: [Execution; 2] = [Execution::Prepared, Execution::Text];

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
        let mut connection = shared().with_table("ways", &statements, execution);
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
        let mut connection = shared().with_table("kept", &[insert], execution);
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
            let fields: Vec<_> = rows.rows[id].iter().flatten().collect();
            assert_eq!(fields[0].parse(), Ok(i64::MIN + id as i64));
            assert_eq!(fields[1], text);
            assert_eq!(
                fields[2].parse(),
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
        let mut connection = shared().connect(&statements, execution);
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
    let mut connection = shared().connect(&[], Execution::Text);
    let rows = connection
        .query("SELECT 1 AS a; SELECT 2 AS b, NULL; BEGIN; COMMIT")
        .unwrap();
    assert_eq!(rows.columns, ["b", "?column?"]);
    assert_eq!(rows.rows, [[Some("2".to_string()), None]]);
    assert!(connection.query("").unwrap().columns.is_empty());
    let name = cell(&mut connection, "SHOW application_name");
    assert_eq!(name.as_deref(), Some("paribus"));
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
fn rows_are_copied_in() {
    let mut connection = shared().with_table("filled", &[], Execution::Text);
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

    let mut calls = 0;
    let mut endless = |chunk: &mut Vec<u8>| {
        calls += 1;
        chunk.extend_from_slice(b"1\ttwice\n");
        calls < 100_000_000
    };
    let error = connection.copy_in(copy, &mut endless).unwrap_err();
    assert_eq!(error.kind, DbErrorKind::Conflict);
    let error = connection.copy_in("SELECT 1", &mut |_| false).unwrap_err();
    assert_eq!(error.kind, DbErrorKind::Refused);
    let error = connection.copy_in("COPY nowhere FROM STDIN", &mut |_| false);
    assert_eq!(error.unwrap_err().kind, DbErrorKind::Missing);
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
        let mut connection = shared().with_table("unasked", &[], execution);
        // Not preparable: executed as text.
        for sql in &statements[..2] {
            let error = connection.query(sql).unwrap_err();
            assert!(matches!(error.kind, DbErrorKind::Refused), "{error}");
            assert_eq!(cell(&mut connection, "SELECT 1").as_deref(), Some("1"));
        }
        let mut connection = shared().connect(&statements, execution);
        for statement in 0..2 {
            let error = execute(&mut connection, statement, Arguments::NONE).unwrap_err();
            assert_eq!(error.kind, DbErrorKind::Refused, "{error}");
            assert_eq!(
                execute(&mut connection, 2, Arguments::NONE).unwrap().rows,
                1
            );
        }
    }
}
