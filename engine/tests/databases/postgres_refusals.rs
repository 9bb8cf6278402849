//! Connections to a real PostgreSQL that refuses statements, or is gone.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::postgres::{Postgres, answer, cell, execute, ints, prepared, shared};
use paribus_engine::db::argument::Arguments;
use paribus_engine::db::error::DbErrorKind;
use paribus_engine::db::postgres::PostgresConnection;
use paribus_engine::db::{Connection as _, Execution};

const BOTH: [Execution; 2] = [Execution::Prepared, Execution::Text];

#[test]
fn a_connection_goes_on_after_an_error() {
    for execution in BOTH {
        let statements = ["SELECT 1 / ?", "SELECT c FROM goes_on WHERE id = ?"];
        let mut connection = shared().with_table("goes_on", &statements, execution);
        for _ in 0..3 {
            let error = execute(&mut connection, 0, ints(&[0]).range(0..1)).unwrap_err();
            assert_eq!(
                (error.kind, error.code.as_str()),
                (DbErrorKind::Refused, "22012")
            );
            assert!(execute(&mut connection, 1, ints(&[7]).range(0..1)).is_ok());
            let error = connection.query("SELECT 1; SELECT nonsense").unwrap_err();
            assert_eq!(error.code, "42703");
        }
        if execution == Execution::Prepared {
            let error = execute(&mut connection, 1, Arguments::NONE).unwrap_err();
            assert_eq!(
                (error.kind, error.code.as_str()),
                (DbErrorKind::Protocol, "08P01")
            );
            assert!(execute(&mut connection, 1, ints(&[7]).range(0..1)).is_ok());
        }
    }
}

#[test]
fn a_duplicate_key_is_a_conflict() {
    for execution in BOTH {
        let mut connection =
            shared().with_table("twice", &["INSERT INTO twice (id) VALUES (?)"], execution);
        let error = execute(&mut connection, 0, ints(&[5]).range(0..1)).unwrap_err();
        assert_eq!(
            (error.kind, error.code.as_str()),
            (DbErrorKind::Conflict, "23505")
        );
        assert!(error.can_retry());
    }
}

#[test]
fn a_statement_that_it_was_not_opened_with_is_an_error() {
    for execution in BOTH {
        let mut connection = shared().connect(&["SELECT 1"], execution);
        let error = execute(&mut connection, 9, Arguments::NONE).unwrap_err();
        assert!(!error.can_retry(), "{error}");
        assert!(execute(&mut connection, 0, Arguments::NONE).is_ok());
    }
}

#[test]
fn of_two_in_a_deadlock_one_is_in_conflict() {
    for execution in BOTH {
        let statements = ["BEGIN", "UPDATE crossed SET k = 0 WHERE id = ?", "COMMIT"];
        let mut first = shared().with_table("crossed", &statements, execution);
        let mut second = shared().connect(&statements, execution);
        for (connection, id) in [(&mut first, 1), (&mut second, 2)] {
            execute(connection, 0, Arguments::NONE).unwrap();
            execute(connection, 1, ints(&[id]).range(0..1)).unwrap();
        }
        first.send(1, ints(&[2]).range(0..1)).unwrap();
        assert_eq!(first.receive().unwrap(), None);
        second.send(1, ints(&[1]).range(0..1)).unwrap();
        let both = [answer(&mut first), answer(&mut second)];
        let errors: Vec<_> = both
            .iter()
            .filter_map(|answer| answer.as_ref().err())
            .collect();
        assert_eq!(errors.len(), 1, "{both:?}");
        assert_eq!(
            (errors[0].kind, errors[0].code.as_str()),
            (DbErrorKind::Conflict, "40P01")
        );
    }
}

#[test]
fn who_waits_too_long_for_a_lock_may_try_again() {
    let mut holder = shared().with_table("held", &[], Execution::Text);
    holder.query("BEGIN; LOCK TABLE held").unwrap();
    let mut other = shared().connect(&[], Execution::Text);
    let error = other
        .query("SET lock_timeout = 50; SELECT * FROM held")
        .unwrap_err();
    assert_eq!(
        (error.kind, error.code.as_str()),
        (DbErrorKind::LockTimeout, "55P03")
    );
}

#[test]
fn a_table_that_is_not_there_is_missing() {
    let server = shared().by_socket("trusted");
    let statements = prepared(&["SELECT 1", "SELECT c FROM nowhere"]);
    let error = PostgresConnection::open(&server, &statements, Execution::Prepared)
        .err()
        .unwrap();
    assert_eq!(
        (error.kind, error.code.as_str()),
        (DbErrorKind::Missing, "42P01")
    );
    assert!(error.message.contains("nowhere"));
    let mut connection = PostgresConnection::open(&server, &statements, Execution::Text).unwrap();
    let error = execute(&mut connection, 1, Arguments::NONE).unwrap_err();
    assert_eq!(error.kind, DbErrorKind::Missing);
}

#[test]
fn who_is_sent_away_hears_why() {
    for execution in BOTH {
        let mut connection = shared().connect(&["SELECT pg_sleep(60)", "SELECT 1"], execution);
        let number = cell(&mut connection, "SELECT pg_backend_pid()").unwrap();
        connection.send(0, Arguments::NONE).unwrap();
        let mut other = shared().connect(&[], Execution::Text);
        let end = format!("SELECT pg_terminate_backend({number}, 5000)");
        assert_eq!(cell(&mut other, &end).as_deref(), Some("t"));
        let error = answer(&mut connection).unwrap_err();
        assert_eq!(
            (error.kind, error.code.as_str()),
            (DbErrorKind::Lost, "57P01")
        );
        assert!(connection.send(1, Arguments::NONE).is_err() || connection.receive().is_err());
    }
}

#[test]
fn who_is_sent_away_while_idle_hears_why() {
    let mut connection = shared().connect(&["SELECT 1"], Execution::Prepared);
    let number = cell(&mut connection, "SELECT pg_backend_pid()").unwrap();
    let mut other = shared().connect(&[], Execution::Text);
    cell(
        &mut other,
        &format!("SELECT pg_terminate_backend({number}, 5000)"),
    );
    let error = execute(&mut connection, 0, Arguments::NONE).unwrap_err();
    assert_eq!(
        (error.kind, error.code.as_str()),
        (DbErrorKind::Lost, "57P01")
    );
}

#[test]
fn a_server_that_is_killed_is_lost() {
    let doomed = Postgres::start();
    let mut connection = doomed.connect(&["SELECT pg_sleep(60)"], Execution::Prepared);
    connection.send(0, Arguments::NONE).unwrap();
    assert_eq!(connection.receive().unwrap(), None);
    doomed.kill();
    assert_eq!(answer(&mut connection).unwrap_err().kind, DbErrorKind::Lost);
    assert_eq!(
        connection.query("SELECT 1").unwrap_err().kind,
        DbErrorKind::Lost
    );
    let again = PostgresConnection::open(&doomed.by_tcp("trusted"), &[], Execution::Text);
    assert_eq!(again.err().unwrap().kind, DbErrorKind::Lost);
}
