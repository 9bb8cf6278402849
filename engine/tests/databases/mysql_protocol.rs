//! MySQL's protocol against a real MariaDB server: statements of every form, and failures.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::{Duration, Instant};

use crate::mariadb::{Mariadb, open, shared};
use paribus_engine::db::argument::{ArgumentList, Arguments};
use paribus_engine::db::error::{DbError, DbErrorKind, DbResult};
use paribus_engine::db::server::{Secret, Server, Tls};
use paribus_engine::db::statement::{self, Statement};
use paribus_engine::db::{Connection as _, Execution, mysql::MySqlConnection};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

const BOTH: [Execution; 2] = [Execution::Prepared, Execution::Text];

fn statements(texts: &[&str]) -> Vec<Statement> {
    let kind = statement::StatementKind::Other;
    texts.iter().map(|sql| Statement::new(kind, sql)).collect()
}

fn connect(texts: &[&str], execution: Execution) -> MySqlConnection {
    MySqlConnection::open(&shared().local("native"), &statements(texts), execution).unwrap()
}

/// As a load does it: waits for the socket only, never in the connection.
fn answer(connection: &mut MySqlConnection) -> DbResult<u64> {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(answer) = connection.receive()? {
            return Ok(answer.rows);
        }
        let limit = Timespec {
            tv_sec: 1,
            tv_nsec: 0,
        };
        let socket = PollFd::from_borrowed_fd(connection.fd(), PollFlags::IN);
        let _ = poll(&mut [socket], Some(&limit));
        assert!(Instant::now() < deadline, "no answer");
    }
}

fn run(
    connection: &mut MySqlConnection,
    statement: usize,
    arguments: Arguments<'_>,
) -> DbResult<u64> {
    connection.send(statement, arguments)?;
    answer(connection)
}

fn ints(values: &[i64]) -> ArgumentList {
    let mut list = ArgumentList::default();
    values.iter().for_each(|&value| list.int(value));
    list
}

fn run_ints(connection: &mut MySqlConnection, statement: usize, values: &[i64]) -> DbResult<u64> {
    run(connection, statement, ints(values).range(0..values.len()))
}

fn administer(sql: &str) -> Vec<Vec<Option<String>>> {
    let mut administrator = shared().administrator();
    administrator
        .query(&format!("USE {}", crate::mariadb::DATABASE))
        .unwrap();
    administrator.query(sql).unwrap().rows
}

/// A table with this many rows, in sysbench's form.
fn table(name: &str, rows: usize) {
    administer(&format!(
        "CREATE TABLE {name} (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL)"
    ));
    if rows > 0 {
        administer(&format!(
            "INSERT INTO {name} SELECT seq, seq, REPEAT('c', 120) FROM seq_1_to_{rows}"
        ));
    }
}

#[test]
fn reads_and_writes_count_their_rows() {
    for (execution, name) in BOTH.into_iter().zip(["counted_prepared", "counted_text"]) {
        table(name, 1000);
        let mut connection = connect(
            &[
                &format!("SELECT c FROM {name} WHERE id = ?"),
                &format!("SELECT c FROM {name} WHERE id BETWEEN ? AND ?"),
                &format!("UPDATE {name} SET k = k + 1 WHERE id <= ?"),
                &format!("INSERT INTO {name} (id, k, c) VALUES (?, ?, '')"),
                &format!("DELETE FROM {name} WHERE id = ?"),
                "BEGIN",
                "COMMIT",
                "ROLLBACK",
            ],
            execution,
        );
        let mut rows =
            |statement, values: &[i64]| run_ints(&mut connection, statement, values).unwrap();
        assert_eq!((rows(0, &[7]), rows(0, &[-7])), (1, 0));
        assert_eq!((rows(1, &[1, 100]), rows(1, &[1, 1000])), (100, 1000));
        assert_eq!((rows(5, &[]), rows(2, &[3]), rows(7, &[])), (0, 3, 0));
        assert_eq!(
            (rows(5, &[]), rows(4, &[9]), rows(3, &[9, 9]), rows(6, &[])),
            (0, 1, 1, 0)
        );
        assert_eq!(rows(0, &[9]), 1);
        assert_eq!(
            administer(&format!("SELECT SUM(k), COUNT(*) FROM {name}")),
            [[Some("500500".into()), Some("1000".into())]]
        );
    }
}

