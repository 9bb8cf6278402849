//! Connections to real servers and loads on them: MariaDB, PostgreSQL, SQLite.

#[path = "../harness/mod.rs"]
mod harness;

mod authority;
mod fuzz_corpus;
mod mariadb;
mod mysql_bulk;
mod mysql_protocol;
mod oltp_sqlite;
mod postgres;
mod postgres_login;
mod postgres_protocol;
mod postgres_refusals;
mod sql;
mod sqlmix;
mod tls_stream;
mod tpcc_sqlite;
