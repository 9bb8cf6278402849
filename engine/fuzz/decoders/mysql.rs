//! MySQL's decoders on arbitrary bytes.
//!
//! In: bytes. Out: nothing, or a panic where a decoder panics, keeps too much, or contradicts
//! itself. Called by the fuzz targets, and by the test that replays their corpus.

use paribus_engine::db::error::{DbError, DbResult};
use paribus_engine::db::mysql::answer::MySqlAnswer;
use paribus_engine::db::mysql::collect::Collected;
use paribus_engine::db::mysql::ending::Status;
use paribus_engine::db::mysql::login::{LoginStep, MySqlLogin};
use paribus_engine::db::mysql::results::Progress;
use paribus_engine::db::mysql::rows::{self, Packets};
use paribus_engine::db::server::{Secret, Server, Tls};

/// The bytes that a decoder of answers may leave for later.
const KEPT: usize = (64 << 10) + 4;

/// The result of an answer does not depend on its cuts.
pub fn answer(data: &[u8]) {
    let Some((&[choice, piece], bytes)) = data.split_first_chunk() else {
        return;
    };
    let short_ends = choice & 1 == 1;
    let whole = fed(short_ends, bytes, bytes.len().max(1));
    let cut = fed(short_ends, bytes, usize::from(piece).max(1));
    assert_eq!(whole, cut);
}

fn fed(short_ends: bool, bytes: &[u8], piece: usize) -> Vec<DbResult<Progress>> {
    let mut answer = MySqlAnswer::new(short_ends, Status(0));
    let mut held = Vec::new();
    let mut told = Vec::new();
    for piece in bytes.chunks(piece) {
        held.extend_from_slice(piece);
        loop {
            let (taken, progress) = answer.feed(&held);
            held.drain(..taken);
            match progress {
                Ok(Progress::Partial) => break,
                Ok(Progress::Whole(_)) => answer.restart(Collected::Binary),
                Ok(Progress::RefuseFile(_)) => {}
                Err(_) => {
                    told.push(progress);
                    return told;
                }
            }
            assert!(taken > 0);
            told.push(progress);
        }
        assert!(held.len() < KEPT);
    }
    told
}

/// Reading rows ends, for any claims of the server.
pub fn rows(data: &[u8]) {
    if let Some((&choice, bytes)) = data.split_first() {
        // An error is as good as rows.
        let _ = rows::read(&mut Given(bytes), choice & 1 == 1);
    }
}

/// The server decides on every step of a login. It gets no secret in clear on a connection that
/// others can read.
pub fn login(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else {
        return;
    };
    let private = choice & 1 == 1;
    let server = Server {
        socket: None,
        host: None,
        port: None,
        user: "user".into(),
        password: Some(Secret::new("hidden")),
        credential: None,
        database: "database".into(),
        tls: if choice & 2 == 0 {
            Tls::Off
        } else {
            Tls::Required
        },
        tls_ca: None,
        timeout_s: 1.0,
        outage_s: 0.0,
    };
    let mut login = MySqlLogin::new(&server);
    let mut packets = Given(bytes);
    while let Ok(packet) = packets.next() {
        let sent = match login.take(&packet, private) {
            Ok(LoginStep::Listen) => continue,
            Ok(LoginStep::Send(sent)) => sent,
            Ok(LoginStep::Encrypt(sent)) => {
                let _ = login.introduce(true);
                sent
            }
            Ok(LoginStep::In(_)) | Err(_) => return,
        };
        assert!(private || !sent.windows(6).any(|part| part == b"hidden"));
    }
}

struct Given<'a>(&'a [u8]);

impl Packets for Given<'_> {
    fn next(&mut self) -> DbResult<Vec<u8>> {
        let cut = || DbError::lost("no more");
        let (&[low, high], rest) = self.0.split_first_chunk().ok_or_else(cut)?;
        let (packet, rest) = rest
            .split_at_checked(u16::from_le_bytes([low, high]).into())
            .ok_or_else(cut)?;
        self.0 = rest;
        Ok(packet.to_vec())
    }

    fn reply(&mut self, _: &[u8]) -> DbResult<()> {
        Ok(())
    }
}