#[test]
fn values_arrive_as_they_are() {
    let (text, quotes) = ("ä€🦀 \n\0 ?", "'; \\' -- \\\\ \" `");
    administer("CREATE TABLE kept (id INT, i BIGINT, f DOUBLE, t TEXT) CHARACTER SET utf8mb4");
    let insert = [
        "INSERT INTO kept VALUES (?, ?, ?, ?)",
        "SET sql_mode = 'NO_BACKSLASH_ESCAPES'",
    ];
    let mut id = 0;
    for (execution, escapes) in [(BOTH[0], true), (BOTH[1], true), (BOTH[1], false)] {
        let mut connection = connect(&insert, execution);
        if !escapes {
            run(&mut connection, 1, Arguments::NONE).unwrap();
        }
        for (int, float, text) in [
            (Some(i64::MIN), Some(0.1), Some(text)),
            (Some(-1), Some(-1.5e300), Some(quotes)),
            (None, None, None),
            (Some(i64::MAX), None, Some("")),
            (None, Some(5e-324), None),
        ] {
            id += 1;
            let mut list = ints(&[id]);
            match int {
                Some(int) => list.int(int),
                None => list.null(),
            }
            match float {
                Some(float) => list.float(float),
                None => list.null(),
            }
            match text {
                Some(text) => list.text(|to| to.push_str(text)),
                None => list.null(),
            }
            assert_eq!(run(&mut connection, 0, list.range(0..4)).unwrap(), 1);
            let result = administer(&format!("SELECT i, f, t FROM kept WHERE id = {id}"));
            let [int_text, float_text, read_text] = &result[0][..] else {
                panic!()
            };
            let float_text: Option<f64> = float_text.as_deref().map(|text| text.parse().unwrap());
            assert_eq!(*int_text, int.map(|int| int.to_string()));
            assert_eq!(float_text, float);
            assert_eq!(read_text.as_deref(), text);
        }
    }
    // Types differ from one execution to the next: the server's own rules decide.
    let mut connection = connect(&["INSERT INTO kept VALUES (?, ?, NULL, ?)"], BOTH[0]);
    let mut list = ArgumentList::default();
    list.text(|to| to.push_str("77"));
    list.float(3.0);
    list.int(8);
    list.int(78);
    list.null();
    list.null();
    run(&mut connection, 0, list.range(0..3)).unwrap();
    run(&mut connection, 0, list.range(3..6)).unwrap();
    let result = administer("SELECT id, i, t FROM kept WHERE id >= 77 ORDER BY id");
    let text = |text: &str| Some(text.to_string());
    assert_eq!(
        result,
        [[text("77"), text("3"), text("8")], [text("78"), None, None]]
    );
}

#[test]
fn results_of_every_form_are_counted() {
    administer("CREATE PROCEDURE two(n INT) BEGIN SELECT * FROM seq_1_to_3; SELECT n; END");
    let texts = [
        "CALL two(?)",
        "SELECT REPEAT('x', 17000000) UNION ALL SELECT ?",
        "SELECT REPEAT('x', 16777210)",
        "SELECT seq, NULL, '' FROM seq_1_to_100000 WHERE seq > ?",
        "DO ?",
        "SELECT NULL, 1",
        "SELECT REPEAT('x', 16777211)",
    ];
    for execution in BOTH {
        let mut connection = connect(&texts, execution);
        for (statement, values, rows) in [
            (0, &[5][..], 4),
            (1, &[5], 2),
            (2, &[], 1),
            (3, &[10], 99_990),
            (4, &[1], 0),
            (5, &[], 1),
            (6, &[], 1),
        ] {
            let counted = run_ints(&mut connection, statement, values);
            assert_eq!(counted, Ok(rows), "{}", texts[statement]);
        }
    }
}

#[test]
fn a_statement_that_it_was_not_opened_with_is_an_error() {
    for execution in BOTH {
        let mut connection = connect(&["SELECT 1"], execution);
        let error = run_ints(&mut connection, 9, &[]).unwrap_err();
        assert_eq!(error.kind, DbErrorKind::Protocol);
        assert_eq!(run_ints(&mut connection, 0, &[]), Ok(1));
    }
}

