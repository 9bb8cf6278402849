//! Streams under TLS against OpenSSL's own server, which returns each line reversed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use paribus_engine::db::error::{DbErrorKind, DbResult};
use paribus_engine::db::server::{Server, Tls};
use paribus_engine::db::stream::{Incoming, Stream};

struct Mirror {
    child: Child,
    port: u16,
}

impl Mirror {
    fn start(folder: &Path, more: &[&str]) -> Mirror {
        let mut child = Command::new("openssl")
            .args("s_server -rev -accept 127.0.0.1:0 -cert server.pem -key server.key".split(' '))
            .args(more)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines
            .map_while(std::io::Result::ok)
            .find_map(|line| {
                line.strip_prefix("ACCEPT ")?
                    .rsplit(':')
                    .next()?
                    .parse()
                    .ok()
            })
            .expect("openssl says no port");
        Mirror { child, port }
    }

    fn connect(&self, host: &str, tls: Tls, authority: &Path) -> DbResult<Stream> {
        let server = Server {
            socket: None,
            host: Some(host.into()),
            port: Some(self.port),
            user: String::new(),
            password: None,
            credential: None,
            database: String::new(),
            tls,
            tls_ca: Some(authority.into()),
            timeout_s: 20.0,
            outage_s: 0.0,
        };
        let mut stream = Stream::connect(&server, 1)?;
        assert!(!stream.is_private());
        stream.start_tls(&server)?;
        assert!(stream.is_private());
        Ok(stream)
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn mirrors(mut stream: Stream, length: usize) {
    let mut incoming = Incoming::default();
    assert!(!stream.read(&mut incoming).unwrap());
    let line: Vec<u8> = (0..length).map(|at| b'a' + (at % 23) as u8).collect();
    stream.write(&line).unwrap();
    stream.write(b"\n").unwrap();
    while incoming.bytes().len() <= length {
        stream.read_waiting(&mut incoming).unwrap();
    }
    let back: Vec<u8> = incoming.bytes().iter().rev().copied().collect();
    assert!(back[1..] == line && back[0] == b'\n');
}

#[test]
fn what_is_written_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    crate::authority::certify(folder.path());
    let ca = folder.path().join("ca.pem");
    for version in ["-tls1_2", "-tls1_3"] {
        let mirror = Mirror::start(folder.path(), &[version]);
        mirrors(mirror.connect("localhost", Tls::Verified, &ca).unwrap(), 5);
        mirrors(
            mirror.connect("127.0.0.1", Tls::Required, &ca).unwrap(),
            12_000,
        );
    }
}

#[test]
fn whom_the_authority_does_not_know_is_not_trusted() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    crate::authority::certify(folder.path());
    crate::authority::certify(other.path());
    let mirror = Mirror::start(folder.path(), &[]);
    let refusal_of = |host: &str, authority: &Path| {
        let error = mirror
            .connect(host, Tls::Verified, authority)
            .err()
            .unwrap();
        assert_eq!(error.kind, DbErrorKind::Protocol, "{error}");
        error.message
    };
    let wrong = refusal_of("localhost", &other.path().join("ca.pem"));
    assert!(wrong.contains("invalid peer certificate"), "{wrong}");
    let name = refusal_of("127.0.0.1", &folder.path().join("ca.pem"));
    assert!(name.contains("not valid for name"), "{name}");
    let none = refusal_of("localhost", &folder.path().join("server.key"));
    assert!(none.contains("no certificate"), "{none}");
    let missing = refusal_of("localhost", Path::new("/nowhere/ca.pem"));
    assert!(missing.contains("/nowhere/ca.pem"), "{missing}");
}
