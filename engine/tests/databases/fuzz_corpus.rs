//! The corpus of the fuzzers, replayed by an ordinary compiler.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../fuzz/decoders/mysql.rs"]
mod mysql;
#[path = "../../fuzz/decoders/postgres.rs"]
mod postgres;

use std::path::Path;

fn replay(target: &str, decode: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let mut replayed = 0;
    for entry in std::fs::read_dir(&corpus).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        decode(&std::fs::read(path).unwrap());
        replayed += 1;
    }
    assert!(replayed > 0, "{} is empty", corpus.display());
}

#[test]
fn answers_of_mysql() {
    replay("mysql_answer", mysql::answer);
}

#[test]
fn logins_of_mysql() {
    replay("mysql_login", mysql::login);
}

#[test]
fn rows_of_mysql() {
    replay("mysql_rows", mysql::rows);
}

#[test]
fn replies_of_postgres() {
    replay("postgres_reply", postgres::reply);
}

#[test]
fn logins_of_postgres() {
    replay("postgres_login", postgres::login);
}
