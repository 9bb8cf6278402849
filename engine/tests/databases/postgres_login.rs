//! Logging in to a real PostgreSQL: every password method, sockets, TLS, and refusals.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{Read, Write};
use std::net::TcpListener;

use crate::postgres::{PASSWORD, execute, prepared, shared};
use paribus_engine::db::argument::Arguments;
use paribus_engine::db::error::{DbError, DbErrorKind};
use paribus_engine::db::postgres::PostgresConnection;
use paribus_engine::db::server::{Secret, Server, Tls};
use paribus_engine::db::{Connection as _, Execution};

fn under_tls(user: &str, tls: Tls) -> Server {
    Server {
        tls,
        ..shared().by_tcp(user)
    }
}

#[track_caller]
fn gets_in(server: &Server) {
    let statements = prepared(&["SELECT current_user"]);
    let mut connection =
        PostgresConnection::open(server, &statements, Execution::Prepared).unwrap();
    assert_eq!(
        execute(&mut connection, 0, Arguments::NONE).unwrap().rows,
        1
    );
    let rows =
        connection.query("SELECT current_user, ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
    let encrypted = if server.tls == Tls::Off { "f" } else { "t" };
    assert_eq!(
        rows.unwrap().rows,
        [[Some(server.user.clone()), Some(encrypted.to_string())]]
    );
}

#[track_caller]
fn is_refused(server: &Server) -> DbError {
    let error = PostgresConnection::open(server, &[], Execution::Text)
        .err()
        .unwrap();
    assert!(!format!("{error} {error:?} {server:?}").contains(PASSWORD));
    error
}

#[test]
fn every_way_to_ask_for_a_password_is_answered() {
    for user in ["trusted", "clear", "digest", "scram"] {
        gets_in(&shared().by_socket(user));
        gets_in(&under_tls(user, Tls::Required));
        if user != "clear" {
            gets_in(&shared().by_tcp(user));
        }
    }
}

#[test]
fn a_password_in_clear_does_not_cross_a_network() {
    let error = is_refused(&shared().by_tcp("clear"));
    assert!(
        error.kind == DbErrorKind::Denied && error.message.contains("TLS"),
        "{error}"
    );
}

#[test]
fn a_wrong_password_and_none_are_denied() {
    for user in ["clear", "digest", "scram"] {
        let mut server = shared().by_socket(user);
        server.password = Some(Secret::new("wrong"));
        let error = is_refused(&server);
        assert_eq!(
            (error.kind, error.code.as_str()),
            (DbErrorKind::Denied, "28P01")
        );
        server.password = None;
        assert_eq!(is_refused(&server).kind, DbErrorKind::Denied);
    }
    assert_eq!(
        is_refused(&shared().by_socket("stranger")).kind,
        DbErrorKind::Denied
    );
}

#[test]
fn certificates_are_looked_at_where_asked() {
    gets_in(&under_tls("sealed", Tls::Verified));
    let mut other_name = under_tls("sealed", Tls::Verified);
    other_name.host = Some("127.0.0.1".into());
    assert_eq!(is_refused(&other_name).kind, DbErrorKind::Protocol);
    other_name.tls = Tls::Required;
    gets_in(&other_name);
    let error = is_refused(&under_tls("sealed", Tls::Off));
    assert_eq!(
        (error.kind, error.code.as_str()),
        (DbErrorKind::Denied, "28000")
    );
}

#[test]
fn where_tls_is_asked_for_nothing_goes_without() {
    let mut server = shared().by_socket("scram");
    server.tls = Tls::Required;
    let error = is_refused(&server);
    assert!(error.message.contains("does not offer TLS"), "{error}");
}

#[test]
fn a_database_that_is_not_there_is_missing() {
    let mut server = shared().by_socket("scram");
    server.database = "nowhere".into();
    let error = is_refused(&server);
    assert_eq!(
        (error.kind, error.code.as_str()),
        (DbErrorKind::Missing, "3D000")
    );
    server.database = "a\0b".into();
    assert_eq!(is_refused(&server).kind, DbErrorKind::Refused);
}

#[test]
fn one_too_many_is_told_so() {
    let server = shared().by_socket("alone");
    let first = PostgresConnection::open(&server, &[], Execution::Text).unwrap();
    let error = is_refused(&server);
    assert_eq!(
        (error.kind, error.code.as_str()),
        (DbErrorKind::TooMany, "53300")
    );
    drop(first);
}

/// A server that answers each connection with these bytes and closes it.
fn stranger(answer: &'static [u8]) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let _ = socket.read(&mut [0; 1000]);
        let _ = socket.write_all(answer);
    });
    Server {
        host: Some("127.0.0.1".into()),
        port: Some(port),
        ..shared().by_tcp("trusted")
    }
}

#[test]
fn strangers_are_not_believed() {
    for (answer, kind) in [
        (
            b"HTTP/1.1 400 Bad Request".as_slice(),
            DbErrorKind::Protocol,
        ),
        (b"J\0\0\0\x0a5.5.5-10.11", DbErrorKind::Protocol),
        (b"R\0\0\0\x08\0\0\0\x02", DbErrorKind::Denied),
        (b"R\0\0\0\x08\0\0\0\0", DbErrorKind::Lost),
        (b"", DbErrorKind::Lost),
    ] {
        assert_eq!(
            is_refused(&stranger(answer)).kind,
            kind,
            "{}",
            answer.escape_ascii()
        );
    }
    // Bytes in clear after the consent to TLS may come from anybody.
    let mut server = stranger(b"SR\0\0\0\x08\0\0\0\0");
    server.tls = Tls::Required;
    assert_eq!(is_refused(&server).kind, DbErrorKind::Protocol);
}
