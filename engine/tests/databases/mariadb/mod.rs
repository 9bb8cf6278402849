//! A private MariaDB server: its own folder, socket and port, ended with the test that started it.
//!
//! In: nothing but an installed mariadbd. Out: servers to connect to, as different users.

#![allow(dead_code)]

use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use paribus_engine::db::server::{Secret, Server, Tls};
use paribus_engine::db::statement::Statement;
use paribus_engine::db::{Connection as _, Execution, mysql::MySqlConnection};
use tempfile::TempDir;

pub const PASSWORD: &str = "it's a sécret";

/// The rights of every user but the administrator.
pub const DATABASE: &str = "lab";

pub struct Mariadb {
    folder: Option<TempDir>,
    child: Child,
    port: u16,
}

static SHARED: OnceLock<Mariadb> = OnceLock::new();

/// One for all tests of a file; it ends with their process.
pub fn shared() -> &'static Mariadb {
    SHARED.get_or_init(|| {
        // SAFETY: the function takes and returns nothing, and may run at any time.
        unsafe { libc::atexit(stop_shared) };
        Mariadb::start()
    })
}

extern "C" fn stop_shared() {
    if let Some(server) = SHARED.get() {
        server.kill();
        let _ = std::fs::remove_dir_all(server.path());
    }
}

impl Mariadb {
    pub fn start() -> Mariadb {
        let folder = TempDir::with_prefix("mariadb").unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        crate::authority::certify(folder.path());
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        give_away(folder.path());

        let installed = program("mariadb-install-db", folder.path())
            .args(["--auth-root-authentication-method=socket", "--skip-test-db"])
            .arg(format!("--auth-root-socket-user={}", id_output("-un")))
            .output()
            .expect("mariadb-install-db cannot be started: install mariadb-server");
        assert!(
            installed.status.success(),
            "mariadb-install-db: {}{}",
            String::from_utf8_lossy(&installed.stdout),
            String::from_utf8_lossy(&installed.stderr)
        );

        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let child = serve(folder.path(), port);
        let server = Mariadb {
            folder: Some(folder),
            child,
            port,
        };
        server.wait();
        server.make_users();
        server
    }

    pub fn path(&self) -> &Path {
        self.folder.as_ref().unwrap().path()
    }

    /// As an unprivileged user, over its socket.
    pub fn local(&self, user: &str) -> Server {
        Server {
            socket: Some(self.path().join("socket")),
            host: None,
            port: None,
            user: user.into(),
            password: Some(Secret::new(PASSWORD)),
            credential: None,
            database: DATABASE.into(),
            tls: Tls::Off,
            tls_ca: None,
            timeout_s: 30.0,
            outage_s: 0.0,
        }
    }

    /// The same, over TCP.
    pub fn remote(&self, user: &str) -> Server {
        Server {
            socket: None,
            host: Some("localhost".into()),
            port: Some(self.port),
            ..self.local(user)
        }
    }

    /// Over TCP and TLS.
    pub fn encrypted(&self, user: &str, tls: Tls) -> Server {
        Server {
            tls,
            tls_ca: Some(self.path().join("ca.pem")),
            ..self.remote(user)
        }
    }

    /// As the user of the test, who has all rights and needs no password.
    pub fn administrator(&self) -> MySqlConnection {
        let server = Server {
            password: None,
            database: String::new(),
            ..self.local(&id_output("-un"))
        };
        open(&server).unwrap()
    }

    /// At once, as by a loss of power.
    pub fn kill(&self) {
        let pid = self.child.id().cast_signed();
        // SAFETY: both take numbers and a place for a number; the process is a child of this one
        // that nobody else waits for.
        unsafe {
            libc::kill(pid, libc::SIGKILL);
            libc::waitpid(pid, std::ptr::null_mut(), 0);
        }
    }