#[test]
fn after_an_error_the_connection_goes_on() {
    table("errors", 2);
    for execution in BOTH {
        let mut connection = connect(
            &[
                "INSERT INTO errors VALUES (?, 1, '')",
                "SELECT id FROM errors WHERE id = ?",
            ],
            execution,
        );
        for _ in 0..3 {
            let error = run_ints(&mut connection, 0, &[1]).unwrap_err();
            assert_eq!(
                (error.kind, &error.code[..]),
                (DbErrorKind::Conflict, "1062"),
                "{error}"
            );
            assert_eq!(run_ints(&mut connection, 1, &[1]), Ok(1));
        }
    }
    let mut connection = open(&shared().local("native")).unwrap();
    let missing = connection.query("SELECT * FROM nothing").unwrap_err();
    assert_eq!(
        (missing.kind, &missing.code[..]),
        (DbErrorKind::Missing, "1146")
    );
    let file = connection.query("LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE errors");
    assert_eq!(file.unwrap_err().kind, DbErrorKind::Refused);
    let result = connection.query("SELECT 1 AS one, NULL AS n").unwrap();
    assert_eq!(result.columns, ["one", "n"]);
    assert_eq!(result.rows, [[Some("1".into()), None]]);
    let unknown = MySqlConnection::open(
        &shared().local("native"),
        &statements(&["SELECT * FROM nothing"]),
        Execution::Prepared,
    );
    assert_eq!(unknown.err().unwrap().kind, DbErrorKind::Missing);
}

#[test]
fn of_two_that_wait_for_each_other_one_is_told() {
    table("deadlock", 2);
    for execution in BOTH {
        let texts = [
            "BEGIN",
            "UPDATE deadlock SET k = k + 1 WHERE id = ?",
            "COMMIT",
        ];
        let mut pair = [connect(&texts, execution), connect(&texts, execution)];
        for (at, connection) in pair.iter_mut().enumerate() {
            run(connection, 0, Arguments::NONE).unwrap();
            run_ints(connection, 1, &[at as i64 + 1]).unwrap();
        }
        let (ascending, descending) = (ints(&[1]), ints(&[2]));
        pair[0].send(1, descending.range(0..1)).unwrap();
        assert_eq!(pair[0].receive().unwrap(), None);
        pair[1].send(1, ascending.range(0..1)).unwrap();
        let outcomes = pair.each_mut().map(answer);
        let refused: Vec<&DbError> = outcomes
            .iter()
            .filter_map(|outcome| outcome.as_ref().err())
            .collect();
        assert!(refused.len() == 1 && refused[0].can_retry(), "{outcomes:?}");
        assert_eq!(
            (refused[0].kind, &refused[0].code[..]),
            (DbErrorKind::Conflict, "1213")
        );
        for connection in &mut pair {
            run(connection, 2, Arguments::NONE).unwrap();
        }
    }
    let texts = ["BEGIN", "UPDATE deadlock SET k = k + 1 WHERE id = ?"];
    let mut pair = [connect(&texts, BOTH[0]), connect(&texts, BOTH[0])];
    run(&mut pair[0], 0, Arguments::NONE).unwrap();
    run_ints(&mut pair[0], 1, &[1]).unwrap();
    let waited = run_ints(&mut pair[1], 1, &[1]).unwrap_err();
    assert_eq!(waited.kind, DbErrorKind::LockTimeout, "{waited}");
}

#[test]
fn users_get_in_by_their_methods() {
    let server = shared();
    for user in ["native", "ed"] {
        for place in [
            server.local(user),
            server.remote(user),
            server.encrypted(user, Tls::Required),
            server.encrypted(user, Tls::Verified),
        ] {
            let mut connection = open(&place).unwrap();
            let result = connection
                .query("SELECT CURRENT_USER(), DATABASE()")
                .unwrap();
            let expected = [format!("{user}@%"), crate::mariadb::DATABASE.into()].map(Some);
            assert_eq!(result.rows, [expected]);

            let wrong = Some(Secret::new("wrong"));
            for password in [wrong, None] {
                let error = open(&Server {
                    password,
                    ..place.clone()
                })
                .err()
                .unwrap();
                assert_eq!(
                    (error.kind, &error.code[..]),
                    (DbErrorKind::Denied, "1045"),
                    "{error}"
                );
            }
        }
    }
    let empty = Server {
        password: None,
        ..server.remote("empty")
    };
    open(&empty).unwrap();
    open(&Server {
        database: String::new(),
        ..empty
    })
    .unwrap();
    let unknown = Server {
        database: "nothing".into(),
        ..server.remote("native")
    };
    let error = open(&unknown).err().unwrap();
    assert!(
        matches!(error.kind, DbErrorKind::Missing | DbErrorKind::Denied),
        "{error}"
    );
    // The user of the process at the other end of the socket needs no password; over TCP it is
    // unknown.
    let who = server
        .administrator()
        .query("SELECT CURRENT_USER()")
        .unwrap();
    let who = who.rows[0][0]
        .as_ref()
        .unwrap()
        .strip_suffix("@localhost")
        .unwrap();
    let error = open(&Server {
        password: None,
        ..server.remote(who)
    });
    assert_eq!(error.err().unwrap().kind, DbErrorKind::Denied);
}

