//! PostgreSQL's decoders on arbitrary bytes.
//!
//! In: bytes. Out: nothing, or a panic where a decoder panics, makes no progress, or contradicts
//! itself. Called by the fuzz targets, and by the test that replays their corpus.

use paribus_engine::db::error::DbResult;
use paribus_engine::db::postgres::login::PostgresLogin;
use paribus_engine::db::postgres::reply::{Reply, ReplyStep};
use paribus_engine::db::server::{Secret, Server, Tls};
use paribus_engine::db::{Answer, Rows};

/// The result of an answer does not depend on its pieces; the first byte selects their size.
pub fn reply(bytes: &[u8]) {
    let Some((&first, bytes)) = bytes.split_first() else {
        return;
    };
    let (wanted, piece) = (first % 2 == 1, usize::from(first / 2) + 1);
    assert_eq!(
        answers(bytes, piece, wanted),
        answers(bytes, bytes.len(), wanted)
    );
}

type Outcome = (DbResult<Answer>, Option<Rows>);

fn answers(bytes: &[u8], piece: usize, wanted: bool) -> Vec<Outcome> {
    let rows = || wanted.then(Rows::default);
    let mut reply = Reply::default();
    reply.rows = rows();
    let mut answers = Vec::new();
    let (mut start, mut end) = (0, 0);
    while end < bytes.len() {
        end = (end + piece).min(bytes.len());
        loop {
            match reply.take(&bytes[start..end]) {
                Ok((taken, step)) => {
                    start += taken;
                    match step {
                        ReplyStep::More => break,
                        ReplyStep::CopyIn => assert!(taken > 0),
                        ReplyStep::Done => {
                            assert!(taken > 0);
                            answers.push((reply.finish(), reply.rows.take()));
                            reply.rows = rows();
                        }
                    }
                }
                Err(error) => {
                    answers.push((Err(error), None));
                    return answers;
                }
            }
        }
    }
    answers
}

/// Logging in ends, and the password is not sent in clear.
pub fn login(bytes: &[u8]) {
    let server = Server {
        socket: None,
        host: None,
        port: None,
        user: "user".into(),
        password: Some(Secret::new("secret")),
        credential: None,
        database: "database".into(),
        tls: Tls::Off,
        tls_ca: None,
        timeout_s: 1.0,
        outage_s: 0.0,
    };
    let mut login = PostgresLogin::new(&server, false);
    let (mut start, mut out) = (0, Vec::new());
    while let Ok((taken, false)) = login.take(&bytes[start..], &mut out) {
        if taken == 0 {
            break;
        }
        start += taken;
    }
    assert!(!out.windows(6).any(|window| window == b"secret"));
}