    fn wait(&self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while std::os::unix::net::UnixStream::connect(self.path().join("socket")).is_err() {
            let log = || std::fs::read_to_string(self.path().join("data/log"));
            assert!(
                Instant::now() < deadline,
                "mariadbd does not start: {:?}",
                log()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn make_users(&self) {
        let mut administrator = self.administrator();
        let password = PASSWORD.replace('\'', "''");
        for sql in [
            format!("CREATE DATABASE {DATABASE}"),
            format!("CREATE USER native IDENTIFIED BY '{password}'"),
            format!("CREATE USER ed IDENTIFIED VIA ed25519 USING PASSWORD('{password}')"),
            format!("CREATE USER tls IDENTIFIED BY '{password}' REQUIRE SSL"),
            "CREATE USER empty".into(),
            format!("GRANT ALL ON {DATABASE}.* TO native, ed, tls, empty"),
        ] {
            administrator.query(&sql).unwrap();
        }
    }
}

impl Drop for Mariadb {
    fn drop(&mut self) {
        self.kill();
    }
}

pub fn open(server: &Server) -> paribus_engine::db::error::DbResult<MySqlConnection> {
    MySqlConnection::open(server, &[] as &[Statement], Execution::Text)
}

const SMALL: [&str; 3] = [
    "--innodb-buffer-pool-size=32M",
    "--innodb-log-file-size=32M",
    "--innodb-flush-log-at-trx-commit=0",
];

/// Started by a thread that lives as long as the test does: the kernel ends the server with it.
fn serve(folder: &Path, port: u16) -> Child {
    let data = folder.join("data");
    let mut command = program("mariadbd", folder);
    command
        .arg(format!("--socket={}", folder.join("socket").display()))
        .arg(format!("--pid-file={}", data.join("pid").display()))
        .arg(format!("--log-error={}", data.join("log").display()))
        .arg(format!("--port={port}"))
        .arg("--bind-address=127.0.0.1")
        .args(["--plugin-load-add=auth_ed25519", "--max-allowed-packet=64M"])
        .args([
            "--innodb-lock-wait-timeout=1",
            "--character-set-server=utf8mb4",
        ])
        .arg(format!("--ssl-ca={}", folder.join("ca.pem").display()))
        .arg(format!(
            "--ssl-cert={}",
            folder.join("server.pem").display()
        ))
        .arg(format!("--ssl-key={}", folder.join("server.key").display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // SAFETY: between fork and exec there is one system call.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
    let (give, take) = channel();
    std::thread::spawn(move || {
        let started = command.spawn();
        give.send(started).unwrap();
        loop {
            std::thread::park();
        }
    });
    let started = take.recv().unwrap();
    started.expect("mariadbd cannot be started: install mariadb-server")
}

/// A program of the server, or for its installation; a server refuses to run as root.
fn program(name: &str, folder: &Path) -> Command {
    let installed = ["/usr/sbin", "/usr/bin", "/usr/local/bin"]
        .map(|folder| PathBuf::from(folder).join(name))
        .into_iter()
        .find(|path| path.exists());
    let mut command = Command::new(installed.unwrap_or(name.into()));
    command.arg("--no-defaults").args(SMALL);
    command.current_dir(folder);
    if let Some(user) = stand_in() {
        // Not by an option of the server: a change of user clears the parent-death signal.
        command.uid(user);
    }
    let data = folder.join("data");
    // Two servers that start at once would conflict in a shared folder.
    for option in ["datadir", "tmpdir"] {
        command.arg(format!("--{option}={}", data.display()));
    }
    command
}

fn stand_in() -> Option<u32> {
    if !paribus_engine::machine::is_root() {
        return None;
    }
    ["mysql", "nobody"].into_iter().find_map(|user| {
        let id = Command::new("id").args(["-u", user]).output().ok()?;
        String::from_utf8(id.stdout).ok()?.trim().parse().ok()
    })
}

fn give_away(folder: &Path) {
    let Some(user) = stand_in() else { return };
    chown(folder, Some(user), None).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        chown(entry.unwrap().path(), Some(user), None).unwrap();
    }
}

fn id_output(option: &str) -> String {
    let output = Command::new("id").arg(option).output().unwrap().stdout;
    String::from_utf8(output).unwrap().trim().into()
}
