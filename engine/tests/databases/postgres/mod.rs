//! A private PostgreSQL server in a separate folder, which ends with the process that started it.
//!
//! In: nothing. Out: addresses for the users below, by a Unix socket or TCP, with TLS.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use paribus_engine::db::argument::{ArgumentList, Arguments};
use paribus_engine::db::error::DbResult;
use paribus_engine::db::postgres::PostgresConnection;
use paribus_engine::db::server::{Secret, Server, Tls};
use paribus_engine::db::statement::{Statement, StatementKind};
use paribus_engine::db::{Answer, Connection as _, Execution};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

pub const PASSWORD: &str = "it's 'ä' \\ secret";

/// The user selects the method of the password request.
const WHO_MAY: &str = "\
local   all trusted,alone trust
host    all trusted all trust
local   all clear,stranger password
local   all digest md5
local   all scram scram-sha-256
host    all clear all password
host    all digest all md5
host    all scram all scram-sha-256
hostssl all sealed all scram-sha-256
";

const USERS: &str = "\
CREATE USER clear PASSWORD %;
CREATE USER scram PASSWORD %;
CREATE USER sealed PASSWORD %;
CREATE USER alone CONNECTION LIMIT 1;
SET password_encryption = md5;
CREATE USER digest PASSWORD %;
ALTER SYSTEM RESET ALL";

/// Ends the server and removes its folder when the holder of stdin's other end is gone.
const KEEPER: &str = r#"bin=$1 folder=$2
"$bin/postgres" -D "$folder/data" >"$folder/log" 2>&1 &
read -r _
kill -INT $!
wait
rm -rf "$folder""#;

/// One server for all tests of a process; it ends with them.
pub fn shared() -> &'static Postgres {
    static SHARED: OnceLock<Postgres> = OnceLock::new();
    SHARED.get_or_init(Postgres::start)
}

pub struct Postgres {
    pub folder: PathBuf,
    pub port: u16,
    keeper: Child,
}