#[test]
fn encrypted_connections_are_encrypted() {
    let server = shared();
    let open_by = |tls| open(&server.encrypted("tls", tls));
    assert_eq!(open_by(Tls::Off).err().unwrap().kind, DbErrorKind::Denied);
    for tls in [Tls::Required, Tls::Verified] {
        let mut connection = open_by(tls).unwrap();
        let cipher = connection.query("SHOW STATUS LIKE 'Ssl_cipher'").unwrap();
        assert_ne!(cipher.rows[0][1].as_deref(), Some(""));
        let long = connection.query("SELECT REPEAT('x', 20000000)").unwrap();
        assert_eq!(long.rows[0][0].as_ref().map(String::len), Some(20_000_000));
    }
    let texts = ["SELECT seq FROM seq_1_to_100000 WHERE seq <= ?"];
    let encrypted = server.encrypted("tls", Tls::Verified);
    let mut connection = MySqlConnection::open(&encrypted, &statements(&texts), BOTH[0]).unwrap();
    for rows in [1, 100, 100_000] {
        assert_eq!(run_ints(&mut connection, 0, &[rows]), Ok(rows as u64));
    }
    // A certificate of another name, or of an unknown authority.
    let stranger = Server {
        host: Some("127.0.0.1".into()),
        ..encrypted.clone()
    };
    let unsigned = Server {
        tls_ca: None,
        ..encrypted
    };
    for server in [stranger, unsigned] {
        let error = open(&server).err().unwrap();
        assert!(
            error.message.contains("invalid peer certificate"),
            "{error}"
        );
    }
}

#[test]
fn statements_may_be_longer_than_a_packet() {
    let mut connection = open(&shared().remote("native")).unwrap();
    for length in [
        3_000_000,
        0xff_ffff - 17,
        0xff_ffff - 16,
        0xff_ffff - 15,
        40_000_000,
    ] {
        let sql = format!("SELECT LENGTH('{}')", "y".repeat(length));
        let result = connection.query(&sql).unwrap();
        assert_eq!(result.rows, [[Some(length.to_string())]]);
    }
    let mut connection = connect(&["SELECT LENGTH(?) = ?"], Execution::Prepared);
    let mut list = ArgumentList::default();
    list.text(|text| text.extend(std::iter::repeat_n('z', 17_000_000)));
    list.int(17_000_000);
    assert_eq!(run(&mut connection, 0, list.range(0..2)), Ok(1));
}

#[test]
fn who_is_thrown_out_is_lost() {
    let mut waiting = connect(&["SELECT SLEEP(?)", "SELECT 1"], Execution::Prepared);
    let mut idle = open(&shared().local("native")).unwrap();
    let numbers = [&mut waiting, &mut idle].map(|connection| {
        let result = connection.query("SELECT CONNECTION_ID()").unwrap();
        result.rows[0][0].clone().unwrap()
    });
    waiting.send(0, ints(&[60]).range(0..1)).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    for number in numbers {
        administer(&format!("KILL CONNECTION {number}"));
    }
    // The sleep may end with a result before the connection does.
    let error = answer(&mut waiting)
        .and_then(|_| run(&mut waiting, 1, Arguments::NONE))
        .unwrap_err();
    assert_eq!(error.kind, DbErrorKind::Lost, "{error}");
    assert_eq!(answer(&mut idle).unwrap_err().kind, DbErrorKind::Lost);
}

#[test]
fn a_server_that_dies_is_lost() {
    let server = Mariadb::start();
    let place = server.local("native");
    let mut waiting =
        MySqlConnection::open(&place, &statements(&["SELECT SLEEP(60)"]), BOTH[0]).unwrap();
    let mut idle = open(&place).unwrap();
    waiting.send(0, Arguments::NONE).unwrap();
    server.kill();
    assert_eq!(answer(&mut waiting).unwrap_err().kind, DbErrorKind::Lost);
    assert_eq!(idle.query("SELECT 1").unwrap_err().kind, DbErrorKind::Lost);
    let gone = open(&place).err().unwrap();
    assert_eq!(gone.kind, DbErrorKind::Lost, "{gone}");
}