impl Postgres {
    pub fn start() -> Postgres {
        let folder = tempfile::tempdir().unwrap().keep();
        let bin = binaries();
        let owner = owner(&folder);
        crate::authority::certify(&folder);
        let key = folder.join("server.key");
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        if let Some(id) = owner {
            chown(&folder, Some(id), None).unwrap();
            chown(&key, Some(id), None).unwrap();
        }
        let data = folder.join("data");
        let mut initdb = Command::new(bin.join("initdb"));
        initdb.args(
            "--username=trusted --auth=trust --no-sync --encoding=UTF8 --locale=C".split(' '),
        );
        run(as_owner(&mut initdb, owner).arg("-D").arg(&data));
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        fs::write(data.join("pg_hba.conf"), WHO_MAY).unwrap();
        let place = folder.display();
        let settings = format!(
            "listen_addresses = localhost\nport = {port}\nunix_socket_directories = '{place}'\nfsync = off\n\
             shared_buffers = 16MB\ndeadlock_timeout = 100ms\nssl = on\nssl_cert_file = '{place}/server.pem'\n\
             ssl_key_file = '{place}/server.key'\n"
        );
        fs::write(data.join("postgresql.conf"), settings).unwrap();
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER, "keeper"]).arg(&bin).arg(&folder);
        // Terminal signals must not reach it.
        keeper
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let keeper = as_owner(&mut keeper, owner).spawn().unwrap();
        let postgres = Postgres {
            folder,
            port,
            keeper,
        };
        postgres.wait();
        let mut first = postgres.connect(&[], Execution::Text);
        let password = format!("'{}'", PASSWORD.replace('\'', "''"));
        for sql in USERS.split(';') {
            first.query(&sql.replace('%', &password)).unwrap();
        }
        postgres
    }

    fn wait(&self) {
        let started = Instant::now();
        while let Err(error) =
            PostgresConnection::open(&self.by_socket("trusted"), &[], Execution::Text)
        {
            if started.elapsed() > Duration::from_secs(30) {
                let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                panic!("the server does not start: {error}\n{log}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn by_socket(&self, user: &str) -> Server {
        Server {
            socket: Some(self.folder.join(format!(".s.PGSQL.{}", self.port))),
            ..self.by_tcp(user)
        }
    }

    pub fn by_tcp(&self, user: &str) -> Server {
        Server {
            socket: None,
            host: Some("localhost".into()),
            port: Some(self.port),
            user: user.into(),
            password: Some(Secret::new(PASSWORD)),
            credential: None,
            database: "postgres".into(),
            tls: Tls::Off,
            tls_ca: Some(self.folder.join("ca.pem")),
            timeout_s: 20.0,
            outage_s: 0.0,
        }
    }

    pub fn connect(&self, statements: &[&str], execution: Execution) -> PostgresConnection {
        PostgresConnection::open(&self.by_socket("trusted"), &prepared(statements), execution)
            .unwrap()
    }

    /// A connection after the table was created again, with rows 1 to 1000.
    pub fn with_table(
        &self,
        name: &str,
        statements: &[&str],
        execution: Execution,
    ) -> PostgresConnection {
        let mut first = self.connect(&[], Execution::Text);
        first
            .query(&format!(
                "DROP TABLE IF EXISTS {name};
                 CREATE TABLE {name} (id int PRIMARY KEY, k bigint, c text, f double precision);
                 INSERT INTO {name}
                 SELECT i, i * 10, repeat('x', 120), i / 4.0 FROM generate_series(1, 1000) i"
            ))
            .unwrap();
        self.connect(statements, execution)
    }

    /// As the kernel does it when memory is short.
    pub fn kill(&self) {
        let file = fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap();
        let number = file.lines().next().unwrap();
        run(Command::new("kill").args(["-KILL", number]));
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

pub fn prepared(statements: &[&str]) -> Vec<Statement> {
    statements
        .iter()
        .map(|sql| Statement::new(StatementKind::Other, sql))
        .collect()
}

/// Sends, and waits for the answer.
pub fn execute(
    connection: &mut PostgresConnection,
    statement: usize,
    arguments: Arguments<'_>,
) -> DbResult<Answer> {
    connection.send(statement, arguments)?;
    answer(connection)
}

pub fn answer(connection: &mut PostgresConnection) -> DbResult<Answer> {
    loop {
        let limit = Timespec {
            tv_sec: 20,
            tv_nsec: 0,
        };
        let socket = PollFd::from_borrowed_fd(connection.fd(), PollFlags::IN);
        let ready = poll(&mut [socket], Some(&limit));
        assert!(ready == Ok(1), "nothing has come for 20 s");
        if let Some(answer) = connection.receive()? {
            return Ok(answer);
        }
    }
}

/// The only value of the only row.
pub fn cell(connection: &mut PostgresConnection, sql: &str) -> Option<String> {
    let mut rows = connection.query(sql).unwrap();
    assert_eq!((rows.rows.len(), rows.rows[0].len()), (1, 1), "{sql}");
    rows.rows.remove(0).remove(0)
}

pub fn ints(values: &[i64]) -> ArgumentList {
    let mut list = ArgumentList::default();
    values.iter().for_each(|&value| list.int(value));
    list
}

fn binaries() -> PathBuf {
    let on_path = std::env::var("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&on_path).collect();
    for version in fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
    {
        folders.push(version.path().join("bin"));
    }
    let has_both =
        |folder: &&PathBuf| folder.join("initdb").exists() && folder.join("postgres").exists();
    folders
        .iter()
        .find(has_both)
        .expect("PostgreSQL is not installed")
        .clone()
}

/// The user of the server, which refuses root.
fn owner(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    if fs::metadata(folder).unwrap().uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    ["postgres:", "nobody:"].iter().find_map(|name| {
        let line = users.lines().find(|line| line.starts_with(name))?;
        line.split(':').nth(2)?.parse().ok()
    })
}

fn as_owner(command: &mut Command, owner: Option<u32>) -> &mut Command {
    command.current_dir("/");
    match owner {
        Some(id) => command.uid(id),
        None => command,
    }
}

fn run(command: &mut Command) {
    let done = command.output().unwrap();
    assert!(
        done.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
}
